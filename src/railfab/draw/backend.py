"""The picture of the backend: tiers from top to bottom; planes, pods, segments from left to right; rails in colour."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from railfab.draw.cables import Cabling
from railfab.draw.captions import LINE, SINGULARS, HostCaptions, SwitchCaptions, everyone, lags, names_of
from railfab.draw.cells import Cell
from railfab.draw.faces import Faces, faces
from railfab.draw.layout import GUTTER, HEADER, MARGIN, SWITCH_HEIGHT, TITLE_HEIGHT, Layout, Measures, arrange
from railfab.draw.svg import fitted, words
from railfab.draw.tally import Joint, Pair, Tier, cable_lines, joints, tier_lines, tiers
from railfab.draw.tiles import card_height, card_tile, frame_tile, switch_tile
from railfab.draw.view import View, Viewer
from railfab.draw.wires import Wiring, tier
from railfab.intent import Hosts
from railfab.topology import Net, Role, Topology
from railfab.units import counted

TIER_NAMES = {Role.SUPER: "Super-spines", Role.SPINE: "Spines", Role.LEAF: "Rail switches", Role.HOST: "Hosts"}


@dataclass(frozen=True)
class Picture:
    """The backend of a topology, in words and boxes. named: leave room for its name; least_width: of the page [px]."""

    topology: Topology
    wiring: Wiring
    hosts: Hosts | None
    named: bool = False
    least_width: float = 0.0

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
            role: LINE * (len(tier_lines(here)) + len(cable_lines(here))) + 80 for role, here in self.tiers.items()
        }
        return Measures(
            card_height=self._card_height,
            tier_heights=heights,
            peers=Role.LEAF in self.tiers and bool(self.tiers[Role.LEAF].peers),
            leaf_height=SWITCH_HEIGHT + self.faces.height,
            leaf_width=self.faces.width,
            top=TITLE_HEIGHT + (HEADER if self.named else 0),
            least_width=self.least_width,
        )

    @cached_property
    def faces(self) -> Faces:
        return faces(self.topology, [self.topology.nodes[place] for place in self.inside])

    def _card_height(self, cell: Cell, width: float) -> float:
        notes = len(self.host_captions.lines(cell, width)) - 1
        inside = self.host_captions.scale_up(width)
        return card_height(notes, chips=self.host_captions.has_rails(cell), scale_up=bool(inside))

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
        """Rails of each cell of hosts or rail switches that has any."""
        found: dict[int, set[int]] = {}
        for pair, joint in self.joints.items():
            for key in pair:
                found.setdefault(key, set()).update(joint.rails.keys() - {0})
        return found

    @cached_property
    def switch_captions(self) -> SwitchCaptions:
        vlans = {high: joint.vlans for (_, high), joint in self.joints.items() if joint.vlans}
        return SwitchCaptions(self.topology.nodes, self.rails, vlans)

    def body(self) -> Iterator[str]:
        yield from self._tiers()
        yield from (part for frame in self.layout.frames for part in frame_tile(frame))
        yield from self._cabling().lines()
        for cell in self.cells.values():
            yield from self._card(cell) if cell.role is Role.HOST else self._switch(cell)

    def _cabling(self) -> Cabling:
        several = len(self.view.planes) > 1
        planes = {cell.key: plane.number for plane in self.view.planes for cell in plane.cells() if several}
        return Cabling(self.layout.boxes, self.joints, names_of(self.topology.nodes, self.cells), planes)

    def summary(self) -> str:
        """`8 hosts · 4 rail switches · 4 spines · 160 cables`"""
        counts = Counter(self.topology.nodes[place].role for place in self.inside)
        gpus = [(counts[Role.HOST] * self.hosts.gpus, "GPU")] if self.hosts else []
        roles = [(counts[role], SINGULARS[role]) for role in (Role.HOST, Role.LEAF, Role.SPINE, Role.SUPER)]
        parts = (*gpus, *roles, (self.wiring.total(), "cable"))
        return " · ".join(counted(count, what) for count, what in parts if count)

    def _tiers(self) -> Iterator[str]:
        """Beside each tier its name, what it is made of, and the cables below it."""
        room = GUTTER - MARGIN - 8
        for role, y in self.layout.rows.items():
            if role not in {cell.role for cell in self.cells.values()}:
                continue
            yield words(MARGIN, y + 20, TIER_NAMES[role], "title")
            about = tier_lines(self.tiers[role]) if role in self.tiers else self._host_lines()
            below = cable_lines(self.tiers[role]) if role in self.tiers else []
            start = max(y + 104, y + 50 + LINE * len(about))
            for place, line in enumerate(about):
                yield words(MARGIN, y + 36 + LINE * place, fitted(line, room, 11), "side")
            for place, line in enumerate(below):
                yield words(MARGIN, start + LINE * place, fitted(line, room, 11), "side")

    def _host_lines(self) -> list[str]:
        count = sum(self.topology.nodes[place].role is Role.HOST for place in self.inside)
        return [f"{count:,} × {counted(self.hosts.gpus, 'GPU')}"] if self.hosts else [f"{count:,}"]

    def _switch(self, cell: Cell) -> Iterator[str]:
        box, tooltip = self.layout.boxes[cell.key], everyone(self.topology.nodes, cell)
        lines = self.switch_captions.lines(cell, box.width)
        rails = set() if self.faces.height else self.rails.get(cell.key, set())
        yield switch_tile(box, cell, lines, tooltip=tooltip, rails=rails, height=SWITCH_HEIGHT)
        if cell.role is Role.LEAF:
            yield from self.faces.drawn(cell.key, box, box.y + SWITCH_HEIGHT)

    def _card(self, cell: Cell) -> Iterator[str]:
        box, tooltip = self.layout.boxes[cell.key], everyone(self.topology.nodes, cell)
        lines = self.host_captions.lines(cell, box.width)
        inside, rails = self.host_captions.scale_up(box.width), sorted(self.rails.get(cell.key, ()))
        yield card_tile(box, cell, lines, tooltip=tooltip, rails=rails, scale_up=inside)
