"""lab render: write the files with which containerlab boots a fabric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from railfab.cli.acceptance import AcceptOption
from railfab.cli.common import IntentFile, Output, OutputOption, print_json, print_text, stop_at_errors
from railfab.cli.echo import echo
from railfab.cli.tables import columns, with_command
from railfab.fabric import design
from railfab.text.counted import counted

FolderOption = Annotated[
    Path | None,
    typer.Option(
        "-o", "--out", metavar="DIR", help="Output directory; by default that of the intent.", show_default=False
    ),
]
EmptyOption = Annotated[bool, typer.Option("--empty", metavar="", help="Boot switches unconfigured.")]


def render(
    intent: IntentFile,
    out: FolderOption = None,
    empty: EmptyOption = False,
    accept: AcceptOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Write a containerlab topology and its startup configurations, for `containerlab deploy`."""
    from railfab.errors import raise_all
    from railfab.lab import lab_plan, unenforced
    from railfab.lab.containerlab import check, lab_files, load_settings

    fabric, folder = design(intent), out or intent.parent
    stop_at_errors(fabric, accept, output)
    plan = lab_plan(fabric, folder, configured=not empty)
    files = lab_files(plan, load_settings(intent.parent))
    raise_all(list(check(files.topology.document(), files.name, exists=files.files.__contains__)))
    path = files.write(folder)
    if output is Output.JSON:
        written = sorted(str(folder / name) for name in files.all())
        print_json({"topology": str(path), "files": written, "not_enforced": unenforced(plan)})
    else:
        for name, lines in unenforced(plan).items():
            for line in lines:
                print_text(f"{name} in a lab: {line}.", err=True)
        for line in with_command(
            f"wrote {counted(len(files.all()), 'file')}; next:", f"sudo containerlab deploy -t {path}", columns()
        ):
            echo(line, err=True)
