"""Texts in the boxes of a picture, shortened to the width of the box."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from railfab.draw.cells import PLURALS, Cell, number_ranges, short_name
from railfab.draw.graph import NetworkGraph
from railfab.draw.text_width import truncated, width_of
from railfab.intent import Hosts
from railfab.text.counted import counted
from railfab.topology import Node, Role, Topology

NAME_SIZE, NOTE_SIZE = 12.0, 11.0
INSET = 10.0
"""Space beside a text in its box, both sides together [px]."""
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
    """Texts of switches. rails, vlans: of cells of rail switches, by key of the cell."""

    nodes: Sequence[Node]
    rails: Mapping[int, set[int]]
    vlans: Mapping[int, set[int]]

    def lines(self, cell: Cell, width: float) -> list[str]:
        """Name first; then model, AS number and rails of one switch, or what several are equivalent to and how many."""
        if cell.name:
            note = first_that_fits([cell.note, cell.note.removeprefix("each ")], width)
            return fit_lines([shorten_name(cell.name, width), note, self._count_and_rails(cell, width)], width)
        node = self.nodes[cell.key]
        notes = first_that_fits(switch_facts(node), width), self._rails_and_vlans(cell, width)
        return fit_lines([shorten_name(node.name, width), *notes], width)

    def _count_and_rails(self, cell: Cell, width: float) -> str:
        rails = rails_text(self.rails.get(cell.key, ()))
        if name_has_count(cell):
            return rails
        count = counted(len(cell.node_indices), SINGULARS[cell.role])
        return first_that_fits([_comma(count, rails), count, count.replace("rail ", "")], width)

    def _rails_and_vlans(self, cell: Cell, width: float) -> str:
        text, vlans = rails_text(self.rails.get(cell.key, ())), self.vlans.get(cell.key, ())
        if not (text and vlans):
            return text
        return first_that_fits([f"{text} · VLAN{'s' if len(vlans) > 1 else ''} {number_ranges(vlans)}", text], width)


@dataclass(frozen=True, slots=True)
class HostCaptions:
    """Texts of hosts. hosts: from the intent; lags: link aggregation of hosts, by index of the host."""

    graph: NetworkGraph
    hosts: Hosts | None
    lags: Mapping[int, str]

    def lines(self, cell: Cell, width: float) -> list[str]:
        """Names of the hosts, then their number, rails and ports."""
        nodes = [self.graph.nodes[index] for index in cell.node_indices]
        name = cell.name or _hosts_name([node.name for node in nodes], [node.index for node in nodes], width)
        return fit_lines([name, *wrap_phrases(self._phrases(cell, width), width)], width)

    def _phrases(self, cell: Cell, width: float) -> list[str]:
        ports = self._ports(cell)
        note = [cell.note] if cell.note else []
        count = counted(len(cell.node_indices), "host")
        if not ports or cell.note:
            return note if name_has_count(cell) else [count, *note]
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
        """Number of ports on each rail of a host of the cell."""
        found: Counter[int] = Counter()
        for edge in self.graph.edges_of(cell.key):
            found[self.graph.cable_types[edge.cable_type].rail] += self.graph.edges[edge]
        return found

    def scale_up(self, width: float) -> str:
        """Scale-up network of a host; empty if unknown."""
        if self.hosts is None or self.hosts.scale_up is None:
            return ""
        network, gpus = self.hosts.scale_up, counted(self.hosts.gpus, "GPU")
        rate = f"{rate_text(network.gbps_per_gpu)} each"
        return first_that_fits([f"{gpus} on {network.name}, {rate}", f"{gpus}, {network.name}", gpus], width - 24)


def name_has_count(cell: Cell) -> bool:
    """Whether the name of a cell contains the number of its nodes."""
    return cell.name.startswith(f"{len(cell.node_indices):,} ") and cell.name.endswith(PLURALS[cell.role])


def host_lags(topology: Topology) -> dict[int, str]:
    """Link aggregation of the backend ports of hosts, by index of the host."""
    indices = {node.name: index for index, node in enumerate(topology.nodes)}
    return {
        indices[bond.host]: "LAG per rail"
        if len(bond.switches) == 1
        else f"LAG over two switches ({'EVPN ESI' if bond.esi else 'MLAG'})"
        for bond in topology.bonds
        if bond.rail
    }


def cell_names(nodes: Sequence[Node], cells: Mapping[int, Cell]) -> dict[int, str]:
    """Short name of each cell."""
    return {key: truncated(cell.name, 400, NAME_SIZE) or nodes[key].name for key, cell in cells.items()}


def tooltip_text(nodes: Sequence[Node], cell: Cell) -> str:
    """Tooltip of a cell: all names (first and last of more than MOST_NAMES), and text that a narrow box omits."""
    names = [nodes[index].name for index in cell.node_indices]
    listed = ", ".join(names) if len(names) <= MOST_NAMES else f"{names[0]} … {names[-1]}, {len(names):,} in total"
    fact = switch_facts(nodes[cell.key])[0] if len(names) == 1 else ""
    about = [part for part in (cell.name[:MOST_LETTERS], cell.note) if part]
    return ": ".join([*about, _comma(listed, fact)])


def fit_lines(lines: Sequence[str], width: float) -> list[str]:
    """A name and notes truncated to the width of a box, without empty notes."""
    name, *notes = lines
    truncated_notes = (truncated(note, width - INSET, NOTE_SIZE) for note in notes if note)
    return [truncated(name, width - INSET, NAME_SIZE, bold=True), *truncated_notes]


def switch_facts(node: Node) -> list[str]:
    """Texts about a switch, from the longest to the shortest."""
    asn = f"AS {node.asn}" if node.asn else ""
    reflector = "reflector" if node.reflector else ""
    parts = [part for part in (node.model or "", asn, reflector) if part]
    without_model = " · ".join(part for part in (asn, reflector) if part) or (node.model or "")
    return [" · ".join(parts), without_model, asn, str(node.asn or "")]


def _comma(*parts: str) -> str:
    return ", ".join(part for part in parts if part)


def first_that_fits(lines: Iterable[str], width: float, size: float = NOTE_SIZE, *, bold: bool = False) -> str:
    """The first line that fits the width of a box, else the last."""
    chosen = ""
    for chosen in lines:
        if width_of(chosen, size, bold=bold) <= width - INSET:
            break
    return chosen


def shorten_name(name: str, width: float) -> str:
    """A name without its first parts, as far as the width requires: `seg1-leaf1` of `pod1-seg1-leaf1`, or `leaves 2-8`
    of `pod1-seg1 leaves 2-8`."""
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


def wrap_phrases(phrases: Sequence[str], width: float) -> list[str]:
    """Phrases joined by commas into as few lines as the width allows."""
    lines: list[str] = []
    for phrase in phrases:
        longer = f"{lines[-1]}, {phrase}" if lines else phrase
        if lines and width_of(longer, NOTE_SIZE) <= width - INSET:
            lines[-1] = longer
        else:
            lines.append(phrase)
    return lines


def _hosts_name(names: Sequence[str], indices: Sequence[int], width: float) -> str:
    """`pod1-seg1-host1 … host4`, or `pod1-seg1-host1 … host6 (1-2, 4-6)`, shortened to the width."""
    if len(names) == 1:
        return shorten_name(names[0], width)
    numbers = number_ranges(indices)
    gaps = f" ({numbers})" if "," in numbers else ""
    name = shorten_name(f"{names[0]} … {short_name(names[-1])}{gaps}", width)
    return first_that_fits([name, f"hosts {numbers}"], width, NAME_SIZE, bold=True)


def _each(ports: Counter[int]) -> str:
    """Number of NIC ports of a host on each rail."""
    counts = sorted(set(ports.values()))
    return f"{counted(counts[0], 'port')} each" if len(counts) == 1 else f"{counts[0]} to {counts[-1]} ports each"


def rails_text(rails: Iterable[int]) -> str:
    """`rail 3`, `rails 1-8` or `rails 1, 3`; empty for cables without a rail."""
    numbers = sorted(rail for rail in rails if rail)
    return "" if not numbers else f"rail {numbers[0]}" if len(numbers) == 1 else f"rails {number_ranges(numbers)}"


def rate_text(gbps: float) -> str:
    return f"{gbps / 1000:.4g} Tb/s" if gbps >= 1000 else f"{gbps:.4g} Gb/s"
