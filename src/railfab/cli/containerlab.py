"""lab render: the files that containerlab boots a fabric from, for use with containerlab alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from railfab.cli.common import IntentFile, Output, OutputOption, print_json, stderr
from railfab.device import plan
from railfab.fabric import design

FolderOption = Annotated[
    Path | None,
    typer.Option("-o", "--out", metavar="DIR", help="Where to; by default beside the intent.", show_default=False),
]
EmptyOption = Annotated[bool, typer.Option("--empty", metavar="", help="Boot switches without their configurations.")]


def render(
    intent: IntentFile,
    out: FolderOption = None,
    empty: EmptyOption = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Write a containerlab topology with its configurations; `containerlab deploy` boots it as it is."""
    from railfab.errors import raise_all
    from railfab.lab import LabPlace, LabPlan
    from railfab.lab.containerlab import check, lab_files, load_settings

    fabric, folder = design(intent), out or intent.parent
    files = lab_files(
        LabPlan(
            place=LabPlace(fabric=fabric.intent.fabric, folder=intent.parent, state=folder),
            topology=fabric.topology,
            models=plan(fabric.topology, fabric.intent),
            configurations={} if empty else fabric.configurations(),
        ),
        load_settings(intent.parent),
    )
    raise_all(list(check(files.topology.document(), files.name, exists=files.files.__contains__)))
    path = files.write(folder)
    if output is Output.JSON:
        print_json({"topology": str(path), "files": sorted(str(folder / name) for name in files.all())})
    else:
        stderr().print(f"wrote {len(files.all())} files; next: sudo containerlab deploy -t {path}")
