"""Files of a lab of containers in its state directory."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from railfab.endpoints import state_file, write_private
from railfab.errors import LabError
from railfab.lab.containerlab.names import topology_file
from railfab.lab.contract import LabPlace
from railfab.lab.netns.processes import PROC, Process

VERSION = 2
SOCKETS = Path("run/frr")
"""Directory of FRR's sockets in a container; not /var/run, a symlink that would be followed outside of it."""


@dataclass(frozen=True, slots=True)
class LabPaths:
    """Paths of the files of a lab."""

    place: LabPlace

    @property
    def folder(self) -> Path:
        """Topology, configurations, keys and certificates."""
        return (self.place.state / f"{self.place.fabric}.clab").resolve()

    @property
    def topology(self) -> Path:
        return self.folder / topology_file(self.place.fabric)

    @property
    def lab_directory(self) -> Path:
        """The directory that containerlab creates beside the topology."""
        return self.folder / f"clab-{self.place.fabric}"

    @property
    def state(self) -> Path:
        return state_file(self.place.state, self.place.fabric, "containerlab")

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    @property
    def ca(self) -> Path:
        """CA certificate of the gateway."""
        return self.folder / "ca.pem"

    @property
    def listening(self) -> Path:
        """Ports of the gateway, written when it listens."""
        return self.folder / "gateway.json"

    @property
    def gateway_log(self) -> Path:
        return self.folder / "gateway.log"

    def credentials(self, platform: str) -> Path:
        return self.folder / f"{platform}.credentials.yml"

    def keys(self, node: str) -> Path:
        """SSH host key, gNMI certificate and its key of a switch served by the gateway."""
        return self.folder / "keys" / node


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySwitch:
    """A switch served by the gateway. pid, started: first process of its container and its start time."""

    name: str
    platform: str
    pid: int
    started: int

    @property
    def process(self) -> Process:
        """The container's first process."""
        return Process(purpose=self.name, pid=self.pid, started=self.started)

    @property
    def sockets(self) -> Path:
        """Directory of FRR's sockets, seen from the host."""
        return PROC / str(self.pid) / "root" / SOCKETS


@dataclass(frozen=True, slots=True, kw_only=True)
class ContainerlabState:
    """State of a lab. gateway: None when no switch needs it. gateway_switches: the switches that it serves."""

    fabric: str
    gateway: Process | None
    gateway_switches: tuple[GatewaySwitch, ...]


def save_state(path: Path, state: ContainerlabState) -> None:
    """Write the state file."""
    write_private(path, json.dumps({"version": VERSION, **asdict(state)}, indent=2) + "\n")


def load_state(path: Path) -> ContainerlabState | None:
    """The state of a lab; None when there is none. Raises LabError when it cannot be read."""
    try:
        document = json.loads(path.read_text())
        if document["version"] != VERSION:
            raise ValueError(f"version {document['version']}, not {VERSION}")
        gateway = document["gateway"]
        return ContainerlabState(
            fabric=document["fabric"],
            gateway=None if gateway is None else Process(**gateway),
            gateway_switches=tuple(GatewaySwitch(**entry) for entry in document["gateway_switches"]),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        remedy = "Remove the lab with `containerlab destroy`, then this file"
        raise LabError(str(path), f"is not a state file of this version of railfab ({error})", remedy) from None
