"""export: the plan of a fabric in the format of another tool."""

from __future__ import annotations

from itertools import zip_longest
from pathlib import Path
from typing import Annotated

import typer

from railfab.cli import completion
from railfab.cli.acceptance import AcceptOption
from railfab.cli.common import (
    HostNamesOption,
    IntentFile,
    Output,
    OutputOption,
    print_json,
    stop_at_errors,
    uncollected,
)
from railfab.cli.echo import echo, echo_line
from railfab.fabric import design

FormatArgument = Annotated[
    str,
    typer.Argument(metavar="FORMAT", help="The format.", show_default=False, autocompletion=completion.export_formats),
]


@uncollected()
def export(
    format_name: FormatArgument,
    intent: IntentFile,
    out: Annotated[
        Path | None,
        typer.Option("-o", metavar="DIR", help="Write the files here. Default: stdout.", show_default=False),
    ] = None,
    hosts: HostNamesOption = None,
    accept: AcceptOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Write the plan for another tool: slurm, topograph, kubernetes, nccl, dsx-air, ns3, htsim, simai or
    astra-sim.

    The files of a format replace earlier ones together, or not at all.
    """
    from railfab.exports import HostNames, export_named, read_host_names
    from railfab.fabric.file_sets import write_folder

    exported = export_named(format_name)
    fabric = design(intent)
    stop_at_errors(fabric, accept, output)
    names = HostNames() if hosts is None else read_host_names(hosts, fabric.topology)
    documents = list(exported.documents(fabric, names))
    files = write_folder(out, documents) if out is not None else []
    if output is Output.JSON:
        places = zip_longest(documents, map(str, files))
        print_json(
            [{"name": name, "file": file, "text": text if file is None else None} for (name, text), file in places]
        )
        return
    for file in files:
        echo_line(f"wrote {file}", err=True)
    if out is None:
        for name, text in documents:
            if len(documents) > 1:
                echo_line(f"==> {name} <==")
            echo(text, nl=len(documents) > 1)
