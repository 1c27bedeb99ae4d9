"""A cluster as a picture: tiers from top to bottom, planes, pods and segments from left to right, rails in colours.

What repeats is shown once, with a box that says what else is as it; so the picture of a hundred thousand GPUs is as
large as that of a few hundred.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from railfab.draw.cables import Cabling
from railfab.draw.captions import SINGULARS, HostCaptions, SwitchCaptions, counted, everyone
from railfab.draw.cells import Cell
from railfab.draw.layout import GUTTER, MARGIN, Frame, Layout, Measures, arrange
from railfab.draw.palette import ink_on, plane_colour, rail_colour, style
from railfab.draw.svg import Box, document, element, fitted, rectangle, title, words
from railfab.draw.tally import Joint, Pair, Tier, cable_lines, joints, tier_lines, tiers
from railfab.draw.view import View, Viewer
from railfab.draw.wires import Wiring, read_wiring, tier
from railfab.intent import Hosts
from railfab.topology import Net, Role, Topology

CHIP, CHIP_GAP = 20.0, 4.0
LINE = 15.0
TIER_NAMES = {Role.SUPER: "Super-spines", Role.SPINE: "Spines", Role.LEAF: "Rail switches", Role.HOST: "Hosts"}


def topology_svg(topology: Topology, hosts: Hosts | None = None) -> str:
    """The cluster as an SVG that suits light and dark pages. Deterministic. hosts: what a host is, to show its GPUs."""
    wiring = read_wiring(topology)
    backend = Picture(topology, wiring[Net.BACKEND], hosts)
    body = tuple(backend.body())
    size = backend.layout.size
    page = rectangle(size, "page", radius=8)
    return document(size, f"Topology of the fabric {topology.fabric}", style(), (page, *body))


@dataclass(frozen=True)
class Picture:
    """The backend of a topology, in words and boxes."""

    topology: Topology
    wiring: Wiring
    hosts: Hosts | None

    @cached_property
    def inside(self) -> tuple[int, ...]:
        """Places of the hosts and of the switches of this network."""
        nodes = enumerate(self.topology.nodes)
        return tuple(place for place, node in nodes if node.net is Net.BACKEND and node.role in TIER_NAMES)

    @cached_property
    def tiers(self) -> Mapping[Role, Tier]:
        return tiers(self.wiring, [place for place in self.inside if tier(self.topology.nodes[place])])

    @cached_property
    def layout(self) -> Layout:
        return arrange(Viewer(self.wiring, self.inside), self._measures())

    def _measures(self) -> Measures:
        heights = {
            role: 2 * LINE + LINE * (len(tier_lines(here)) + len(cable_lines(here))) + 50
            for role, here in self.tiers.items()
        }
        peers = Role.LEAF in self.tiers and bool(self.tiers[Role.LEAF].peers)
        return Measures(card_height=self._card_height, tier_heights=heights, peers=peers)

    def _card_height(self, cell: Cell, width: float) -> float:
        notes = len(self.host_captions.lines(cell, width)) - 1
        return 34 + LINE * notes + CHIP + 22 + (26 if self.host_captions.scale_up(width) else 0)

    @property
    def view(self) -> View:
        return self.layout.view

    @cached_property
    def cells(self) -> dict[int, Cell]:
        return {cell.key: cell for cell in self.view.cells()}

    @cached_property
    def joints(self) -> dict[Pair, Joint]:
        return joints(self.wiring, self.cells.values())

    @cached_property
    def host_captions(self) -> HostCaptions:
        return HostCaptions(self.wiring, self.hosts, lags(self.topology))

    @cached_property
    def rails(self) -> dict[int, set[int]]:
        """Rails of each cell of hosts or rail switches."""
        found: dict[int, set[int]] = {}
        for (low, high), joint in self.joints.items():
            if self.cells[low].role is Role.HOST:
                for key in (low, high):
                    found.setdefault(key, set()).update(rail or 1 for rail in joint.rails)
        return found

    @cached_property
    def switch_captions(self) -> SwitchCaptions:
        vlans = {high: joint.vlans for (_, high), joint in self.joints.items() if joint.vlans}
        return SwitchCaptions(self.topology.nodes, self.rails, vlans)

    def body(self) -> Iterator[str]:
        yield from self._heading()
        yield from (frame for box in self.layout.frames for frame in _frame(box))
        yield from self._cabling().lines()
        for cell in self.cells.values():
            yield self._card(cell) if cell.role is Role.HOST else self._switch(cell)

    def _cabling(self) -> Cabling:
        several = len(self.view.planes) > 1
        planes = {cell.key: plane.number for plane in self.view.planes for cell in plane.cells() if several}
        names = {key: cell.name or self.topology.nodes[key].name for key, cell in self.cells.items()}
        return Cabling(self.layout, self.joints, self.cells, planes, names)

    def _heading(self) -> Iterator[str]:
        yield words(MARGIN, 32, self.topology.fabric, "head")
        counts = Counter(self.topology.nodes[place].role for place in self.inside)
        gpus = [(counts[Role.HOST] * self.hosts.gpus, "GPU")] if self.hosts else []
        roles = [(counts[role], SINGULARS[role]) for role in (Role.HOST, Role.LEAF, Role.SPINE, Role.SUPER)]
        parts = (*gpus, *roles, (sum(self.wiring.wires.values()), "cable"))
        yield words(MARGIN, 50, " · ".join(counted(count, what) for count, what in parts if count), "")
        for role, y in self.layout.rows.items():
            if counts[role]:
                yield words(MARGIN, y + 20, TIER_NAMES[role], "title")
                yield from self._beside(role, y)

    def _beside(self, role: Role, y: float) -> Iterator[str]:
        """What a tier is made of, and the cables below it."""
        if role not in self.tiers:
            return
        room = GUTTER - MARGIN - 8
        about, below = tier_lines(self.tiers[role]), cable_lines(self.tiers[role])
        for place, line in enumerate(about):
            yield words(MARGIN, y + 36 + LINE * place, fitted(line, room, 11), "side")
        start = max(y + 104, y + 36 + LINE * len(about) + 14)
        for place, line in enumerate(below):
            yield words(MARGIN, start + LINE * place, fitted(line, room, 11), "side")

    def _switch(self, cell: Cell) -> str:
        """Its name, model and AS number; for a rail switch the rails it serves, with a band if it serves one."""
        box = self.layout.boxes[cell.key]
        name, *notes = self.switch_captions.lines(cell, box.width)
        top = box.y + {0: 33, 1: 27}.get(len(notes), 20)
        parts = [words(box.middle, top, name, "name")]
        parts += (words(box.middle, top + LINE * place, note, "note") for place, note in enumerate(notes, start=1))
        rails = self.rails.get(cell.key, set())
        if len(rails) == 1:
            parts.append(rectangle(Box(box.x + 8, box.bottom - 5, box.width - 16, 3), "", fill=rail_colour(min(rails))))
        told = title(everyone(self.topology.nodes, cell))
        return element("g", told, *_sheets(box, cell), rectangle(box, cell.role.value), *parts)

    def _card(self, cell: Cell) -> str:
        """Hosts by name, their rails as coloured chips, and what joins their GPUs."""
        box = self.layout.boxes[cell.key]
        name, *notes = self.host_captions.lines(cell, box.width)
        top = box.y + (box.height - self._card_height(cell, box.width)) / 2
        parts = [words(box.middle, top + 24, name, "name")]
        parts += (words(box.middle, top + 25 + LINE * place, note, "note") for place, note in enumerate(notes, start=1))
        y = top + 39 + LINE * len(notes)
        parts += _chips(sorted(self.rails.get(cell.key, ())), box, y)
        inside = self.host_captions.scale_up(box.width)
        if inside:
            bar = Box(box.x + 12, y + CHIP + 6, box.width - 24, 18)
            parts += (rectangle(bar, "bare", radius=9), words(bar.middle, bar.y + 13, inside, "bar"))
        told = title(everyone(self.topology.nodes, cell))
        return element("g", told, *_sheets(box, cell), rectangle(box, "hosts"), *parts)


def lags(topology: Topology) -> dict[int, str]:
    """How hosts bundle their ports, by place."""
    place = {node.name: number for number, node in enumerate(topology.nodes)}
    return {
        place[bond.host]: "LAG per rail"
        if len(bond.switches) == 1
        else f"LAG over two switches ({'EVPN ESI' if bond.esi else 'MLAG'})"
        for bond in topology.bonds
        if bond.rail
    }


def _sheets(box: Box, cell: Cell) -> Iterator[str]:
    """The edges of more sheets behind a box that stands for many, hosts apart."""
    if cell.name:
        for shift in (6, 3):
            yield rectangle(
                Box(box.x + shift, box.y - shift, box.width, box.height),
                cell.role.value if cell.role is not Role.HOST else "hosts",
            )


def _frame(frame: Frame) -> Iterator[str]:
    box = frame.box
    if not frame.plane:
        yield rectangle(box, "frame", radius=10)
        yield words(box.x + 12, box.y + 19, frame.name.capitalize(), "title")
        return
    colour = plane_colour(frame.plane)
    yield rectangle(box, "frame", radius=10, style=f"stroke:{colour}")
    label = frame.name.capitalize()
    width = 24 + 8 * len(label)
    yield rectangle(Box(box.x + 12, box.y - 10, width, 20), "", radius=10, fill=colour)
    yield words(box.x + 12 + width / 2, box.y + 4, label, "chip").replace(
        "<text", f'<text style="fill:{ink_on(colour)}"', 1
    )


def _chips(rails: Sequence[int], box: Box, y: float) -> Iterator[str]:
    """One chip a rail, numbered where there is room."""
    room = box.width - 24
    size = min(CHIP, (room + CHIP_GAP) / max(len(rails), 1) - CHIP_GAP)
    if size < 5:
        return
    left = box.middle - (len(rails) * (size + CHIP_GAP) - CHIP_GAP) / 2
    for place, rail in enumerate(rails):
        x, colour = left + place * (size + CHIP_GAP), rail_colour(rail)
        yield rectangle(Box(x, y, size, size), "", title(f"rail {rail}"), radius=4, fill=colour)
        if size >= CHIP - 2:
            yield element(
                "text", str(rail), x=x + size / 2, y=y + size - 6, class_="chip", style=f"fill:{ink_on(colour)}"
            )
