"""Options of collect."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise, takewhile
from pathlib import Path
from typing import Annotated

import typer

from railfab.cli import completion
from railfab.cli.common import finite, given_parameters, refuse
from railfab.errors import RailfabError

SOURCES = "Targets"
PUSH = "Push"
BOUNDS = "Bounds"


class ReceiverName(StrEnum):
    """The receivers of the collector."""

    AUTO = "auto"
    FAST = "fast"
    GRPC = "grpc"


OptionalIntentFile = Annotated[
    Path | None,
    typer.Argument(
        metavar="FILE",
        help="The fabric's intent (YAML); - is standard input. Not needed with --targets.",
        show_default=False,
        autocompletion=completion.intents,
    ),
]
RecordingFile = Annotated[
    Path, typer.Argument(metavar="RECORDING", help="A file that --record has written.", show_default=False)
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
        help="fast is railfab's own, grpc is grpcio; auto is fast, and grpc for a target that fast cannot receive.",
    ),
]
RecordOption = Annotated[
    Path | None,
    typer.Option(
        "--record",
        metavar="FILE",
        help="Write what the targets send there as well, as received; `railfab collect replay` reads it.",
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
    int | None,
    typer.Option(
        "--max-series",
        metavar="N",
        min=1,
        help="Most series of all targets of a process; a million takes about 630 MB."
        " [default: 1000000, or 12000 a target where that is more]",
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
    if not SINKS.keys() & given:
        refuse(given, OF_SINKS, "Add --remote-write, --kafka or --nats, or leave out")
    refuse_without_targets(given)


def refuse_without_targets(given: Collection[str]) -> None:
    """Refuse a command line without targets, and options that need an intent without one. given: its parameters."""
    if "intent" in given:
        return
    if "targets" not in given:
        raise typer.BadParameter("Name the fabric's intent, or targets with --targets.")
    refuse(given, OF_INTENT, "Name the fabric's intent, or leave out")


def refuse_old_spelling(arguments: Sequence[str]) -> None:
    """Refuse options that have become commands. Raises RailfabError with the command."""
    texts = [
        text for argument in takewhile(lambda argument: argument != "--", arguments) for text in argument.split("=", 1)
    ]
    for text, after in pairwise([*texts, ""]):
        if text in COMMANDS:
            raise RailfabError(f"collect {text}", "is part of another command", f"Use `{COMMANDS[text]}`")
        if (text, after) == ("--receiver", "pygnmi"):
            raise RailfabError("--receiver pygnmi", "is no receiver", "Use grpc, which reads with grpcio")


COMMANDS = {
    "--check": "railfab targets check FILE",
    "--replay": "railfab collect replay RECORDING FILE",
    "--from-gnmic": "railfab import gnmic FILE",
    "--write": "railfab import gnmic FILE --write DIR",
    "--platform": "railfab import gnmic FILE --platform NAME",
}
"""The commands in which options of former releases are found."""
SINKS = {"remote_write": "--remote-write", "kafka": "--kafka", "nats": "--nats"}
OF_SINKS = {"push_label": "--push-label", "push_interval": "--push-interval"}
OF_INTENT = {"on": "--on", "limit": "--limit", "drift": "--drift", "state": "--state"}
