"""export: the plan of a fabric in the format of another tool."""

from __future__ import annotations

from dataclasses import asdict
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli import completion
from railfab.cli.acceptance import AcceptOption
from railfab.cli.common import (
    STATE_DEFAULT,
    HostNamesOption,
    IntentFile,
    OnOption,
    Output,
    OutputOption,
    StateOption,
    given_parameters,
    host_names,
    print_json,
    print_table,
    refuse,
    refuse_state,
    stop_at_errors,
    uncollected,
)
from railfab.cli.echo import echo, echo_line
from railfab.cli.export_live import ExportSource, SourceOption, live_fabric
from railfab.cli.netbox_options import CaOption, SkipVerifyOption, TokenFileOption, netbox_at
from railfab.errors import RailfabError
from railfab.fabric import Design, design
from railfab.fabric.design import naming
from railfab.intent.load import load_job_file

if TYPE_CHECKING:
    from railfab.fabric.file_sets import Content
    from railfab.fabric.host_names import HostNames
    from railfab.netbox import NetBox

MOST_SHOWN = 20
"""Files whose names are shown."""

FormatArgument = Annotated[
    str,
    typer.Argument(metavar="FORMAT", help="The format.", show_default=False, autocompletion=completion.export_formats),
]


JobOption = Annotated[
    Path | None,
    typer.Option("--job", metavar="FILE", help="Write a job too: chakra and ns3.", show_default=False),
]
ToOption = Annotated[
    str | None, typer.Option("--to", metavar="URL", help="A NetBox, to create what it misses.", show_default=False)
]
SiteOption = Annotated[
    str | None,
    typer.Option("--site", metavar="SLUG", help="NetBox: the site. Default: the fabric.", show_default=False),
]
DryRunOption = Annotated[
    bool,
    typer.Option("--dry-run", metavar="", help="NetBox: show what is missing, create nothing.", show_default=False),
]


@uncollected()
def export(
    context: typer.Context,
    format_name: FormatArgument,
    intent: IntentFile,
    out: Annotated[
        Path | None,
        typer.Option("-o", metavar="DIR", help="Write the files here. Default: stdout.", show_default=False),
    ] = None,
    hosts: HostNamesOption = None,
    job: JobOption = None,
    source: SourceOption = ExportSource.PLAN,
    on: OnOption = None,
    state: StateOption = STATE_DEFAULT,
    to: ToOption = None,
    site: SiteOption = None,
    dry_run: DryRunOption = False,
    token_file: TokenFileOption = None,
    ca: CaOption = None,
    skip_verify: SkipVerifyOption = False,
    accept: AcceptOption = None,
    output: OutputOption = Output.TABLE,
) -> None:
    """Write the plan for another tool: slurm, topograph, kubernetes, nccl, netbox, dsx-air, ns3, htsim, simai,
    astra-sim or chakra.

    The files of a format replace earlier ones together, or not at all.
    """
    from railfab.exports import export_named

    exported = export_named(format_name)
    if to is None and any((site, dry_run, token_file, ca, skip_verify)):
        problem = "--site, --dry-run, --token-file, --ca and --skip-verify are of a NetBox"
        raise RailfabError(format_name, problem, "Name it with --to, or leave them out")
    if to is not None and (format_name != "netbox" or out is not None):
        raise RailfabError(to, "--to is for the format netbox, without -o", "Leave out one of them")
    if (job is None and exported.only_jobs) or (job is not None and exported.of_job is None):
        problem, remedy = ("has no job", "Leave out --job") if job else ("is of a job", "Name it with --job")
        raise RailfabError(format_name, problem, remedy)
    if source is ExportSource.PLAN:
        refuse(given_parameters(context), {"on": "--on", "state": "--state"}, "Add --from live, or leave out")
    refuse_state(context, on)
    fabric = design(intent)
    stop_at_errors(fabric, accept, output, rendered=False)
    if source is ExportSource.LIVE:
        fabric = live_fabric(fabric, exported, on, state)
    names = host_names(fabric, hosts)
    if to is not None:
        _push(fabric, names, netbox_at(to, token_file, ca, skip_verify, site), dry_run, output)
    else:
        contents: list[Content] = [*exported.documents(fabric, names)]
        if job is not None and exported.of_job is not None:
            wanted, document = load_job_file(job)
            with naming(document):
                contents += exported.of_job(fabric, names, wanted)
        _write(contents, out, output)


def _write(contents: list[Content], out: Path | None, output: Output) -> None:
    """Write the files, or show them."""
    from railfab.fabric.file_sets import write_folder

    documents = [(name, content) for name, content in contents if isinstance(content, str)]
    if out is None and len(documents) < len(contents):
        raise RailfabError(contents[0][0], "is no text", "Give a folder with -o")
    files = write_folder(out, contents) if out is not None else []
    if output is Output.JSON:
        places = zip_longest(contents, map(str, files))
        print_json(
            [{"name": name, "file": file, "text": text if file is None else None} for (name, text), file in places]
        )
        return
    for file in files[:MOST_SHOWN]:
        echo_line(f"wrote {file}", err=True)
    if len(files) > MOST_SHOWN:
        echo_line(f"wrote {len(files) - MOST_SHOWN:,} more, to {files[-1]}", err=True)
    if out is None:
        for name, text in documents:
            if len(documents) > 1:
                echo_line(f"==> {name} <==")
            echo(text, nl=len(documents) > 1)


def _push(fabric: Design, names: HostNames, netbox: NetBox, dry_run: bool, output: Output) -> None:
    """Create what a NetBox does not have, and show how much of each kind that was."""
    from railfab.exports.netbox_push import push

    kinds = list(push(fabric, names, netbox, dry_run=dry_run))
    if output is Output.JSON:
        print_json([asdict(kind) for kind in kinds])
        return
    rows = [(kind.objects, f"{kind.present:,}", f"{kind.created:,}") for kind in kinds]
    print_table(netbox.url, ("objects", "there", "missing" if dry_run else "created"), rows)
