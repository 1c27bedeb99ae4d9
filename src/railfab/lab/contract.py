"""The interface of a lab backend: up, down, status, and doctor, which checks the requirements of the machine."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from railfab.endpoints import Endpoints, state_file
from railfab.errors import LabError, RailfabError, raise_all

if TYPE_CHECKING:
    from railfab.device import DeviceModel
    from railfab.fabric import Design
    from railfab.topology import Topology

Progress = Callable[[str], None]
"""Receives one line of progress for each step."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LabPlace:
    """Identifies a lab; sufficient to find and remove it, also when its intent has become invalid.

    folder: directory of the intent. state: directory of the endpoints file and of the backend's state files.
    """

    fabric: str
    folder: Path
    state: Path

    @property
    def endpoints_file(self) -> Path:
        return state_file(self.state, self.fabric, "lab")


@dataclass(frozen=True, slots=True, kw_only=True)
class LabPlan:
    """A lab to boot. models: one per switch, by name, including settings made by the operating system.

    configurations: startup configuration by switch; a switch without one boots unconfigured.
    """

    place: LabPlace
    topology: Topology
    models: Mapping[str, DeviceModel]
    configurations: Mapping[str, str]


def lab_plan(fabric: Design, state: Path, *, configured: bool) -> LabPlan:
    """The lab of a fabric; texts are rendered only for a configured one. Raises as `Design.models` does."""
    return LabPlan(
        place=LabPlace(fabric=fabric.intent.fabric, folder=fabric.path.parent, state=state),
        topology=_lab_topology(fabric.topology),
        models=fabric.planned_models,
        configurations=fabric.texts if configured else {},
    )


def _lab_topology(topology: Topology) -> Topology:
    """The topology without the management cables of switches: a lab has its own management network in their place."""
    return replace(topology, links=tuple(link for link in topology.links if not topology.manages_switch(link)))


@dataclass(frozen=True, slots=True, kw_only=True)
class LabStart:
    """A lab that is up. booted: by this call; otherwise it was up already and is unchanged."""

    endpoints: Endpoints
    booted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStatus:
    """One node of a lab. state: `running`, `degraded` or `gone`; detail: the problem, or how to reach the node.

    address: management address; None for a node without one.
    """

    name: str
    kind: str
    state: str
    address: str | None
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LabStatus:
    """Current state of a lab. nodes is empty when the lab is down."""

    fabric: str
    backend: str
    nodes: tuple[NodeStatus, ...]

    @property
    def state(self) -> str:
        """`down`, `running`, or `degraded` when a node is not running."""
        if not self.nodes:
            return "down"
        return "running" if all(node.state == "running" for node in self.nodes) else "degraded"


@dataclass(frozen=True, slots=True, kw_only=True)
class Requirement:
    """A requirement of a backend on the machine. problem and remedy are empty when it is met.

    fatal: whether `up` fails without it.
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


def require(requirements: tuple[Requirement, ...]) -> None:
    """Raise LabError or Problems for every fatal requirement that is not met."""
    errors: list[RailfabError] = [
        LabError(requirement.subject, requirement.problem, requirement.remedy)
        for requirement in requirements
        if requirement.fatal and not requirement.ok
    ]
    raise_all(errors)


def not_up(place: LabPlace) -> LabError:
    """The error for a lab that does not run."""
    return LabError(f"lab {place.fabric}", "is not up", "Start it with `railfab lab up`")


class LabBackend(Protocol):
    """Runs a fabric on one machine. All methods raise LabError."""

    @property
    def name(self) -> str:
        """`netns` or `containerlab`, as in the endpoints file."""
        ...

    def up(self, plan: LabPlan, progress: Progress) -> LabStart:
        """Boot the fabric, write the endpoints file and return the endpoints.

        A lab that is up already is not changed, whatever its startup configurations.
        """
        ...

    def down(self, place: LabPlace, progress: Progress) -> bool:
        """Remove everything that `up` created, also after a crash; False when there was nothing."""
        ...

    def restart(self, plan: LabPlan, node: str, daemon: str | None, progress: Progress) -> None:
        """Restart a switch with its startup configuration, or one of its daemons; return when it answers."""
        ...

    def status(self, place: LabPlace) -> LabStatus:
        """Current state of the lab."""
        ...

    def doctor(self, plan: LabPlan | None) -> tuple[Requirement, ...]:
        """Requirements of any lab, or of this one, and whether the machine meets them."""
        ...
