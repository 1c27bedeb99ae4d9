"""What every lab backend does: bring a fabric up, say how it is, take it down, and say what the machine lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from railfab.device import DeviceModel
from railfab.endpoints import Endpoints, state_file
from railfab.topology import Topology

Progress = Callable[[str], None]
"""Takes one line for the operator at each step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabPlace:
    """Which lab is meant: enough to find and remove it, also when its intent can no longer be wired.

    folder: where the intent lies. state: the directory of the endpoints file and whatever else the backend keeps.
    """

    fabric: str
    folder: Path
    state: Path

    @property
    def endpoints_file(self) -> Path:
        return state_file(self.state, self.fabric, "lab")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabPlan:
    """What is to be booted. models: one per switch, by name, with what its platform leaves to the operating system.

    configurations: text that a switch boots with, by name; a switch that is not in it boots with an empty one.
    """

    place: LabPlace
    topology: Topology
    models: Mapping[str, DeviceModel]
    configurations: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStatus:
    """One node of a lab. state: `running`, `degraded` or `gone`; detail: what is wrong, or where to look.

    address: management address; None on a node that has none.
    """

    name: str
    kind: str
    state: str
    address: str | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabStatus:
    """A lab as it is now. nodes is empty when the lab is down."""

    fabric: str
    backend: str
    nodes: tuple[NodeStatus, ...]

    @property
    def state(self) -> str:
        """`down`, `running`, or `degraded` when a node is not as it should be."""
        if not self.nodes:
            return "down"
        return "running" if all(node.state == "running" for node in self.nodes) else "degraded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing a backend needs of the machine. problem and remedy are empty when it is there.

    fatal: whether `up` cannot work without it.
    """

    subject: str
    problem: str = ""
    remedy: str = ""
    fatal: bool = True

    @property
    def ok(self) -> bool:
        return not self.problem

    def __str__(self) -> str:
        return f"{self.subject}: ok" if self.ok else f"{self.subject}: {self.problem}. {self.remedy}."


class Backend(Protocol):
    """A way to run a fabric on one machine. All verbs raise LabError with one clear line."""

    @property
    def name(self) -> str:
        """`netns` or `containerlab`; stands in the endpoints file."""
        ...

    def up(self, plan: LabPlan, progress: Progress) -> Endpoints:
        """Boot the fabric, write the endpoints file, and say how its switches are reached.

        A lab that is up already is left alone and its endpoints are returned.
        """
        ...

    def down(self, place: LabPlace, progress: Progress) -> bool:
        """Remove everything `up` made, also after a crash, and nothing else; False when there was nothing."""
        ...

    def status(self, place: LabPlace) -> LabStatus:
        """The lab as it is now."""
        ...

    def doctor(self, plan: LabPlan | None) -> tuple[Finding, ...]:
        """What the machine has and lacks for any lab, or for this one."""
        ...
