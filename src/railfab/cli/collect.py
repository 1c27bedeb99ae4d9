"""collect: gNMI to Prometheus."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from railfab.cli.common import (
    STATE_DEFAULT,
    IntentFile,
    LimitOption,
    OnOption,
    StateOption,
    finite,
    stderr,
)
from railfab.fabric import design, resolve_endpoints
from railfab.process_signals import stop_on_signal
from railfab.units import COLLECTOR_PORT, counted

ListenOption = Annotated[str, typer.Option("--listen", metavar="ADDRESS", help="Address to serve on.")]
PortOption = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port of /metrics; 0 is any free one.")]
IntervalOption = Annotated[
    float,
    typer.Option(
        "--interval", metavar="SECONDS", min=0.1, callback=finite, help="How often switches sample their counters."
    ),
]
CheckOption = Annotated[
    float,
    typer.Option(
        "--check",
        metavar="SECONDS",
        min=0.0,
        callback=finite,
        help="How often the running configurations are compared with the intent; 0 is never, and then only a switch"
        " that the intent drains counts as drained.",
    ),
]
MapOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--map",
        metavar="FILE",
        help="Telemetry mappings of your own: paths, metrics and subscriptions to add, replace or drop; repeatable.",
        show_default=False,
    ),
]


def collect(
    intent: IntentFile,
    on: OnOption = None,
    limit: LimitOption = None,
    listen: ListenOption = "127.0.0.1",
    port: PortOption = COLLECTOR_PORT,
    interval: IntervalOption = 2.0,
    check: CheckOption = 60.0,
    mappings: MapOption = None,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Stream from the switches over gNMI and serve canonical metrics to Prometheus, until Ctrl-C or SIGTERM."""
    from railfab.app.configuration_check import ConfigurationCheck
    from railfab.platforms.telemetry_files import telemetry_maps
    from railfab.telemetry import SWITCH_INTERVAL_S, Collector, MetricsServer

    maps = telemetry_maps(mappings or ())
    fabric = design(intent)
    endpoints = resolve_endpoints(fabric, on, state, limit)
    collector = Collector(fabric.topology, endpoints, interval_s=interval, maps=maps)
    logging.getLogger("railfab").setLevel(logging.INFO)  # a service logs what happens to its switches
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    server = MetricsServer(collector.exposition, collector.healthy, host=listen, port=port)
    comparison = ConfigurationCheck(fabric, endpoints, state=state, interval_s=check)
    collector.registry.register(comparison)
    with stop_on_signal() as ended, server, collector, comparison:
        of = f"{len(endpoints.nodes)} of {counted(len(fabric.topology.switches()), 'switch')}"
        stderr().print(f"{of} of {endpoints.fabric}: {server.url}/metrics", soft_wrap=True)
        ended.wait()
