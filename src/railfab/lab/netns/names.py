"""Names of namespaces and interfaces of an embedded lab, all with the tag of the lab."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from typing import TYPE_CHECKING

from railfab.errors import LabError, RailfabError, raise_all
from railfab.lab.contract import LabPlace

if TYPE_CHECKING:
    from railfab.topology import Topology

INTERFACE_NAME_CHARACTERS = 15
"""Maximum length of a Linux interface name (IFNAMSIZ - 1)."""

MANAGEMENT = "mgmt0"
RESERVED = ("lo", MANAGEMENT, "all", "default")


@dataclass(frozen=True, slots=True)
class LabNames:
    """Names of one lab. tag: eight characters, unique on this machine, with which every name begins."""

    tag: str

    def owns(self, name: str) -> bool:
        """Whether a namespace or an interface of this name belongs to this lab."""
        return name.startswith(f"{self.tag}-")

    @property
    def bridge(self) -> str:
        return f"{self.tag}-br"

    def namespace(self, node: str) -> str:
        return f"{self.tag}-{node}"

    def management_port(self, index: int) -> str:
        """Bridge port of the management link of the switch at this index, from 0."""
        return f"{self.tag}-m{index}"


def lab_names(place: LabPlace) -> LabNames:
    """Names of a lab, derived from its fabric and its state directory."""
    digest = sha256(f"{place.state.resolve()}\0{place.fabric}".encode()).hexdigest()
    return LabNames(f"rf{digest[:6]}")


def check_names(topology: Topology) -> None:
    """Raise LabError or Problems for ports and nodes whose names Linux does not allow.

    The lab makes `mgmt0` on switches only; that of a host is a port of its own.
    """
    problems: list[RailfabError] = [
        LabError(f"{port.node} {port.name}", problem, "Use a platform with Linux interface names, such as frr")
        for port, _, _ in topology.ports()
        if (port.name != MANAGEMENT or topology.node(port.node).is_switch) and (problem := interface_problem(port.name))
    ]
    problems += [
        LabError(f"node {node.name!r}", "is not a valid namespace name", "Use letters, digits, '-' and '_'")
        for node in topology.nodes
        if not node.name.replace("-", "").replace("_", "").isalnum()
    ]
    raise_all(problems)


def interface_problem(name: str) -> str:
    """Problem of an interface name under Linux; empty when it is valid."""
    if len(name) > INTERFACE_NAME_CHARACTERS:
        return f"is longer than the {INTERFACE_NAME_CHARACTERS} characters of a Linux interface name"
    if not name or "/" in name or any(letter.isspace() for letter in name):
        return "contains a slash or a space, which Linux does not allow in an interface name"
    if name in RESERVED:
        return "is a name that the lab reserves"
    return ""
