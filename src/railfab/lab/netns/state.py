"""What a running embedded lab has made, in one file: written before things are made, so that nothing is forgotten."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from ipaddress import IPv4Interface
from pathlib import Path
from typing import Any

from railfab.endpoints import state_file, write_private
from railfab.errors import LabError
from railfab.lab.backend import LabPlace, LabPlan
from railfab.lab.netns.kernel import Process
from railfab.lab.netns.names import lab_names

VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LabNode:
    """kind: `leaf`, `spine` or `host`. address: on the management network; None on a host."""

    name: str
    kind: str
    namespace: str
    address: IPv4Interface | None
    management_port: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LabState:
    """boot: the boot of the machine the lab ran in. wiring: digest of what was booted.

    runtime: directory of the nodes' private files, configurations and logs.
    """

    fabric: str
    tag: str
    boot: str
    wiring: str
    bridge: str
    gateway: IPv4Interface
    runtime: Path
    nodes: tuple[LabNode, ...]
    processes: tuple[Process, ...] = ()

    def switches(self) -> tuple[LabNode, ...]:
        return tuple(node for node in self.nodes if node.address is not None)

    def process(self, purpose: str) -> Process | None:
        return next((process for process in self.processes if process.purpose == purpose), None)

    def with_processes(self, *processes: Process) -> LabState:
        return replace(self, processes=(*self.processes, *processes))


def lab_state_file(place: LabPlace) -> Path:
    """Where an embedded lab keeps its state."""
    return state_file(place.state, place.fabric, "netns")


def wiring_digest(plan: LabPlan) -> str:
    """Changes with the nodes, the cables, the addresses and the MTUs; not with how the lab is configured."""
    mtus = sorted((name, i.name, i.mtu_bytes) for name, model in plan.models.items() for i in model.interfaces)
    return sha256(repr((plan.topology, mtus)).encode()).hexdigest()[:16]


def save_state(path: Path, state: LabState) -> None:
    write_private(path, json.dumps({"version": VERSION, **asdict(state)}, indent=2, default=str) + "\n")


def load_state(path: Path) -> LabState | None:
    """The state of the lab; None when there is none. Raises LabError when the file is not readable as one."""
    try:
        document = json.loads(path.read_text())
        return _from_document(document)
    except FileNotFoundError:
        return None
    except PermissionError:
        raise LabError(str(path), "belongs to another user", "Run this as the user who started the lab") from None
    except (OSError, ValueError, KeyError, TypeError) as error:
        problem = f"is not the state of a lab ({type(error).__name__}: {error})"
        remedy = "Remove the file; `railfab lab down` then finds the lab's parts by their names"
        raise LabError(str(path), problem, remedy) from None


def own_state(place: LabPlace) -> LabState | None:
    """The state of this lab; None when there is none. Raises LabError when the file is that of another one."""
    path = lab_state_file(place)
    state = load_state(path)
    tag = lab_names(place).tag
    if state is not None and state.tag != tag:
        problem = f"is the state of another lab, {state.tag}, and this one is {tag}"
        raise LabError(str(path), problem, "Give the --state directory that the lab was started with")
    return state


def _from_document(document: dict[str, Any]) -> LabState:
    if document.pop("version") != VERSION:
        raise ValueError("of another version of railfab")
    nodes = tuple(_node(entry) for entry in document.pop("nodes"))
    processes = tuple(Process(**entry) for entry in document.pop("processes"))
    gateway, runtime = IPv4Interface(document.pop("gateway")), Path(document.pop("runtime"))
    return LabState(gateway=gateway, runtime=runtime, nodes=nodes, processes=processes, **document)


def _node(entry: dict[str, Any]) -> LabNode:
    address = entry.pop("address")
    return LabNode(address=IPv4Interface(address) if address else None, **entry)
