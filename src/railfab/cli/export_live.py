"""export --from live: the hosts and links that the switches show, instead of those of the plan."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli.common import stderr
from railfab.cli.echo import echo_line
from railfab.errors import RailfabError
from railfab.fabric import Design, session_endpoints
from railfab.text.folding import alike_as_one

if TYPE_CHECKING:
    from railfab.exports import ExportFormat


class ExportSource(StrEnum):
    """Where hosts and links are from."""

    PLAN = "plan"
    LIVE = "live"


SourceOption = Annotated[
    ExportSource,
    typer.Option("--from", help="plan: the design. live: its links and hosts as the switches see them by LLDP."),
]


def live_fabric(fabric: Design, exported: ExportFormat, on: str | None, state: Path) -> Design:
    """Read the switches, and say on stderr what differs from the plan.

    Raises RailfabError where the format cannot say it.
    """
    from railfab.deploy import nornir_of
    from railfab.deploy.run import inspect_all
    from railfab.fabric.live import live_design

    nornir = nornir_of(fabric, session_endpoints(fabric, on, state, None))
    with stderr().status("reading the switches"):
        read = inspect_all(nornir, lambda _name: None)
    for line in alike_as_one((name, str(error)) for name, error in read.unread.items()):
        echo_line(f"not read: {line}", err=True)
    live = live_design(fabric, {name: observed for name, (_, observed) in read.answers.items()})
    for difference in live.differences:
        echo_line(f"live: {difference}", err=True)
    echo_line(f"live: {live.summary}", err=True)
    if live.differences and exported.equal:
        raise RailfabError("--from live", f"{exported.equal}, and the live fabric is not as planned", "Use --from plan")
    if not live.design.topology.hosts():
        raise RailfabError("--from live", "no host has a link", "Look at the ports with railfab verify")
    return live.design
