"""Where everything stands: spines above, rail switches below them by segment, hosts at the bottom; hosts that repeat
are one card. A grid needs no solver, and the same topology always gives the same picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from railfab.draw.svg import Box
from railfab.topology import Link, Node, Role, Topology

SWITCH_WIDTH, SWITCH_HEIGHT = 188.0, 58.0
CARD_HEIGHT, CARD_MIN_WIDTH = 92.0, 240.0
GAP, SEGMENT_GAP, POD_GAP = 24.0, 48.0, 72.0
GUTTER, MARGIN = 132.0, 24.0
TITLE_HEIGHT, TIER_GAP = 64.0, 132.0

SPINES_Y = TITLE_HEIGHT
LEAVES_Y = SPINES_Y + SWITCH_HEIGHT + TIER_GAP
HOSTS_Y = LEAVES_Y + SWITCH_HEIGHT + TIER_GAP * 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class HostCard:
    """Hosts of one segment that are cabled alike. links: those of the first host, which stand for all."""

    hosts: tuple[Node, ...]
    links: tuple[Link, ...]
    box: Box


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    switches: Mapping[str, Box]
    cards: tuple[HostCard, ...]
    size: Box


def layout(topology: Topology) -> Layout:
    """Places for all switches and hosts of a fabric, pods from left to right."""
    switches: dict[str, Box] = {}
    cards: list[HostCard] = []
    x = GUTTER
    for pod in sorted({node.pod for node in topology.nodes}):
        width = _place_pod(topology, pod, x, switches, cards)
        x += width + POD_GAP
    return Layout(
        switches=switches,
        cards=tuple(cards),
        size=Box(0, 0, x - POD_GAP + MARGIN, HOSTS_Y + CARD_HEIGHT + MARGIN),
    )


def _place_pod(topology: Topology, pod: int, x: float, switches: dict[str, Box], cards: list[HostCard]) -> float:
    """Places one pod from x on; its width."""
    spines = [node for node in topology.nodes if node.role is Role.SPINE and node.pod == pod]
    segments = _segments(topology, pod)
    widths = [_segment_width(leaves, len(alike)) for leaves, alike in segments]
    below = sum(widths) + SEGMENT_GAP * max(len(widths) - 1, 0)
    width = max(below, _row_width(len(spines)))
    switches.update(_row(spines, x, SPINES_Y, width))
    left = x + (width - below) / 2
    for (leaves, alike), segment_width in zip(segments, widths, strict=True):
        switches.update(_row(leaves, left, LEAVES_Y, segment_width))
        cards.extend(_cards(alike, left, segment_width))
        left += segment_width + SEGMENT_GAP
    return width


Alike = list[tuple[tuple[Node, ...], tuple[Link, ...]]]


def _segments(topology: Topology, pod: int) -> list[tuple[list[Node], Alike]]:
    """For each segment of a pod: its rail switches, and its hosts in groups that are cabled alike."""
    inside = [node for node in topology.nodes if node.pod == pod and node.segment is not None]
    numbers = sorted({node.segment for node in inside if node.segment is not None})
    return [
        (
            [node for node in inside if node.segment == number and node.role is Role.LEAF],
            _alike(topology, [node for node in inside if node.segment == number and node.role is Role.HOST]),
        )
        for number in numbers
    ]


def _alike(topology: Topology, hosts: Sequence[Node]) -> Alike:
    """Neighbouring hosts with equal cables to equal switches, together."""
    links: dict[str, list[Link]] = {host.name: [] for host in hosts}
    for link in topology.links:
        if link.a.node in links:
            links[link.a.node].append(link)

    def cabling(host: Node) -> tuple[tuple[str, int, int], ...]:
        return tuple((link.z.node, link.a.rail or 0, link.rate_gbps) for link in links[host.name])

    groups = (tuple(group) for _, group in groupby(hosts, key=cabling))
    return [(group, tuple(links[group[0].name])) for group in groups]


def _segment_width(leaves: Sequence[Node], cards: int) -> float:
    return max(_row_width(len(leaves)), cards * CARD_MIN_WIDTH + GAP * max(cards - 1, 0))


def _row_width(count: int) -> float:
    return count * SWITCH_WIDTH + GAP * max(count - 1, 0)


def _row(nodes: Sequence[Node], x: float, y: float, width: float) -> dict[str, Box]:
    """Switches side by side, in the middle of the width."""
    left = x + (width - _row_width(len(nodes))) / 2
    return {
        node.name: Box(left + place * (SWITCH_WIDTH + GAP), y, SWITCH_WIDTH, SWITCH_HEIGHT)
        for place, node in enumerate(nodes)
    }


def _cards(alike: Alike, x: float, width: float) -> Iterator[HostCard]:
    """Cards that share the width of their segment."""
    each = (width - GAP * (len(alike) - 1)) / max(len(alike), 1)
    for place, (hosts, links) in enumerate(alike):
        yield HostCard(hosts=hosts, links=links, box=Box(x + place * (each + GAP), HOSTS_Y, each, CARD_HEIGHT))
