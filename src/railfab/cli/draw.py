"""`railfab draw`: a picture of a fabric."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from railfab.cli.common import IntentFile, stderr
from railfab.errors import RailfabError


def draw(
    intent: IntentFile,
    out: Annotated[
        Path | None, typer.Option("-o", metavar="FILE", help="An .svg file; else stdout.", show_default=False)
    ] = None,
) -> None:
    """Draw the cluster as an SVG: tiers, planes, pods, segments and rails; what repeats is shown once."""
    if out is not None and out.suffix.lower() != ".svg":
        raise RailfabError(str(out), "is no name of an SVG", f"Use -o {out.with_suffix('.svg')}")
    from railfab.draw import topology_svg
    from railfab.intent import load_intent
    from railfab.topology import wire

    fabric = load_intent(intent)
    picture = topology_svg(wire(fabric), fabric.hosts)
    if out is None:
        typer.echo(picture, nl=False)
        return
    try:
        out.write_text(picture)
    except OSError as error:
        raise RailfabError(str(out), f"cannot be written: {error.strerror}", "Choose another place with -o") from error
    stderr().print(f"wrote {out}", soft_wrap=True)
