"""page: the live page of a fabric, for a browser."""

from __future__ import annotations

from typing import Annotated

import typer

from railfab.cli.collect_options import IntervalOption
from railfab.cli.common import STATE_DEFAULT, IntentFile, OnOption, StateOption
from railfab.cli.echo import echo, echo_line
from railfab.fabric import design
from railfab.process.signals import stop_on_signal

PageListenOption = Annotated[
    str,
    typer.Option(
        "--listen",
        metavar="ADDRESS:PORT",
        help="Where the page is served; port 0 is any free one. Beyond 127.0.0.1, everyone who reaches the address can"
        " read the fabric.",
    ),
]
PrometheusOption = Annotated[
    str | None,
    typer.Option(
        "--prometheus",
        metavar="URL",
        help="Read a Prometheus, or the metrics of a collector, instead of the switches.",
        show_default=False,
    ),
]


def page(
    intent: IntentFile,
    on: OnOption = None,
    prometheus: PrometheusOption = None,
    listen: PageListenOption = "127.0.0.1:9805",
    interval: IntervalOption = 2.0,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Serve a live page of a fabric to browsers, measured against its intent, until Ctrl-C or SIGTERM."""
    if on is not None and prometheus is not None:
        raise typer.BadParameter("--prometheus reads no switch itself: leave out --on.")
    from railfab.app.page import PageOptions, prometheus_page
    from railfab.app.page import page as collected_page
    from railfab.page.security import is_loopback
    from railfab.page.settings import PageAddress

    address = PageAddress.parse(listen)
    options = PageOptions(on=on, state=state, address=address, interval_s=interval)
    fabric = design(intent)
    served = collected_page(fabric, options) if prometheus is None else prometheus_page(fabric, prometheus, options)
    with stop_on_signal() as ended, served as server:
        if not is_loopback(address.host):
            echo(RISK, err=True)
        echo_line(server.url)
        ended.wait()


RISK = (
    "railfab: everyone who reaches this address can read the state of the fabric; what is sent is not encrypted, and"
    " the token in the URL allows changes"
)
