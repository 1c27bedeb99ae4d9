"""Front panels: which port serves which rail, where there are few switches and room to show it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from railfab.draw.palette import rail_colour
from railfab.draw.svg import Box, rectangle, title
from railfab.topology import Node, Port, Role, Topology

MOST_SWITCHES, MOST_CAGES = 2, 128
PORT, PORT_GAP = 10.0, 3.0
ROW = PORT + PORT_GAP

Lanes = Sequence[tuple[Port, Port]]
"""The ports of one cage that are in use, each with its peer."""


@dataclass(frozen=True, slots=True)
class Faces:
    """Front panels by place of the switch: how many cages it has, and the ports in use of each. Odd cages are above."""

    panels: Mapping[int, tuple[int, Mapping[int, Lanes]]]

    @property
    def height(self) -> float:
        """What a panel adds to a box [px]."""
        return 2 * ROW + 6 if self.panels else 0.0

    @property
    def width(self) -> float:
        """Of the widest, with its margins [px]."""
        return max(((cages + 1) // 2 * ROW + 24 for cages, _ in self.panels.values()), default=0.0)

    def drawn(self, place: int, box: Box, y: float) -> Iterator[str]:
        """One square a cage, in the colours of its rails."""
        if place not in self.panels:
            return
        cages, used = self.panels[place]
        left = box.middle - ((cages + 1) // 2 * ROW - PORT_GAP) / 2
        for cage in range(1, cages + 1):
            column, row = divmod(cage - 1, 2)
            yield from _cage(cage, used.get(cage, ()), Box(left + column * ROW, y + row * ROW, PORT, PORT))


def faces(topology: Topology, nodes: Sequence[Node]) -> Faces:
    """Panels of the rail switches among these, if they are few."""
    leaves = [node for node in nodes if node.role is Role.LEAF]
    if len(leaves) > MOST_SWITCHES:
        return Faces({})
    place = {node.name: number for number, node in enumerate(topology.nodes)}
    panels = {place[leaf.name]: _panel(topology, leaf) for leaf in leaves}
    return Faces({number: panel for number, panel in panels.items() if panel[1] and panel[0] <= MOST_CAGES})


def _panel(topology: Topology, leaf: Node) -> tuple[int, Mapping[int, Lanes]]:
    used: dict[int, list[tuple[Port, Port]]] = {}
    for port, peer, _ in topology.ports_of(leaf.name):
        if port.cage:
            used.setdefault(port.cage, []).append((port, peer))
    model = topology.models.get(leaf.model or "")
    return max(max(used, default=0), model.cages if model else 0), used


def _cage(cage: int, lanes: Lanes, box: Box) -> Iterator[str]:
    if not lanes:
        yield rectangle(box, "empty", title(f"cage {cage}: free"), radius=2)
        return
    tooltip = title(f"cage {cage}: {'; '.join(_use(port, peer) for port, peer in lanes)}")
    rails = list(dict.fromkeys(port.rail for port, _ in lanes))
    each = box.width / len(rails)
    for place, rail in enumerate(rails):
        part = Box(box.x + place * each, box.y, each, box.height)
        if rail is None:
            yield rectangle(part, "trunk", tooltip, radius=2)
        else:
            yield rectangle(part, "", tooltip, radius=2 if len(rails) == 1 else 0, fill=rail_colour(rail))


def _use(port: Port, peer: Port) -> str:
    return f"{f'rail {port.rail}, ' if port.rail else ''}{peer.node}"
