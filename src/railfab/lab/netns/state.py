"""State file of an embedded lab: written before anything is created, so that everything can be removed."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from ipaddress import IPv4Interface
from pathlib import Path
from typing import Any

from railfab.endpoints import state_file, write_private
from railfab.errors import LabError
from railfab.lab.contract import LabPlace, LabPlan
from railfab.lab.netns.names import lab_names
from railfab.lab.netns.processes import Process

VERSION = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class LabNode:
    """One node of a lab. kind: its role. address: management address; None on a host or server."""

    name: str
    kind: str
    namespace: str
    address: IPv4Interface | None
    management_port: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetnsState:
    """State of a lab. boot: boot id of the machine. topology_digest: see topology_digest().

    runtime: directory of configurations, keys and logs of the nodes.
    """

    fabric: str
    tag: str
    boot: str
    topology_digest: str
    bridge: str
    gateway: IPv4Interface
    runtime: Path
    nodes: tuple[LabNode, ...]
    processes: tuple[Process, ...] = ()

    def switches(self) -> tuple[LabNode, ...]:
        return tuple(node for node in self.nodes if node.address is not None)

    def process(self, purpose: str) -> Process | None:
        return next((process for process in self.processes if process.purpose == purpose), None)

    def with_processes(self, *processes: Process) -> NetnsState:
        return replace(self, processes=(*self.processes, *processes))


def lab_state_file(place: LabPlace) -> Path:
    """Path of the state file of an embedded lab."""
    return state_file(place.state, place.fabric, "netns")


def topology_digest(plan: LabPlan) -> str:
    """Digest of the nodes, links, addresses and MTUs of a lab; independent of the startup configurations."""
    mtus = sorted((name, i.name, i.mtu_bytes) for name, model in plan.models.items() for i in model.interfaces)
    return sha256(repr((plan.topology, mtus)).encode()).hexdigest()[:16]


def save_state(path: Path, state: NetnsState) -> None:
    write_private(path, json.dumps({"version": VERSION, **asdict(state)}, indent=2, default=str) + "\n")


def load_state(path: Path) -> NetnsState | None:
    """The state in a file; None when the file does not exist. Raises LabError when it is invalid."""
    try:
        document = json.loads(path.read_text())
        return _from_document(document)
    except FileNotFoundError:
        return None
    except PermissionError:
        raise LabError(
            str(path), "belongs to another user", "Run the command as the user who started the lab"
        ) from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = f"is not a state file of this version of railfab ({type(error).__name__}: {error})"
        remedy = "Remove the file and run `railfab lab down`, which finds the lab by its names"
        raise LabError(str(path), problem, remedy) from None


def own_state(place: LabPlace) -> NetnsState | None:
    """The state of this lab; None when there is none. Raises LabError when the file belongs to another lab."""
    path = lab_state_file(place)
    state = load_state(path)
    tag = lab_names(place).tag
    if state is not None and state.tag != tag:
        problem = f"is the state of lab {state.tag}, not of {tag}"
        raise LabError(str(path), problem, "Use the --state directory with which the lab was started")
    return state


def _from_document(document: dict[str, Any]) -> NetnsState:
    if document.pop("version") != VERSION:
        raise ValueError(f"version is not {VERSION}")
    nodes = tuple(_node(entry) for entry in document.pop("nodes"))
    processes = tuple(Process(**entry) for entry in document.pop("processes"))
    gateway, runtime = IPv4Interface(document.pop("gateway")), Path(document.pop("runtime"))
    return NetnsState(gateway=gateway, runtime=runtime, nodes=nodes, processes=processes, **document)


def _node(entry: dict[str, Any]) -> LabNode:
    address = entry.pop("address")
    return LabNode(address=IPv4Interface(address) if address else None, **entry)
