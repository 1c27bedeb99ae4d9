"""collect and collect replay: gNMI, or a recording of it, to Prometheus."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from railfab.cli.collect_options import (
    DriftOption,
    IntervalOption,
    KafkaOption,
    ListenOption,
    MapOption,
    MaxSeriesOption,
    MaxSeriesPerTargetOption,
    NatsOption,
    OptionalIntentFile,
    PortOption,
    ProcessesOption,
    ProcessOption,
    PushIntervalOption,
    PushLabelOption,
    ReceiverName,
    ReceiverOption,
    RecordingFile,
    RecordOption,
    RemoteWriteOption,
    ShardOption,
    TargetsOption,
    Wanted,
    refuse_old_spelling,
    refuse_what_does_not_fit,
)
from railfab.cli.collect_processes import collect_in_processes
from railfab.cli.common import STATE_DEFAULT, LimitOption, OnOption, StateOption
from railfab.cli.default_group import SERVE, DefaultGroup
from railfab.cli.logs import announce
from railfab.fabric import design, present_endpoints
from railfab.process.signals import stop_on_signal
from railfab.text.counted import counted
from railfab.units import COLLECTOR_PORT

if TYPE_CHECKING:
    from railfab.app.configuration_check import ConfigurationCheck
    from railfab.platforms import TelemetryMap
    from railfab.telemetry import Collector, RetryPolicy
    from railfab.telemetry.receive.contract import Receiver
    from railfab.telemetry.targets import Loader

logger = logging.getLogger(__name__)


class CollectGroup(DefaultGroup):
    """`railfab collect FILE` and `railfab collect replay`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        refuse_old_spelling(args)
        return super().parse_args(ctx, args)


collect_app = typer.Typer(cls=CollectGroup, help="Stream from the switches over gNMI, or from a recording.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """How a collector runs, as its options state it. push: options of a collector."""

    shard: str | None
    processes: str | None
    process: str | None
    listen: str
    port: int
    interval_s: float
    policy: RetryPolicy
    push: dict[str, Any]


@collect_app.command(SERVE, hidden=True)
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
    listen: ListenOption = "127.0.0.1",
    port: PortOption = COLLECTOR_PORT,
    interval: IntervalOption = 2.0,
    drift: DriftOption = 60.0,
    max_series: MaxSeriesOption = None,
    max_series_per_target: MaxSeriesPerTargetOption = 100_000,
    mappings: MapOption = None,
    remote_write: RemoteWriteOption = None,
    kafka: KafkaOption = None,
    nats: NatsOption = None,
    push_interval: PushIntervalOption = 10.0,
    push_label: PushLabelOption = None,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Stream from the switches over gNMI and serve canonical metrics to Prometheus, until Ctrl-C or SIGTERM.

    `railfab collect replay` reads a recording instead, and `railfab targets check` asks each target once.
    """
    refuse_what_does_not_fit(context)
    from railfab.telemetry import RetryPolicy
    from railfab.telemetry.collector import receiver_of

    serving = Serving(
        shard=shard,
        processes=processes,
        process=process,
        listen=listen,
        port=port,
        interval_s=interval,
        policy=RetryPolicy(max_series=max_series, max_series_per_target=max_series_per_target),
        push=_pushed(remote_write, kafka, nats, push_interval, push_label),
    )
    wanted = Wanted(intent, on, limit, state, lists=targets or (), mappings=mappings or ())

    def receive(files: ExitStack) -> Receiver:
        return _recorded(receiver_of(receiver.value, serving.policy), record, files)

    _run(context, wanted, serving, receive, drift)


@collect_app.command("replay")
def replay(
    context: typer.Context,
    recording: RecordingFile,
    intent: OptionalIntentFile = None,
    on: OnOption = None,
    limit: LimitOption = None,
    targets: TargetsOption = None,
    shard: ShardOption = None,
    processes: ProcessesOption = None,
    process: ProcessOption = None,
    listen: ListenOption = "127.0.0.1",
    port: PortOption = COLLECTOR_PORT,
    interval: IntervalOption = 2.0,
    max_series: MaxSeriesOption = None,
    max_series_per_target: MaxSeriesPerTargetOption = 100_000,
    mappings: MapOption = None,
    remote_write: RemoteWriteOption = None,
    kafka: KafkaOption = None,
    nats: NatsOption = None,
    push_interval: PushIntervalOption = 10.0,
    push_label: PushLabelOption = None,
    state: StateOption = STATE_DEFAULT,
) -> None:
    """Collect from a recording, at its own pace, instead of connecting to the targets, until Ctrl-C or SIGTERM.

    Name the intent or the lists of targets, and the mappings, with which it was recorded; no credentials are needed.
    """
    refuse_what_does_not_fit(context)
    from railfab.telemetry import RetryPolicy
    from railfab.telemetry.replay import RecordingReplay
    from railfab.telemetry.replay import recording as recording_files

    serving = Serving(
        shard=shard,
        processes=processes,
        process=process,
        listen=listen,
        port=port,
        interval_s=interval,
        policy=RetryPolicy(max_series=max_series, max_series_per_target=max_series_per_target),
        push=_pushed(remote_write, kafka, nats, push_interval, push_label),
    )
    wanted = Wanted(intent, on, limit, state, lists=targets or (), mappings=mappings or ())
    _run(context, wanted, serving, lambda _: RecordingReplay(recording_files(recording)), drift_s=0.0)


def _run(
    context: typer.Context,
    wanted: Wanted,
    serving: Serving,
    receive: Callable[[ExitStack], Receiver],
    drift_s: float,
) -> None:
    """Collect, here or in several processes. receive: makes the receiver, and has the stack close its files."""
    from railfab.telemetry.targets import parse_share

    share = parse_share(serving.shard, serving.process)
    if serving.processes is not None:
        return collect_in_processes(context, serving.processes, share, serving.listen, serving.port)
    logging.getLogger("railfab").setLevel(logging.INFO)  # a service logs what happens to its switches
    with ExitStack() as files:
        options = {"interval_s": serving.interval_s, "share": share, "policy": serving.policy, **serving.push}
        options["receiver"] = receive(files)
        return _serve(*_collector(wanted, drift_s, options), serving.listen, serving.port, serving.process)


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
        fabric.topology, endpoints, among=among, maps=maps, classes=fabric.traffic_classes, **options
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
    from railfab.telemetry.targets import Loader, mapped_telemetry
    from railfab.telemetry.targets.config import source_of

    loaders = [Loader(source_of(where, telemetry=mapped_telemetry(maps))) for where in sources]
    for loader in loaders:
        loader.load()
    return loaders


def _recorded(receiver: Receiver, record: Path | None, files: ExitStack) -> Receiver:
    """The receiver, which records what it receives where a file is named. files: closes the recording."""
    from railfab.telemetry.tap import Tap, Tapped

    if record is None:
        return receiver
    tap = Tap(record)
    files.callback(tap.close)
    return Tapped(receiver, tap)
