"""collect: gNMI to Prometheus."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from railfab.cli.collect_options import (
    CheckOption,
    DriftOption,
    FromGnmicOption,
    IntervalOption,
    KafkaOption,
    ListenOption,
    MapOption,
    MaxSeriesOption,
    MaxSeriesPerTargetOption,
    NatsOption,
    OptionalIntentFile,
    PlatformOption,
    PortOption,
    ProcessesOption,
    ProcessOption,
    PushIntervalOption,
    PushLabelOption,
    ReceiverName,
    ReceiverOption,
    RecordOption,
    RemoteWriteOption,
    ReplayOption,
    ShardOption,
    TargetsOption,
    Wanted,
    WriteOption,
    refuse_what_does_not_fit,
)
from railfab.cli.collect_processes import collect_in_processes
from railfab.cli.common import STATE_DEFAULT, LimitOption, OnOption, Output, OutputOption, StateOption
from railfab.cli.from_gnmic import from_gnmic
from railfab.cli.logs import announce
from railfab.cli.target_check import check_all
from railfab.fabric import design, present_endpoints
from railfab.process_signals import stop_on_signal
from railfab.units import COLLECTOR_PORT, counted

if TYPE_CHECKING:
    from railfab.app.configuration_check import ConfigurationCheck
    from railfab.platforms import TelemetryMap
    from railfab.telemetry import Collector, Policy
    from railfab.telemetry.receive.contract import Receiver
    from railfab.telemetry.targets import Loader

logger = logging.getLogger(__name__)


def collect(
    context: typer.Context,
    intent: OptionalIntentFile = None,
    on: OnOption = None,
    limit: LimitOption = None,
    targets: TargetsOption = None,
    shard: ShardOption = None,
    processes: ProcessesOption = None,
    process: ProcessOption = None,
    receiver: ReceiverOption = ReceiverName.AUTO,
    record: RecordOption = None,
    replay: ReplayOption = None,
    listen: ListenOption = "127.0.0.1",
    port: PortOption = COLLECTOR_PORT,
    interval: IntervalOption = 2.0,
    drift: DriftOption = 60.0,
    max_series: MaxSeriesOption = 1_000_000,
    max_series_per_target: MaxSeriesPerTargetOption = 100_000,
    check: CheckOption = False,
    mappings: MapOption = None,
    remote_write: RemoteWriteOption = None,
    kafka: KafkaOption = None,
    nats: NatsOption = None,
    push_interval: PushIntervalOption = 10.0,
    push_label: PushLabelOption = None,
    gnmic: FromGnmicOption = None,
    write: WriteOption = None,
    platforms: PlatformOption = None,
    output: OutputOption = Output.TABLE,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Stream from the switches over gNMI and serve canonical metrics to Prometheus, until Ctrl-C or SIGTERM."""
    refuse_what_does_not_fit(context)
    if gnmic is not None:
        return from_gnmic(gnmic, write, platforms or (), output)
    wanted = Wanted(intent, on, limit, state, lists=targets or (), mappings=mappings or ())
    if check:
        return check_all(wanted, output)
    from railfab.telemetry import Policy
    from railfab.telemetry.targets import parse_share

    share = parse_share(shard, process)
    if processes is not None:
        return collect_in_processes(context, processes, share, listen, port)
    policy = Policy(max_series=max_series, max_series_per_target=max_series_per_target)
    logging.getLogger("railfab").setLevel(logging.INFO)  # a service logs what happens to its switches
    with ExitStack() as files:
        options: dict[str, Any] = {"interval_s": interval, "share": share, "policy": policy}
        options["receiver"] = _receiver(receiver, policy, record, replay, files)
        options |= _pushed(remote_write, kafka, nats, push_interval, push_label)
        return _serve(*_collector(wanted, drift, options), listen, port, process)


def _pushed(
    remote_write: str | None, kafka: str | None, nats: str | None, interval_s: float, labels: Sequence[str] | None
) -> dict[str, Any]:
    """Options of a collector: where samples are pushed, how often, and with which labels."""
    from railfab.telemetry.sinks.config import push_labels, sinks_of

    return {
        "push_labels": push_labels(labels or ()),
        "sinks": sinks_of(remote_write=remote_write, kafka=kafka, nats=nats),
        "push_s": interval_s,
    }


def _serve(
    collector: Collector, comparison: ConfigurationCheck | None, of: str, listen: str, port: int, process: str | None
) -> None:
    """Collect and serve until Ctrl-C or SIGTERM. of: what is collected, in words. process: one of a parent's."""
    from railfab.telemetry import MetricsServer, batch_scheduling

    batch_scheduling()
    server = MetricsServer(collector.exposition, collector, host=listen, port=port)
    with stop_on_signal() as ended, ExitStack() as stack:
        for part in (server, collector, comparison):
            if part is not None:
                stack.enter_context(part)
        if process is None:
            announce(f"{of}: {server.url}/metrics")
        else:
            logger.info("shard %s: %s", process, of)
        ended.wait()


def _collector(
    wanted: Wanted, drift_s: float, options: dict[str, Any]
) -> tuple[Collector, ConfigurationCheck | None, str]:
    """The collector, the comparison of configurations where there is an intent, and what is collected, in words."""
    from railfab.app.configuration_check import ConfigurationCheck
    from railfab.app.twin_metrics import TwinMetricsRelay
    from railfab.platforms.telemetry_files import telemetry_maps
    from railfab.telemetry import Collector, fabric_collector

    maps = telemetry_maps(wanted.mappings, interval_s=options["interval_s"])
    options = options | {"loaders": _loaders(wanted.lists, maps)}
    if wanted.intent is None:
        own = {name: metric for found in maps.values() for name, metric in found.metrics.items()}
        collector = Collector((), own=own, **options)
        return collector, None, counted(len(collector.fleet.specs), "target")
    fabric = design(wanted.intent)
    endpoints, expected = present_endpoints(fabric, wanted.on, wanted.state, wanted.limit)
    among = [node.name for node in expected]
    collector = fabric_collector(
        fabric.topology, endpoints, among=among, maps=maps, roce_queues=fabric.roce_queues, **options
    )
    ours = replace(endpoints, nodes=tuple(node for node in endpoints.nodes if options["share"].owns(node.name)))
    comparison = ConfigurationCheck(fabric, ours, state=wanted.state, interval_s=drift_s)
    collector.registry.register(comparison)
    if endpoints.backend == "twin" and options["share"].owns(fabric.intent.fabric):
        state = wanted.state if wanted.on == "twin" else Path(wanted.on or ".").parent
        collector.registry.register(TwinMetricsRelay(state, fabric.intent.fabric))
    of = f"{len(ours.nodes)} of {counted(len(fabric.topology.switches()), 'switch')} of {endpoints.fabric}"
    return collector, comparison, of


def _loaders(sources: Sequence[str], maps: Mapping[str, TelemetryMap]) -> list[Loader]:
    """Loaders that have read their source once; a URL that does not answer yet is asked again later."""
    from railfab.telemetry.targets import Loader, telemetry_of
    from railfab.telemetry.targets.config import source_of

    def telemetry(platform: str) -> TelemetryMap:
        return maps[platform] if platform in maps else telemetry_of(platform)

    found = [Loader(source_of(where, telemetry=telemetry if maps else telemetry_of)) for where in sources]
    for loader in found:
        loader.load()
    return found


def _receiver(
    name: ReceiverName, policy: Policy, record: Path | None, replay: Path | None, files: ExitStack
) -> Receiver:
    """The receiver, with what it records or replays. files: closes the recording."""
    from railfab.telemetry.collector import receiver_of
    from railfab.telemetry.replay import Replay, recording
    from railfab.telemetry.tap import Tap, Tapped

    found: Receiver = receiver_of(name.value, policy) if replay is None else Replay(recording(replay))
    if record is None:
        return found
    tap = Tap(record)
    files.callback(tap.close)
    return Tapped(found, tap)
