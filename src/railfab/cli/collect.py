"""collect: gNMI to Prometheus."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated

import typer

from railfab.cli import completion
from railfab.cli.common import (
    STATE_DEFAULT,
    LimitOption,
    OnOption,
    Output,
    OutputOption,
    StateOption,
    finite,
    stderr,
)
from railfab.cli.from_gnmic import from_gnmic
from railfab.fabric import design, resolve_endpoints
from railfab.process_signals import stop_on_signal
from railfab.units import COLLECTOR_PORT, counted

OptionalIntentFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="The fabric's intent (YAML); - is standard input.",
        show_default=False,
        autocompletion=completion.intents,
    ),
]
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
FromGnmicOption = Annotated[
    Path | None,
    typer.Option(
        "--from-gnmic",
        metavar="FILE",
        help="Say what a gnmic configuration becomes, instead of collecting; connects to nothing.",
        show_default=False,
    ),
]
WriteOption = Annotated[
    Path | None,
    typer.Option(
        "--write", metavar="DIR", help="With --from-gnmic: write hosts.yml and mappings.yml there.", show_default=False
    ),
]
PlatformOption = Annotated[
    list[str] | None,
    typer.Option(
        "--platform",
        metavar="[PATTERN=]NAME",
        help="With --from-gnmic: platform of targets whose paths do not tell it; repeatable.",
        show_default=False,
    ),
]


def collect(
    intent: OptionalIntentFile = None,
    on: OnOption = None,
    limit: LimitOption = None,
    listen: ListenOption = "127.0.0.1",
    port: PortOption = COLLECTOR_PORT,
    interval: IntervalOption = 2.0,
    check: CheckOption = 60.0,
    mappings: MapOption = None,
    gnmic: FromGnmicOption = None,
    write: WriteOption = None,
    platforms: PlatformOption = None,
    output: OutputOption = Output.TABLE,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Stream from the switches over gNMI and serve canonical metrics to Prometheus, until Ctrl-C or SIGTERM."""
    if gnmic is not None:
        from_gnmic(gnmic, write, platforms or (), output)
        return
    if write is not None or platforms or output is Output.JSON:
        raise typer.BadParameter("--write, --platform and --output need --from-gnmic.")
    if intent is None:
        raise typer.BadParameter("Name the fabric's intent, or a gnmic configuration with --from-gnmic.")
    from railfab.app.configuration_check import ConfigurationCheck
    from railfab.platforms.telemetry_files import telemetry_maps
    from railfab.telemetry import SWITCH_INTERVAL_S, MetricsServer, fabric_collector

    maps = telemetry_maps(mappings or ())
    fabric = design(intent)
    endpoints = resolve_endpoints(fabric, on, state, limit)
    collector = fabric_collector(fabric.topology, endpoints, interval_s=interval, maps=maps)
    logging.getLogger("railfab").setLevel(logging.INFO)  # a service logs what happens to its switches
    sys.setswitchinterval(SWITCH_INTERVAL_S)
    server = MetricsServer(collector.exposition, collector.healthy, host=listen, port=port)
    comparison = ConfigurationCheck(fabric, endpoints, state=state, interval_s=check)
    collector.registry.register(comparison)
    with stop_on_signal() as ended, server, collector, comparison:
        of = f"{len(endpoints.nodes)} of {counted(len(fabric.topology.switches()), 'switch')}"
        stderr().print(f"{of} of {endpoints.fabric}: {server.url}/metrics", soft_wrap=True)
        ended.wait()
