"""Read a topology from a containerlab file: nodes, and the links between two nodes.

Source: containerlab, docs/manual/topo-def-file.md and links/*.go (August 2026). A link that leads out of the lab, to
the machine, to the management network or to nowhere, is no link of a fabric.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from ipaddress import ip_interface
from pathlib import Path

from railfab.errors import raise_all
from railfab.imports.containerlab_kinds import WITHOUT_SWITCHING, platform_of, position
from railfab.imports.containerlab_variables import expanded
from railfab.imports.document import Keyed, Listed, Text, Tree, read_tree, words
from railfab.imports.existing import ExistingLink, ExistingNode, ExistingPort, ExistingTopology, SourceError
from railfab.topology.model import Interface, Role

MAX_BYTES = 200_000_000
"""A lab of 262,144 links takes some 40 MB."""
SAID = 20
"""Faults of a file that are said at once."""
ONE_ENDED = frozenset(("mgmt-net", "macvlan", "host", "vxlan", "vxlan-stitch", "dummy"))
"""Types of links with an end that is no node; the first three may stand in the place of a node in the short form."""
TWO_ENDED = frozenset(("veth", "veth-stitch"))
TEMPLATE = "{{"
ROLES = {role.value: role for role in Role}
ROLE_LABEL = "nornir-group"
"""Labels that begin so name groups; railfab's own topologies have the role among them."""


@dataclass(frozen=True, slots=True)
class _End:
    node: str
    interface: str
    line: int
    addresses: tuple[Interface, ...] = ()


def read_containerlab(path: Path, environment: Mapping[str, str]) -> ExistingTopology:
    """The topology in a file. environment: what its variables stand for.

    Raises SourceError, or Problems, with file and line of what containerlab would not take either.
    """
    text = _text(path)
    if TEMPLATE in text:
        raise SourceError(str(path), "is a template", "Use the output of `containerlab deploy --export-template`")
    return _Lab(str(path), read_tree(str(path), expanded(text, environment))).found()


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise SourceError(str(path), f"is larger than {MAX_BYTES} bytes", "Name a topology file")
        return content.decode("utf-8")
    except FileNotFoundError:
        raise SourceError(str(path), "no such file", "Name a containerlab topology, or the URL of a NetBox") from None
    except OSError as error:
        problem = f"cannot be read ({(error.strerror or str(error)).lower()})"
        raise SourceError(str(path), problem, "Name a readable topology file") from None
    except UnicodeDecodeError:
        raise SourceError(str(path), "is not UTF-8 text", "Name a containerlab topology") from None


class _Lab:
    """One file. Faults are collected; what they concern is left out."""

    def __init__(self, where: str, tree: Tree) -> None:
        self._where = where
        self._faults: list[SourceError] = []
        topology = tree.entries.get("topology") if isinstance(tree, Keyed) else None
        if not isinstance(tree, Keyed) or not isinstance(topology, Keyed):
            line = topology.line if topology else tree.line
            raise SourceError(f"{where}:{line}", "contains no topology", "A containerlab file has name and topology")
        self._name = tree.entries.get("name")
        self._defaults = words(self._keyed(topology, "defaults").entries)
        self._levels = {level: self._keyed(topology, level) for level in ("kinds", "groups", "nodes")}
        self._links = self._listed(topology, "links")

    def found(self) -> ExistingTopology:
        if not isinstance(self._name, Text) or self._name.is_null:
            self._report(self._name.line if self._name else 1, "the lab has no name", "Give it one under `name`")
        kinds: dict[str, str | None] = {}
        nodes = []
        for name in self._levels["nodes"].entries:
            if not name.isprintable():
                self._report(
                    self._levels["nodes"].lines[name], f"{name!r} is not a node name", "Use letters and digits"
                )
            levels = self._definitions(name)
            kinds[name] = self._kind(name, levels)
            if kinds[name] not in WITHOUT_SWITCHING:
                nodes.append(ExistingNode(name=name, role=_role(levels), platform=platform_of(kinds[name])))
        links = tuple(self._wired(kinds))
        raise_all(self._faults[:SAID])
        return ExistingTopology(source=Path(self._where).name, nodes=tuple(nodes), links=links)

    def _definitions(self, name: str) -> tuple[Keyed, Keyed, Keyed]:
        """A node's own definition, its group's and its kind's: the nearest first. A group need not be defined."""
        node = self._keyed(self._levels["nodes"], name)
        group = self._keyed(self._levels["groups"], words(node.entries).get("group") or self._defaults.get("group"))
        kind = words(node.entries).get("kind") or words(group.entries).get("kind") or self._defaults.get("kind")
        return node, group, self._keyed(self._levels["kinds"], kind)

    def _kind(self, name: str, levels: tuple[Keyed, Keyed, Keyed]) -> str | None:
        node, group, _ = levels
        kind = words(node.entries).get("kind") or words(group.entries).get("kind") or self._defaults.get("kind")
        if kind is None:
            line = self._levels["nodes"].lines[name]
            self._report(line, f"node {name} has no kind", "Set the kind of the node, its group or the defaults")
        return kind

    def _wired(self, kinds: Mapping[str, str | None]) -> Iterator[ExistingLink]:
        """Links between two nodes of the fabric."""
        taken: dict[tuple[str, str], int] = {}
        for link in self._links.entries:
            ends = [end for end in self._ends(link) if self._is_known(end, kinds)]
            for end in ends:
                before = taken.setdefault((end.node, end.interface), end.line)
                if before != end.line or (len(ends) == 2 and ends[0] == ends[1]):
                    problem = f"{end.node}:{end.interface} is also an end of the link on line {before}"
                    self._report(end.line, problem, "Give each link interfaces of its own")
            if len(ends) == 2 and not {kinds[end.node] for end in ends} & WITHOUT_SWITCHING:
                yield ExistingLink(_port(ends[0], kinds), _port(ends[1], kinds))

    def _is_known(self, end: _End, kinds: Mapping[str, str | None]) -> bool:
        if end.node not in kinds:
            self._report(end.line, f"node {end.node!r} of a link is not in the file", "Define it under topology.nodes")
        return end.node in kinds

    def _ends(self, link: Tree) -> list[_End]:
        """Both ends of a link that has two nodes; none of another."""
        if not isinstance(link, Keyed):
            self._report(link.line, "a link is not a mapping", 'Write `endpoints: ["a:eth1", "b:eth1"]`')
            return []
        kind = words(link.entries).get("type", "brief").strip().lower()
        if kind in ONE_ENDED:
            return []
        if kind not in TWO_ENDED and kind != "brief":
            known = ", ".join(sorted(TWO_ENDED | ONE_ENDED))
            self._report(link.line, f"{kind!r} is not a link type", f"Use one of {known}")
            return []
        endpoints = link.entries.get("endpoints")
        if not isinstance(endpoints, Listed) or len(endpoints.entries) != 2:
            count = len(endpoints.entries) if isinstance(endpoints, Listed) else "no list of"
            self._report(link.line, f"a link has {count} endpoints", "Write two endpoints")
            return []
        ends = [self._short(end) if kind == "brief" else self._long(end) for end in endpoints.entries]
        if kind == "brief" and any(end is not None and end.node.lower() in ONE_ENDED for end in ends):
            return []
        return [end for end in ends if end is not None]

    def _short(self, end: Tree) -> _End | None:
        """`node:interface`"""
        node, colon, interface = end.text.partition(":") if isinstance(end, Text) else ("", "", "")
        if node and colon and interface and interface.isprintable():
            return _End(node, interface, end.line)
        self._report(end.line, "an endpoint is not of the form node:interface", "Write it so, or give the link a type")
        return None

    def _long(self, end: Tree) -> _End | None:
        """`{node: ..., interface: ...}`"""
        said = words(end.entries) if isinstance(end, Keyed) else {}
        if said.get("node") and said.get("interface", "").isprintable() and said.get("interface"):
            return _End(said["node"], said["interface"], end.line, tuple(self._addresses(end.line, said)))
        self._report(end.line, "an endpoint lacks node or interface", "Give both")
        return None

    def _addresses(self, line: int, said: Mapping[str, str]) -> Iterator[Interface]:
        for key in ("ipv4", "ipv6"):
            try:
                if key in said:
                    yield ip_interface(said[key])
            except ValueError:
                self._report(line, f"{said[key]!r} is not an {key} address", "Write address/length")

    def _keyed(self, mapping: Keyed, key: str | None) -> Keyed:
        """The mapping under a key; an empty one where there is none."""
        value = mapping.entries.get(key or "")
        if isinstance(value, Keyed):
            return value
        if value is not None and not (isinstance(value, Text) and value.is_null):
            self._report(value.line, f"{key} is not a mapping", "Write the keys below, indented")
        return Keyed({}, {}, value.line if value else mapping.line)

    def _listed(self, mapping: Keyed, key: str) -> Listed:
        value = mapping.entries.get(key)
        if isinstance(value, Listed):
            return value
        if value is not None and not (isinstance(value, Text) and value.is_null):
            self._report(value.line, f"{key} is not a list", "Begin each entry with a dash")
        return Listed([], mapping.line)

    def _report(self, line: int, problem: str, remedy: str) -> None:
        fault = SourceError(f"{self._where}:{line}", problem, remedy)
        if str(fault) not in {str(said) for said in self._faults[-SAID:]}:
            self._faults.append(fault)


def _port(end: _End, kinds: Mapping[str, str | None]) -> ExistingPort:
    return ExistingPort(
        node=end.node,
        name=end.interface,
        position=position(kinds[end.node], end.interface),
        addresses=end.addresses,
    )


def _role(levels: tuple[Keyed, ...]) -> Role | None:
    """The role in the labels of a node; None if they contain no known role."""
    for level in levels:
        labels = level.entries.get("labels")
        for key, value in words(labels.entries).items() if isinstance(labels, Keyed) else ():
            if key.startswith(ROLE_LABEL) and value in ROLES:
                return ROLES[value]
    return None
