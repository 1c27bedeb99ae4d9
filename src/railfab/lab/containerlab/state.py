"""What a lab of containers keeps in its state directory, and where."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

from railfab.endpoints import state_file, write_private
from railfab.errors import LabError
from railfab.lab.backend import LabPlace
from railfab.lab.containerlab.generate import topology_file
from railfab.lab.netns.kernel import PROC, Process

VERSION = 1
SOCKETS = Path("run/frr")
"""Where FRR's daemons listen in a container; /var/run is a link to /run, which would be followed outside of it."""


@dataclass(frozen=True, slots=True)
class Files:
    """Every file of a lab, from its place."""

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
        """The folder that containerlab itself makes beside the topology."""
        return self.folder / f"clab-{self.place.fabric}"

    @property
    def state(self) -> Path:
        return state_file(self.place.state, self.place.fabric, "containerlab")

    @property
    def known_hosts(self) -> Path:
        return self.folder / "known_hosts"

    @property
    def ca(self) -> Path:
        """The authority of the certificates that the gateway shows."""
        return self.folder / "ca.pem"

    @property
    def listening(self) -> Path:
        """Ports of the gateway, which it writes when it listens."""
        return self.folder / "gateway.json"

    @property
    def gateway_log(self) -> Path:
        return self.folder / "gateway.log"

    def credentials(self, platform: str) -> Path:
        return self.folder / f"{platform}.credentials.yml"

    def keys(self, node: str) -> Path:
        """SSH host key, gNMI certificate and its key of a switch behind the gateway."""
        return self.folder / "keys" / node


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """A switch that the gateway answers for. pid: its container's first process, and when that started."""

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
        """Where FRR's daemons listen, seen from the host."""
        return PROC / str(self.pid) / "root" / SOCKETS


@dataclass(frozen=True, slots=True, kw_only=True)
class LabState:
    """gateway: None when no switch needs one. behind: the switches that it answers for."""

    fabric: str
    gateway: Process | None
    behind: tuple[Behind, ...]


def save_state(path: Path, state: LabState) -> None:
    """Write the state file."""
    write_private(path, json.dumps({"version": VERSION, **asdict(state)}, indent=2) + "\n")


def load_state(path: Path) -> LabState | None:
    """The state of a lab; None when there is none. Raises LabError when it cannot be read."""
    try:
        document = json.loads(path.read_text())
        if document["version"] != VERSION:
            raise ValueError(f"version {document['version']}, not {VERSION}")
        gateway = document["gateway"]
        return LabState(
            fabric=document["fabric"],
            gateway=None if gateway is None else Process(**gateway),
            behind=tuple(Behind(**entry) for entry in document["behind"]),
        )
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        remedy = "Remove the lab with `containerlab destroy`, then this file"
        raise LabError(str(path), f"is no state of a lab ({error})", remedy) from None
