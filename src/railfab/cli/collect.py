"""collect: gNMI to Prometheus."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from railfab.cli.common import STATE_DEFAULT, IntentFile, OnOption, StateOption, stderr, stop_on_signal
from railfab.fabric import design, resolve_endpoints

ListenOption = Annotated[str, typer.Option("--listen", metavar="ADDRESS", help="Where to serve; loopback unless said.")]
PortOption = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port of /metrics; 0 is any free one.")]
IntervalOption = Annotated[
    float, typer.Option("--interval", metavar="SECONDS", min=0.1, help="How often switches sample their counters.")
]


def collect(
    intent: IntentFile,
    on: OnOption = None,
    listen: ListenOption = "127.0.0.1",
    port: PortOption = 9804,
    interval: IntervalOption = 2.0,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Stream from the switches over gNMI and serve canonical metrics to Prometheus, until Ctrl-C or SIGTERM."""
    from railfab.telemetry import Collector, MetricsServer

    fabric = design(intent)
    endpoints = resolve_endpoints(fabric, on, state)
    collector = Collector(fabric.topology, endpoints, interval_s=interval)
    logging.getLogger("railfab").setLevel(logging.INFO)  # a service logs what happens to its switches
    server = MetricsServer(collector.registry, collector.healthy, host=listen, port=port)
    with stop_on_signal() as ended, server, collector:
        stderr().print(f"{len(endpoints.nodes)} switches of {endpoints.fabric}: {server.url}/metrics")
        ended.wait()
