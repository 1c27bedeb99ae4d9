"""The options of the agent, for its own process and for `railfab agent`."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from railfab.units import AGENT_PORT

DATA = Path("/etc/railfab/nic.json")


class AgentOutput(StrEnum):
    """What `--once` prints."""

    TABLE = "table"
    JSON = "json"
    METRICS = "metrics"


HELP: Mapping[str, str] = {
    "data": "The nic.json of the plan, which says what the NICs should be.",
    "host": "Name of this host in the plan; else its host name.",
    "root": "Where the file system of the host is mounted, or a tree with captured outputs.",
    "state": "Where it keeps what was as wanted, so that it knows what a reboot lost; else it keeps nothing.",
    "listen": "Address to serve /metrics on.",
    "port": "Port of /metrics.",
    "standalone": "Expose the counters of the NICs too, where no other exporter does.",
    "once": "Compare once, print, and end.",
    "output": "What --once prints: a table for people, JSON for machines, or metrics for a textfile collector.",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentOptions:
    """The options of a run."""

    data: Path = DATA
    host: str = ""
    root: Path = Path("/")
    state: Path | None = None
    listen: str = "127.0.0.1"
    port: int = AGENT_PORT
    standalone: bool = False
    once: bool = False
    output: AgentOutput = AgentOutput.TABLE

    def words(self) -> list[str]:
        """The arguments that say so."""
        valued = {name: getattr(self, name) for name in ("data", "host", "root", "state", "listen", "port", "output")}
        flags = [f"--{name}" for name in ("standalone", "once") if getattr(self, name)]
        return [f"--{name}={value}" for name, value in valued.items() if value is not None] + flags


def parsed(words: Sequence[str] | None = None) -> AgentOptions:
    """The options of a command line."""
    default = AgentOptions()
    parser = argparse.ArgumentParser(prog="railfab agent", description="Watch the NICs of this host.")
    for name, metavar, kind in (
        ("data", "FILE", Path),
        ("host", "NAME", str),
        ("root", "DIR", Path),
        ("state", "DIR", Path),
        ("listen", "ADDRESS", str),
        ("port", "N", int),
    ):
        parser.add_argument(f"--{name}", metavar=metavar, type=kind, default=getattr(default, name), help=HELP[name])
    for name in ("standalone", "once"):
        parser.add_argument(f"--{name}", action="store_true", help=HELP[name])
    parser.add_argument("--output", type=AgentOutput, choices=list(AgentOutput), default="table", help=HELP["output"])
    options = vars(parser.parse_args(words))
    return AgentOptions(**{**options, "host": options["host"] or socket.gethostname()})
