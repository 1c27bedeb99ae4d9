"""The command line: arguments in, library call, exit code. Rooms are imported where they are used, so that `plan`
answers at once and needs no extra."""

from __future__ import annotations

import logging
import sys
from typing import Annotated

import typer

from railfab import __version__
from railfab.cli import collect, containerlab, dashboards, deploy, design, draw, lab, twin, up
from railfab.cli.common import CANNOT
from railfab.errors import RailfabError

__all__ = ["app", "main"]

EXTRAS = {
    "numpy": "sim",
    "grpc": "collect",
    "pygnmi": "collect",
    "prometheus_client": "collect",
    "cryptography": "twin",
    "nornir": "deploy",
    "netmiko": "deploy",
    "asyncssh": "lab",
    "grafana_foundation_sdk": "dashboards",
    "grafana_api": "grafana",
}
"""Which extra brings a module that the core does not need."""

app = typer.Typer(
    name="railfab",
    help="Design, render, deploy, observe and simulate the Ethernet fabrics of GPU clusters.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(value: bool) -> None:
    if value:
        typer.echo(f"railfab {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Log what happens, on stderr.")] = False,
    _: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which.")] = False,
) -> None:
    logging.basicConfig(
        level=logging.INFO if verbose else logging.ERROR,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )


app.command()(design.plan)
app.command()(design.render)
app.command()(design.audit)
app.command()(draw.draw)
app.command()(design.schema)
app.command()(deploy.deploy)
app.command()(deploy.rollback)
app.command()(deploy.verify)
lab.lab_app.command()(containerlab.render)
app.add_typer(lab.lab_app, name="lab")
app.command()(collect.collect)
app.add_typer(dashboards.app, name="dashboards")
app.command()(twin.twin)
app.command()(up.up)


def main() -> None:
    """Run a command; a RailfabError becomes one line (each) on stderr and exit code 2."""
    try:
        app()
    except RailfabError as error:
        typer.echo("\n".join(f"railfab: {line}" for line in str(error).splitlines()), err=True)
        sys.exit(CANNOT)
    except ModuleNotFoundError as error:
        extra = EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        typer.echo(f"railfab: {error.name} is not installed. Install it with: pip install 'railfab[{extra}]'", err=True)
        sys.exit(CANNOT)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(0)
