"""What is written in the boxes of a picture, as much as fits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from railfab.draw.cells import PLURALS, Cell, ranges, short
from railfab.draw.svg import fitted, width_of
from railfab.draw.wires import Wiring
from railfab.intent import Hosts
from railfab.topology import Node, Role, Topology
from railfab.units import counted

NAME_SIZE, NOTE_SIZE = 12.0, 11.0
INSET = 6.0
SUPERS = "super-spines"
LINE = 15.0
MOST_NAMES, MOST_LETTERS = 64, 200
SINGULARS = {
    Role.HOST: "host",
    Role.SERVER: "storage server",
    Role.LEAF: "rail switch",
    Role.SPINE: "spine",
    Role.SUPER: "super-spine",
}


@dataclass(frozen=True, slots=True)
class SwitchCaptions:
    """rails, vlans: of the cells of rail switches that have any, by key."""

    nodes: Sequence[Node]
    rails: Mapping[int, set[int]]
    vlans: Mapping[int, set[int]]

    def lines(self, cell: Cell, width: float) -> list[str]:
        """Its name first: model, AS number and rails of one switch; of many what they are as, and how many."""
        if cell.name:
            like = first_that_fits([cell.like, cell.like.removeprefix("each ")], width)
            return boxed([fitting_name(cell.name, width), like, self._counted(cell, width)], width)
        node = self.nodes[cell.key]
        notes = first_that_fits(facts(node), width), self._served(cell, width)
        return boxed([fitting_name(node.name, width), *notes], width)

    def _counted(self, cell: Cell, width: float) -> str:
        rails = rails_text(self.rails.get(cell.key, ()))
        if counts_itself(cell):
            return rails
        count = counted(len(cell.places), SINGULARS[cell.role])
        return first_that_fits([_comma(count, rails), count, count.replace("rail ", "")], width)

    def _served(self, cell: Cell, width: float) -> str:
        text, vlans = rails_text(self.rails.get(cell.key, ())), self.vlans.get(cell.key, ())
        if not (text and vlans):
            return text
        return first_that_fits([f"{text} · VLAN{'s' if len(vlans) > 1 else ''} {ranges(vlans)}", text], width)


@dataclass(frozen=True, slots=True)
class HostCaptions:
    """hosts: what a host is, where it is known. lags: how ports are bundled, of hosts that bundle them, by place."""

    wiring: Wiring
    hosts: Hosts | None
    lags: Mapping[int, str]

    def lines(self, cell: Cell, width: float) -> list[str]:
        """Hosts by name, then how many, their rails and ports."""
        nodes = [self.wiring.nodes[place] for place in cell.places]
        name = cell.name or _hosts_name([node.name for node in nodes], [node.index for node in nodes], width)
        return boxed([name, *joined(self._phrases(cell, width), width)], width)

    def _phrases(self, cell: Cell, width: float) -> list[str]:
        ports = self._ports(cell)
        like = [cell.like] if cell.like else []
        count = counted(len(cell.places), "host")
        if not ports or cell.like:
            return like if counts_itself(cell) else [count, *like]
        if not any(ports):
            return [count, counted(ports.total(), "port") + " each"]
        shared = self.hosts is not None and self.hosts.gpus_per_nic > 1
        rails = counted(len(ports), "rail")
        together = f"{count} of {rails}"
        return [
            *([together] if width_of(together, NOTE_SIZE) <= width - INSET else [count, rails]),
            _each(ports),
            *([f"{self.hosts.gpus_per_nic} GPUs share a NIC"] if self.hosts is not None and shared else []),
            *([self.lags[cell.key]] if cell.key in self.lags else []),
        ]

    def has_rails(self, cell: Cell) -> bool:
        return any(self._ports(cell))

    def _ports(self, cell: Cell) -> Counter[int]:
        """Ports on each rail of a host of the cell."""
        found: Counter[int] = Counter()
        for wire in self.wiring.at(cell.key):
            found[self.wiring.kinds[wire.kind].rail] += self.wiring.wires[wire]
        return found

    def scale_up(self, width: float) -> str:
        """What joins the GPUs of a host."""
        if self.hosts is None or self.hosts.scale_up is None:
            return ""
        network, gpus = self.hosts.scale_up, counted(self.hosts.gpus, "GPU")
        rate = f"{rate_text(network.gbps_per_gpu)} each"
        return first_that_fits([f"{gpus} on {network.name}, {rate}", f"{gpus}, {network.name}", gpus], width - 24)


def counts_itself(cell: Cell) -> bool:
    """Its name says how many nodes it has."""
    return cell.name.startswith(f"{len(cell.places):,} ") and cell.name.endswith(PLURALS[cell.role])


def lags(topology: Topology) -> dict[int, str]:
    """How hosts bundle their ports on the backend, by place."""
    place = {node.name: number for number, node in enumerate(topology.nodes)}
    return {
        place[bond.host]: "LAG per rail"
        if len(bond.switches) == 1
        else f"LAG over two switches ({'EVPN ESI' if bond.esi else 'MLAG'})"
        for bond in topology.bonds
        if bond.rail
    }


def names_of(nodes: Sequence[Node], cells: Mapping[int, Cell]) -> dict[int, str]:
    """Who is in each cell, in a word or two."""
    return {key: fitted(cell.name, 400, NAME_SIZE) or nodes[key].name for key, cell in cells.items()}


def everyone(nodes: Sequence[Node], cell: Cell) -> str:
    """Who is in a cell: all names, or the first and last of many, with what a narrow box leaves out."""
    names = [nodes[place].name for place in cell.places]
    listed = ", ".join(names) if len(names) <= MOST_NAMES else f"{names[0]} … {names[-1]}, {len(names):,} in all"
    fact = facts(nodes[cell.key])[0] if len(names) == 1 else ""
    about = [part for part in (cell.name[:MOST_LETTERS], cell.like) if part]
    return ": ".join([*about, _comma(listed, fact)])


def boxed(lines: Sequence[str], width: float) -> list[str]:
    """A name and notes cut to the width of a box; no empty ones."""
    name, *notes = lines
    cut = (fitted(note, width - INSET, NOTE_SIZE) for note in notes if note)
    return [fitted(name, width - INSET, NAME_SIZE, bold=True), *cut]


def facts(node: Node) -> list[str]:
    """From all to the least that is said of a switch."""
    asn = f"AS {node.asn}" if node.asn else ""
    reflector = "reflector" if node.reflector else ""
    parts = [part for part in (node.model or "", asn, reflector) if part]
    return [" · ".join(parts), " · ".join(part for part in (asn, reflector) if part) or (node.model or ""), asn]


def _comma(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def first_that_fits(lines: Iterable[str], width: float, size: float = NOTE_SIZE, *, bold: bool = False) -> str:
    """The first line that fits a box, else the last."""
    chosen = ""
    for chosen in lines:
        if width_of(chosen, size, bold=bold) <= width - INSET:
            break
    return chosen


def fitting_name(name: str, width: float) -> str:
    """A name without as many of its first parts as must go: `seg1-leaf1` of `pod1-seg1-leaf1`, or `leaves 2-8` of
    `pod1-seg1 leaves 2-8`."""
    while width_of(name, NAME_SIZE, bold=True) > width - INSET:
        word, space, rest = name.partition(" ")
        if "-" in word and not word.startswith(SUPERS):
            name = word.partition("-")[2] + space + rest
        elif word.startswith("seg") and rest:
            name = rest
        elif SUPERS in name:
            name = name.replace(SUPERS, "supers")
        elif " more " in name:
            name = name.replace(" more ", " ")
        else:
            break
    return name


def joined(phrases: Sequence[str], width: float) -> list[str]:
    """Phrases in as few lines as fit."""
    lines: list[str] = []
    for phrase in phrases:
        longer = f"{lines[-1]}, {phrase}" if lines else phrase
        if lines and width_of(longer, NOTE_SIZE) <= width - INSET:
            lines[-1] = longer
        else:
            lines.append(phrase)
    return lines


def _hosts_name(names: Sequence[str], indices: Sequence[int], width: float) -> str:
    """`pod1-seg1-host1 … host4`, or `pod1-seg1-host1 … host6: 1-2, 4-6`, without the first parts where it is long."""
    if len(names) == 1:
        return fitting_name(names[0], width)
    numbers = ranges(indices)
    gaps = f" ({numbers})" if "," in numbers else ""
    name = fitting_name(f"{names[0]} … {short(names[-1])}{gaps}", width)
    return first_that_fits([name, f"hosts {numbers}"], width, NAME_SIZE, bold=True)


def _each(ports: Counter[int]) -> str:
    """How many NIC ports a host has on each rail."""
    counts = sorted(set(ports.values()))
    return f"{counted(counts[0], 'port')} each" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} ports each"


def rails_text(rails: Iterable[int]) -> str:
    """`rail 3`, `rails 1-8` or `rails 1, 3`; empty for those between switches."""
    numbers = sorted(rail for rail in rails if rail)
    return "" if not numbers else f"rail {numbers[0]}" if len(numbers) == 1 else f"rails {ranges(numbers)}"


def rate_text(gbps: float) -> str:
    return f"{gbps / 1000:.4g} Tb/s" if gbps >= 1000 else f"{gbps:.4g} Gb/s"
