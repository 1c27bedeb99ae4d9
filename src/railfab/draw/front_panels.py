"""Front panels of rail switches: the rail of each cage. Drawn for few switches only."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from railfab.draw.palette import rail_colour
from railfab.draw.svg import Box, rectangle, title
from railfab.topology import CabledPort, Node, Role, Topology

MOST_SWITCHES, MOST_CAGES = 2, 128
PORT, PORT_GAP = 10.0, 3.0
ROW = PORT + PORT_GAP

UsedPorts = Sequence[tuple[CabledPort, CabledPort]]
"""Ports of one cage that are in use, each with its peer."""


@dataclass(frozen=True, slots=True)
class FrontPanels:
    """Number of cages and used ports of each cage, by index of the switch. Odd cages are in the upper row."""

    panels: Mapping[int, tuple[int, Mapping[int, UsedPorts]]]

    @property
    def height(self) -> float:
        """Height that a panel adds to the box of a switch [px]."""
        return 2 * ROW + 6 if self.panels else 0.0

    @property
    def width(self) -> float:
        """Width of the widest panel with its margins [px]."""
        return max(((cages + 1) // 2 * ROW + 24 for cages, _ in self.panels.values()), default=0.0)

    def svg(self, index: int, box: Box, y: float) -> Iterator[str]:
        """One square for each cage, in the colours of its rails."""
        if index not in self.panels:
            return
        cages, used = self.panels[index]
        left = box.middle - ((cages + 1) // 2 * ROW - PORT_GAP) / 2
        for cage in range(1, cages + 1):
            column, row = divmod(cage - 1, 2)
            yield from _cage(cage, used.get(cage, ()), Box(left + column * ROW, y + row * ROW, PORT, PORT))


def front_panels(topology: Topology, nodes: Sequence[Node]) -> FrontPanels:
    """Panels of the rail switches among the nodes; none if there are more than MOST_SWITCHES."""
    leaves = [node for node in nodes if node.role is Role.LEAF]
    if len(leaves) > MOST_SWITCHES:
        return FrontPanels({})
    indices = {node.name: index for index, node in enumerate(topology.nodes)}
    panels = {indices[leaf.name]: _panel(topology, leaf) for leaf in leaves}
    return FrontPanels({index: panel for index, panel in panels.items() if panel[1] and panel[0] <= MOST_CAGES})


def _panel(topology: Topology, leaf: Node) -> tuple[int, Mapping[int, UsedPorts]]:
    used: dict[int, list[tuple[CabledPort, CabledPort]]] = {}
    for port, peer, _ in topology.ports_of(leaf.name):
        if port.cage:
            used.setdefault(port.cage, []).append((port, peer))
    model = topology.models.get(leaf.model or "")
    return max(max(used, default=0), model.cages if model else 0), used


def _cage(cage: int, ports: UsedPorts, box: Box) -> Iterator[str]:
    if not ports:
        yield rectangle(box, "empty", title(f"cage {cage}: free"), radius=2)
        return
    tooltip = title(f"cage {cage}: {'; '.join(_use(port, peer) for port, peer in ports)}")
    rails = list(dict.fromkeys(port.rail for port, _ in ports))
    each = box.width / len(rails)
    for index, rail in enumerate(rails):
        part = Box(box.x + index * each, box.y, each, box.height)
        if rail is None:
            yield rectangle(part, "trunk", tooltip, radius=2)
        else:
            yield rectangle(part, "", tooltip, radius=2 if len(rails) == 1 else 0, fill=rail_colour(rail))


def _use(port: CabledPort, peer: CabledPort) -> str:
    return f"{f'rail {port.rail}, ' if port.rail else ''}{peer.node}"
