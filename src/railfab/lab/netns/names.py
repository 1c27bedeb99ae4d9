"""Names of what the embedded lab makes in the kernel, all under one tag per lab."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256

from railfab.errors import LabError, RailfabError, raise_all
from railfab.lab.backend import LabPlace
from railfab.topology import Topology

INTERFACE_NAME_CHARACTERS = 15
"""Longest name of a Linux interface (IFNAMSIZ less its terminator)."""

MANAGEMENT = "mgmt0"
RESERVED = ("lo", MANAGEMENT, "all", "default")


@dataclass(frozen=True, slots=True)
class LabNames:
    """tag: eight characters that no other lab on this machine has; every name below begins with it."""

    tag: str

    def owns(self, name: str) -> bool:
        """Whether a namespace or an interface of this name is this lab's."""
        return name.startswith(f"{self.tag}-")

    @property
    def bridge(self) -> str:
        return f"{self.tag}-br"

    def namespace(self, node: str) -> str:
        return f"{self.tag}-{node}"

    def management_port(self, index: int) -> str:
        """The bridge's end of the management cable of the switch at this index, from 0."""
        return f"{self.tag}-m{index}"


def lab_names(place: LabPlace) -> LabNames:
    """Names of one lab: the same at every call, others for another fabric or another state directory."""
    digest = sha256(f"{place.state.resolve()}\0{place.fabric}".encode()).hexdigest()
    return LabNames(f"rf{digest[:6]}")


def check_names(topology: Topology) -> None:
    """Raise LabError, or Problems, for ports and nodes that Linux cannot name."""
    problems: list[RailfabError] = [
        LabError(f"{port.node} {port.name}", problem, "Use a platform with Linux interface names, such as frr")
        for port, _, _ in topology.ports()
        if (problem := interface_problem(port.name))
    ]
    problems += [
        LabError(f"node {node.name!r}", "cannot name a namespace", "Use letters, digits, '-' and '_'")
        for node in topology.nodes
        if not node.name.replace("-", "").replace("_", "").isalnum()
    ]
    raise_all(problems)


def interface_problem(name: str) -> str:
    """Why Linux cannot name an interface so; empty when it can."""
    if len(name) > INTERFACE_NAME_CHARACTERS:
        return f"is longer than the {INTERFACE_NAME_CHARACTERS} characters of a Linux interface name"
    if not name or "/" in name or any(letter.isspace() for letter in name):
        return "has a slash or a space, which no Linux interface name has"
    if name in RESERVED:
        return "is a name that the lab itself needs"
    return ""
