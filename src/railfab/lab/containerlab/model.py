"""A containerlab topology and its file format."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import yaml

TEXT_WIDTH = 120
FLOW_WIDTH = 90


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerNetwork:
    """The management network that containerlab creates. network: its name in Docker.

    ipv4_subnet: `auto` lets Docker choose a free one. ipv6_subnet: None for no IPv6 there.
    """

    network: str
    ipv4_subnet: str = "auto"
    ipv6_subnet: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeDefinition:
    """Settings of a node, or of every node of a group; None and empty values are left out.

    binds: `file:path in the container:ro`. exec: commands run in the container when its links exist.
    privileged: None leaves containerlab's default, a privileged container.
    """

    kind: str | None = None
    image: str | None = None
    image_pull_policy: str | None = None
    type: str | None = None
    group: str | None = None
    startup_config: str | None = None
    cmd: str | None = None
    privileged: bool | None = None
    cap_add: tuple[str, ...] = ()
    sysctls: Mapping[str, str] = field(default_factory=dict)
    binds: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    exec: tuple[str, ...] = ()
    labels: Mapping[str, str] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """The settings with containerlab's keys."""
        named = {key: getattr(self, key.replace("-", "_")) for key in NODE_KEYS}
        return {key: _plain(value) for key, value in named.items() if value not in (None, (), {})}


NODE_KEYS = (
    "kind",
    "image",
    "image-pull-policy",
    "type",
    "group",
    "startup-config",
    "cmd",
    "privileged",
    "cap-add",
    "sysctls",
    "binds",
    "env",
    "exec",
    "labels",
)


@dataclass(frozen=True, slots=True)
class End:
    """One end of a link. interface: its name in the topology file, which may differ from its name on the switch."""

    node: str
    interface: str


@dataclass(frozen=True, slots=True, kw_only=True)
class VethLink:
    """A link in containerlab's extended format. mtu_bytes: MTU of both ends."""

    a: End
    z: End
    mtu_bytes: int

    def document(self) -> dict[str, Any]:
        ends = [{"node": end.node, "interface": end.interface} for end in (self.a, self.z)]
        return {"type": "veth", "mtu": self.mtu_bytes, "endpoints": ends}


@dataclass(frozen=True, slots=True, kw_only=True)
class LabTopology:
    """A topology. groups: common settings of nodes, by group name; nodes: in the order of the fabric."""

    name: str
    management: DockerNetwork
    groups: Mapping[str, NodeDefinition]
    nodes: Mapping[str, NodeDefinition]
    links: tuple[VethLink, ...]

    def document(self) -> dict[str, Any]:
        """The topology as the mapping of its YAML file."""
        management = {
            "network": self.management.network,
            "ipv4-subnet": self.management.ipv4_subnet,
            "ipv6-subnet": self.management.ipv6_subnet,
        }
        return {
            "name": self.name,
            "mgmt": {key: value for key, value in management.items() if value is not None},
            "topology": {
                "groups": {name: group.document() for name, group in self.groups.items()},
                "nodes": {name: node.document() for name, node in self.nodes.items()},
                "links": [link.document() for link in self.links],
            },
        }

    def dump(self) -> str:
        """The text of the topology file; equal topologies give equal text."""
        return yaml.dump(
            self.document(), Dumper=_TopologyDumper, sort_keys=False, width=TEXT_WIDTH, default_flow_style=None
        )


class _TopologyDumper(yaml.SafeDumper):
    """Writes small mappings and lists on one line, and no YAML aliases."""

    def ignore_aliases(self, data: Any) -> bool:  # noqa: ARG002
        return True

    def represent_mapping(self, tag: str, mapping: Any, flow_style: bool | None = None) -> yaml.MappingNode:
        node = super().represent_mapping(tag, mapping, flow_style)
        return _with_style(node, sum(len(key.value) + len(value.value) + 4 for key, value in node.value))

    def represent_sequence(self, tag: str, sequence: Any, flow_style: bool | None = None) -> yaml.SequenceNode:
        node = super().represent_sequence(tag, sequence, flow_style)
        return _with_style(node, sum(len(entry.value) + 2 for entry in node.value))


Collection = TypeVar("Collection", yaml.MappingNode, yaml.SequenceNode)


def _with_style(node: Collection, characters: int) -> Collection:
    node.flow_style = node.flow_style and characters <= FLOW_WIDTH
    return node


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value
