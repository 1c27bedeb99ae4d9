"""Options of collect."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from railfab.cli import completion
from railfab.cli.common import Output, finite, given_parameters, refuse

SOURCES = "Targets"
PUSH = "Push"
BOUNDS = "Bounds"
GNMIC = "From gnmic"


class ReceiverName(StrEnum):
    """The receivers of the collector."""

    AUTO = "auto"
    FAST = "fast"
    GRPC = "grpc"
    PYGNMI = "pygnmi"


OptionalIntentFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="The fabric's intent (YAML); - is standard input. Not needed with --targets.",
        show_default=False,
        autocompletion=completion.intents,
    ),
]
TargetsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--targets",
        metavar="FILE|URL",
        help="A hosts.yml, an endpoints file, or a URL of HTTP service discovery, followed as it changes; repeatable.",
        show_default=False,
        rich_help_panel=SOURCES,
    ),
]
ShardOption = Annotated[
    str | None,
    typer.Option(
        "--shard",
        metavar="I/N",
        help="Stream only this share of the targets; I counts from 0.",
        show_default=False,
        rich_help_panel=SOURCES,
    ),
]
ProcessesOption = Annotated[
    str | None,
    typer.Option(
        "--processes",
        metavar="N|auto",
        help="Share the targets among so many processes, each with its own core; auto is one for each core."
        " Prometheus finds them at /http_sd.",
        show_default=False,
        rich_help_panel=SOURCES,
    ),
]
ProcessOption = Annotated[str | None, typer.Option("--process", hidden=True, help="J/M: one of --processes M.")]
ReceiverOption = Annotated[
    ReceiverName,
    typer.Option(
        "--receiver",
        help="fast is railfab's own, grpc is grpcio; auto is fast, and grpc for a target that fast cannot receive."
        " pygnmi is for comparison.",
    ),
]
RecordOption = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="FILE",
        help="Write what the targets send there as well, as received; --replay reads it.",
        show_default=False,
    ),
]
ReplayOption = Annotated[
    Path | None,
    typer.Option(
        "--replay",
        metavar="FILE",
        help="Collect from a recording, at its own pace, instead of connecting to the targets.",
        show_default=False,
    ),
]
ListenOption = Annotated[
    str, typer.Option("--listen", metavar="ADDRESS", help="Address to serve on, or unix:PATH for a socket.")
]
PortOption = Annotated[int, typer.Option("--port", min=0, max=65535, help="Port of /metrics; 0 is any free one.")]
IntervalOption = Annotated[
    float,
    typer.Option(
        "--interval",
        metavar="SECONDS",
        min=0.1,
        callback=finite,
        help="How often switches sample their counters, unless a target states gnmi_interval_s.",
    ),
]
MaxSeriesOption = Annotated[
    int,
    typer.Option(
        "--max-series",
        metavar="N",
        min=1,
        help="Most series of all targets of a process; a million takes about 630 MB.",
        rich_help_panel=BOUNDS,
    ),
]
MaxSeriesPerTargetOption = Annotated[
    int,
    typer.Option(
        "--max-series-per-target",
        metavar="N",
        min=1,
        help="Most series of one target; what passes either bound is counted, and not stored.",
        rich_help_panel=BOUNDS,
    ),
]
CheckOption = Annotated[
    bool,
    typer.Option(
        "--check",
        metavar="",
        help="Ask each target once instead of collecting: login, certificate, encodings, clock, and every path.",
        show_default=False,
    ),
]
DriftOption = Annotated[
    float,
    typer.Option(
        "--drift",
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
RemoteWriteOption = Annotated[
    str | None,
    typer.Option(
        "--remote-write",
        metavar="URL",
        help="Write samples there by Prometheus remote write; login in RAILFAB_REMOTE_WRITE_USERNAME and _PASSWORD.",
        show_default=False,
        rich_help_panel=PUSH,
    ),
]
KafkaOption = Annotated[
    str | None,
    typer.Option(
        "--kafka",
        metavar="HOST:PORT[/TOPIC]",
        help="Publish samples to Kafka.",
        show_default=False,
        rich_help_panel=PUSH,
    ),
]
NatsOption = Annotated[
    str | None,
    typer.Option(
        "--nats",
        metavar="URL[/SUBJECT]",
        help="Publish samples to NATS.",
        show_default=False,
        rich_help_panel=PUSH,
    ),
]
PushLabelOption = Annotated[
    list[str] | None,
    typer.Option(
        "--push-label",
        metavar="NAME=VALUE",
        help="A label of all series that are pushed, such as replica=a; repeatable.",
        show_default=False,
        rich_help_panel=PUSH,
    ),
]
PushIntervalOption = Annotated[
    float,
    typer.Option(
        "--push-interval",
        metavar="SECONDS",
        min=0.5,
        callback=finite,
        help="How often samples are pushed.",
        rich_help_panel=PUSH,
    ),
]
FromGnmicOption = Annotated[
    Path | None,
    typer.Option(
        "--from-gnmic",
        metavar="FILE",
        help="Say what a gnmic configuration becomes, instead of collecting; connects to nothing.",
        show_default=False,
        rich_help_panel=GNMIC,
    ),
]
WriteOption = Annotated[
    Path | None,
    typer.Option(
        "--write",
        metavar="DIR",
        help="With --from-gnmic: write hosts.yml and mappings.yml there.",
        show_default=False,
        rich_help_panel=GNMIC,
    ),
]
PlatformOption = Annotated[
    list[str] | None,
    typer.Option(
        "--platform",
        metavar="[PATTERN=]NAME",
        help="With --from-gnmic: platform of targets whose paths do not tell it; repeatable.",
        show_default=False,
        rich_help_panel=GNMIC,
    ),
]


@dataclass(frozen=True, slots=True)
class Wanted:
    """The targets that are wanted, of an intent and of lists, and the files that map their paths."""

    intent: Path | None
    on: str | None
    limit: str | None
    state: Path
    lists: Sequence[str]
    mappings: Sequence[Path]


def refuse_what_does_not_fit(context: typer.Context) -> None:
    """Refuse options that do not fit each other, those with a default too where they are given."""
    given = given_parameters(context)
    if "gnmic" in given:
        refuse(given, NOT_FROM_GNMIC, "--from-gnmic collects nothing: leave out")
        return
    if "check" in given:
        refuse(given, NOT_CHECKED, "--check collects nothing: leave out")
    if not SINKS.keys() & given:
        refuse(given, OF_SINKS, "Add --remote-write, --kafka or --nats, or leave out")
    refuse(given, OF_GNMIC, "Add --from-gnmic, or leave out")
    if "replay" in given:
        refuse(given, OF_CONNECTIONS, "--replay connects to no target: leave out")
    if given.get("output") is Output.JSON and "check" not in given:
        raise typer.BadParameter("--output needs --from-gnmic or --check.")
    if "intent" in given:
        return
    if "targets" not in given:
        raise typer.BadParameter("Name the fabric's intent, or targets with --targets.")
    refuse(given, OF_INTENT, "Name the fabric's intent, or leave out")


SINKS = {"remote_write": "--remote-write", "kafka": "--kafka", "nats": "--nats"}
OF_SINKS = {"push_label": "--push-label", "push_interval": "--push-interval"}
OF_GNMIC = {"write": "--write", "platforms": "--platform"}
OF_CONNECTIONS = {"receiver": "--receiver"}
OF_INTENT = {"on": "--on", "limit": "--limit", "drift": "--drift", "state": "--state"}
NOT_CHECKED = {
    **SINKS,
    **OF_SINKS,
    "receiver": "--receiver",
    "record": "--record",
    "replay": "--replay",
    "shard": "--shard",
    "processes": "--processes",
    "listen": "--listen",
    "port": "--port",
    "interval": "--interval",
    "drift": "--drift",
    "max_series": "--max-series",
    "max_series_per_target": "--max-series-per-target",
}
"""Options of what is collected, by parameter."""
NOT_FROM_GNMIC = {
    "intent": "the intent",
    "on": "--on",
    "limit": "--limit",
    "targets": "--targets",
    "check": "--check",
    "mappings": "--map",
    "state": "--state",
    **NOT_CHECKED,
}
