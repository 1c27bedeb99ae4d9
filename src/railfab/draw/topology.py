"""A fabric as a picture: tiers from top to bottom, segments from left to right, rails in colours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator

from railfab.draw.layout import (
    CARD_HEIGHT,
    HOSTS_Y,
    LEAVES_Y,
    MARGIN,
    SPINES_Y,
    SWITCH_HEIGHT,
    HostCard,
    Layout,
    layout,
)
from railfab.draw.svg import Box, document, element, rectangle, title, words
from railfab.topology import Link, Node, Role, Topology

RAIL_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#b3a600", "#8c6bb1")
"""Okabe and Ito's colours, told apart by colour-blind readers too; the yellow is darker to show on white."""

CHIP, CHIP_GAP = 20.0, 4.0
STRAND_GAP, STRANDS_WIDTH = 5.0, 140.0

STYLE = """
text{font:12px system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;fill:#57606a}
.head{font-size:18px;font-weight:600;fill:#24292f}
.name{font-weight:600;fill:#24292f;text-anchor:middle}
.note{font-size:11px;text-anchor:middle}
.tier{font-weight:600;fill:#24292f}
.chip{font-size:10px;font-weight:600;fill:#fff;text-anchor:middle}
.leaf,.spine,.hosts{fill:#f6f8fa;stroke:#8c959f}
.spine{stroke-width:1.5}
.cable{fill:none;stroke:#8c959f;stroke-opacity:.75}
.strand{fill:none;stroke-opacity:.85}
@media(prefers-color-scheme:dark){
text{fill:#9da7b3}
.head,.name,.tier{fill:#e6edf3}
.leaf,.spine,.hosts{fill:#161b22;stroke:#6e7681}
.cable{stroke:#6e7681}
}
"""


def topology_svg(topology: Topology) -> str:
    """The fabric as an SVG that suits light and dark pages. Deterministic; every switch is named, hosts that are
    cabled alike are one card."""
    places = layout(topology)
    body = (
        *_heading(topology),
        *_fabric_cables(topology, places),
        *_host_cables(places),
        *(_switch(node, topology, places.switches[node.name]) for node in topology.switches()),
        *(_card(card) for card in places.cards),
    )
    return document(places.size, f"Topology of the fabric {topology.fabric}", STYLE, body)


def rail_colour(rail: int) -> str:
    return RAIL_COLOURS[(rail - 1) % len(RAIL_COLOURS)]


def _heading(topology: Topology) -> Iterator[str]:
    counts = Counter(node.role for node in topology.nodes)
    yield words(MARGIN, 32, topology.fabric, "head")
    parts = (
        (counts[Role.HOST], "host"),
        (counts[Role.LEAF], "rail switch"),
        (counts[Role.SPINE], "spine"),
        (len(topology.links), "cable"),
    )
    yield words(MARGIN, 50, " · ".join(_counted(count, what) for count, what in parts if count), "")
    roles = {node.name: node.role for node in topology.nodes}
    for role, y, name in ((Role.SPINE, SPINES_Y, "Spines"), (Role.LEAF, LEAVES_Y, "Rail switches")):
        if counts[role]:
            yield words(MARGIN, y + SWITCH_HEIGHT / 2, name, "tier")
            below = [link for link in topology.links if roles[link.z.node] is role]
            yield from _cable_notes(below, y + SWITCH_HEIGHT)
    yield words(MARGIN, HOSTS_Y + CARD_HEIGHT / 2, "Hosts", "tier")


def _cable_notes(links: Iterable[Link], y: float) -> Iterator[str]:
    """How many cables of which kind lie below a tier."""
    kinds = Counter((link.rate_gbps, link.cable_m) for link in links)
    for place, ((rate_gbps, cable_m), count) in enumerate(sorted(kinds.items())):
        yield words(MARGIN, y + 46 + 16 * place, f"{count} × {rate_gbps}G, {cable_m:g} m", "")


def _counted(count: int, what: str) -> str:
    plural = {"rail switch": "rail switches"}.get(what, f"{what}s")
    return f"{count} {what if count == 1 else plural}"


def _fabric_cables(topology: Topology, places: Layout) -> Iterator[str]:
    """One curve for each pair of switches, thicker where they share more cables."""
    switches = places.switches
    pairs = Counter((link.a.node, link.z.node, link.rate_gbps) for link in topology.links if link.a.node in switches)
    for (low, high, rate_gbps), count in pairs.items():
        ends = (switches[low].middle, switches[low].y), (switches[high].middle, switches[high].bottom)
        note = f"{low} to {high}: {count} × {rate_gbps}G"
        yield _cable(*ends, class_="cable", width=0.75 + 0.5 * count, note=note)


def _host_cables(places: Layout) -> Iterator[str]:
    """From each card to each of its switches, one strand a rail in the rail's colour."""
    for card in places.cards:
        strands = Counter((link.z.node, link.a.rail or 1) for link in card.links)
        for switch in dict.fromkeys(switch for switch, _ in strands):
            served = sorted(rail for other, rail in strands if other == switch)
            for place, rail in enumerate(served):
                shift = (place - (len(served) - 1) / 2) * min(STRAND_GAP, STRANDS_WIDTH / len(served))
                note = f"{switch}, rail {rail}: {strands[switch, rail] * len(card.hosts)} cables"
                yield _strand(card.box, places.switches[switch], shift, rail, note)


def _strand(card: Box, switch: Box, shift: float, rail: int, note: str) -> str:
    """Straight up where the card is below the switch, else bent towards it. shift: from the switch's middle [px]."""
    end = switch.middle + shift
    start = min(max(end, card.x + 24), card.x + card.width - 24)
    return _cable(
        (start, card.y), (end, switch.bottom), class_="strand", width=1.75, note=note, stroke=rail_colour(rail)
    )


Point = tuple[float, float]


def _cable(start: Point, end: Point, *, class_: str, width: float, note: str, **attributes: str) -> str:
    """From a point upwards to another, leaving and arriving upright."""
    (x, y), (to_x, to_y) = start, end
    half = (y + to_y) / 2
    path = f"M{x:g} {y:g}C{x:g} {half:g} {to_x:g} {half:g} {to_x:g} {to_y:g}"
    return element("path", title(note), d=path, class_=class_, stroke_width=width, **attributes)


def _switch(node: Node, topology: Topology, box: Box) -> str:
    """Its name, model and AS number; for a rail switch the rails it serves, with a band where it serves one."""
    rails = sorted({port.rail for port, _, _ in topology.ports_of(node.name) if port.rail is not None})
    top = box.y + (20 if rails else 27)
    parts = [words(box.middle, top, node.name, "name"), words(box.middle, top + 15, _facts(node), "note")]
    if rails:
        parts.append(words(box.middle, top + 29, _rails(rails), "note"))
    if len(rails) == 1:
        parts.append(rectangle(Box(box.x, box.y + 8, 4, box.height - 16), "", fill=rail_colour(rails[0])))
    return element("g", rectangle(box, node.role.value), *parts)


def _facts(node: Node) -> str:
    return " · ".join(fact for fact in (node.model, f"AS {node.asn}" if node.asn else None) if fact)


def _rails(rails: Iterable[int]) -> str:
    """`rail 3`, `rails 1-8` or `rails 1, 3`."""
    numbers = sorted(set(rails))
    if len(numbers) == 1:
        return f"rail {numbers[0]}"
    if numbers == list(range(numbers[0], numbers[-1] + 1)):
        return f"rails {numbers[0]}-{numbers[-1]}"
    return "rails " + ", ".join(map(str, numbers))


def _card(card: HostCard) -> str:
    """Hosts by name, and their rails as coloured chips."""
    first, last = card.hosts[0].name, card.hosts[-1].name
    names = first if first == last else f"{first} … {last.rpartition('-')[2]}"
    ports = Counter(link.a.rail or 1 for link in card.links)
    note = f"{_counted(len(card.hosts), 'host')} of {_counted(len(ports), 'rail')}, {_ports(ports)}"
    box = card.box
    return element(
        "g",
        rectangle(box, "hosts", title(", ".join(host.name for host in card.hosts))),
        words(box.middle, box.y + 24, names, "name"),
        words(box.middle, box.y + 40, note, "note"),
        *_chips(sorted(ports), box),
    )


def _ports(ports: Counter[int]) -> str:
    """How many NIC ports a host has on each rail."""
    counts = sorted(set(ports.values()))
    return f"{_counted(counts[0], 'port')} each" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} ports each"


def _chips(rails: list[int], box: Box) -> Iterator[str]:
    """One chip a rail, in rows as wide as the card allows."""
    in_row = max(int((box.width - 24 + CHIP_GAP) // (CHIP + CHIP_GAP)), 1)
    width = min(len(rails), in_row) * (CHIP + CHIP_GAP) - CHIP_GAP
    for place, rail in enumerate(rails):
        x = box.middle - width / 2 + (place % in_row) * (CHIP + CHIP_GAP)
        y = box.y + 54 + (place // in_row) * (CHIP + CHIP_GAP)
        yield rectangle(Box(x, y, CHIP, CHIP), "", title(f"rail {rail}"), radius=4, fill=rail_colour(rail))
        yield words(x + CHIP / 2, y + CHIP - 6, str(rail), "chip")
