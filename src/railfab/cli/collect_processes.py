"""collect with --processes: a parent that starts the same command for each share of the targets."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import typer

from railfab.cli.common import CANNOT
from railfab.cli.logs import announce
from railfab.errors import RailfabError
from railfab.process.cores import usable_cores
from railfab.process.signals import stop_on_signal
from railfab.text.counted import counted

if TYPE_CHECKING:
    from railfab.telemetry.targets import Share

MOST_PROCESSES = 256
OWN = frozenset(("processes", "process", "listen", "port"))
"""Parameters of the parent alone."""


def collect_in_processes(context: typer.Context, processes: str, share: Share, listen: str, port: int) -> None:
    """Collect in several processes, and serve what they serve, until Ctrl-C or SIGTERM. share: of all of them."""
    from railfab.intent import load_intent
    from railfab.telemetry import MetricsServer
    from railfab.telemetry.processes import Processes, ProcessMetrics, pages_of
    from railfab.telemetry.targets import Share, process_shard

    count = _count(processes)
    _refuse_what_cannot_be_shared(context)
    intent: Path | None = context.params["intent"]
    fabric = load_intent(intent).fabric if intent else ""
    words = [context.info_name] if context.info_name else []
    of_all, again = list(_again(cast(typer.Context, context.find_root()))), list(_again(context))
    shards = [Share(share.collector, process_shard(number, count)).label for number in range(count)]

    def command(number: int, socket: Path) -> list[str]:
        own = [f"--process={number}/{count}", f"--listen=unix:{socket}"]
        return [sys.executable, "-m", "railfab", *of_all, "collect", *words, *own, *again]

    logging.getLogger("railfab").setLevel(logging.INFO)  # a service logs what happens to its processes
    with stop_on_signal() as ended, Processes(shards, command, ended) as running:
        exposition, pages = ProcessMetrics(running, fabric), pages_of(running)
        with MetricsServer(exposition, running, host=listen, port=port, further=pages) as server:
            announce(f"{counted(count, 'process')}: {server.url}/http_sd")
            if not running.start():
                raise typer.Exit(CANNOT)
            ended.wait()


def _count(text: str) -> int:
    """The number of processes; of each core one for `auto` or 0."""
    if text in ("auto", "0"):
        return usable_cores()
    if not (text.isascii() and text.isdecimal()) or int(text) > MOST_PROCESSES:
        raise RailfabError(f"--processes {text}", "is no number of processes", f"Use auto, or 1 to {MOST_PROCESSES}")
    return int(text)


def _refuse_what_cannot_be_shared(context: typer.Context) -> None:
    if context.params.get("record") is not None:
        raise typer.BadParameter("--record needs a single process: leave out --processes.")
    if context.params["intent"] == Path("-"):
        raise typer.BadParameter("--processes needs the intent as a file, which each process reads.")


def _again(context: typer.Context) -> Iterator[str]:
    """The arguments that were stated, but those of the parent."""
    operands = []
    for parameter in context.command.params:
        name = str(parameter.name)
        source = context.get_parameter_source(name)
        if name in OWN or source is None or source.name != "COMMANDLINE":
            continue
        values: Any = context.params[name]
        texts = [_text(value) for value in (values if parameter.multiple else [values])]
        if getattr(parameter, "is_flag", False):
            yield parameter.opts[0]
        elif parameter.param_type_name == "option":
            yield from (f"{parameter.opts[0]}={text}" for text in texts)
        else:
            operands += texts
    yield from (["--", *operands] if operands else [])


def _text(value: Any) -> str:
    """A value as it was stated."""
    return str(getattr(value, "value", value))
