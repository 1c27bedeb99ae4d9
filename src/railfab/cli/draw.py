"""`railfab draw`: a picture of a fabric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from railfab.cli.common import IntentFile, findings_exit, print_findings, uncollected
from railfab.cli.echo import echo, echo_line
from railfab.errors import RailfabError
from railfab.fabric import design


@uncollected()
def draw(
    intent: IntentFile,
    out: Annotated[
        Path | None, typer.Option("-o", metavar="FILE", help="An .svg file. Default: stdout.", show_default=False)
    ] = None,
) -> None:
    """Draw the cluster as an SVG: tiers, planes, pods, segments and rails; repeated parts are drawn once."""
    if out is not None and out.suffix.lower() != ".svg":
        raise RailfabError(str(out), "is not the name of an SVG file", f"Use -o {out.with_suffix('.svg')}")
    from railfab.draw import topology_svg

    fabric = design(intent)
    picture = topology_svg(fabric.topology, fabric.intent.hosts, fabric.findings)
    if out is None:
        echo(picture, nl=False)
    else:
        _write(out, picture)
    print_findings(fabric.findings, err=True)
    findings_exit(fabric.findings)


def _write(out: Path, picture: str) -> None:
    try:
        out.write_text(picture)
    except OSError as error:
        raise RailfabError(str(out), f"cannot be written: {error.strerror}", "Choose another place with -o") from error
    echo_line(f"wrote {out}", err=True)
