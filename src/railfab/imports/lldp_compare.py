"""Cabling down to the NIC: what hosts see by LLDP against the plan."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from railfab.fabric.host_names import HostNames, short_name
from railfab.findings import DifferenceCode, Finding, Severity
from railfab.hosts.lldp import LldpNeighbor
from railfab.imports.compare import LISTED, MISCABLED, SWAPPED, UNEXPECTED, Category, Difference, grouped_differences
from railfab.imports.lldp import HostNeighbors
from railfab.text.counted import listed
from railfab.text.folding import folded_sets
from railfab.topology import CabledPort, PortKey, Role, Topology

PLUGS = Category(SWAPPED.code, SWAPPED.many, "Swap the two plugs")
ORDER = Category(
    DifferenceCode.NIC_ORDER_DIFFERS,
    "have their NICs in another order than the others",
    "Rename its NICs, or move their cables",
)
EXCHANGED = Category(
    DifferenceCode.NODE_RENAMED, "have the cables of other hosts", "Exchange the files, the names, or the cables"
)
SILENT = Category(
    DifferenceCode.LLDP_SILENT,
    "have NICs without neighbour",
    "Look at the link, and at LLDP of the switch port",
    Severity.WARNING,
)
CONFLICT = Category(
    DifferenceCode.LLDP_CONFLICT,
    "are seen twice",
    "Write the files of these hosts again",
    Severity.WARNING,
)
SHOWN = 4
"""Hosts, or folded sets of them, that are named before the rest is counted."""
LEAST_HOSTS = 2
"""Hosts that say which port of the plan a NIC is by its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LldpComparison:
    """The findings, and the number of NIC ports of the plan that are proved or wrong; the others are unknown.

    without_file: hosts of the plan, in their order. read: hosts of the plan with a file.
    """

    findings: tuple[Finding, ...]
    ports: int
    proved: int
    wrong: int
    read: int
    without_file: tuple[str, ...]

    @property
    def unknown(self) -> int:
        return self.ports - self.proved - self.wrong

    @property
    def gap(self) -> str:
        """Hosts without a file, folded; empty without any."""
        return listed(tuple(folded_sets(self.without_file)), SHOWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class _SeenPort:
    """A NIC port that a host sees cabled. port: of the plan, which the NIC is by its name; None: not known.

    at: device and port at the other end, and there: the port of the plan that belongs at it; None for none.
    """

    host: str
    nic: str
    port: CabledPort | None
    at: PortKey
    there: CabledPort | None

    @property
    def is_right(self) -> bool:
        return self.there is not None and self.there == self.port

    @property
    def is_wrong(self) -> bool:
        """Whether the NIC belongs elsewhere; one of which only the host is known does so at another host's port."""
        return not self.is_right and (self.port is not None or self.is_away)

    @property
    def is_away(self) -> bool:
        """Whether another host, or none, belongs at the other end."""
        return self.there is None or self.there.node != self.host

    @property
    def text(self) -> str:
        return f"{self.host} {self.nic}"

    @property
    def place(self) -> str:
        """Rail, and port of the switch, at the other end."""
        return _place(self.there, self.at)


class _HostPlan:
    """The ports of hosts in the plan, and those of switches at their other ends."""

    def __init__(self, topology: Topology) -> None:
        self.switches = {node.name for node in topology.switches()}
        self._roles = {node.name: node.role for node in topology.nodes}
        self.ports: dict[str, dict[str, CabledPort]] = defaultdict(dict)
        self.far: dict[PortKey, CabledPort] = {}
        self.near: dict[PortKey, PortKey] = {}
        for port, peer, _ in topology.ports():
            if topology.node(port.node).is_switch or not topology.node(peer.node).is_switch:
                continue
            self.ports[port.node][port.name] = port
            self.near[port.node, port.name] = peer.node, peer.name
            self.far[peer.node, peer.name] = port

    def at(self, neighbor: LldpNeighbor) -> PortKey:
        """The port that a neighbour is, by the names of the plan where it has it."""
        names = (neighbor.device, short_name(neighbor.device))
        device = next((name for name in names if name in self.switches), neighbor.device)
        return device, next((name for name in neighbor.names if (device, name) in self.far), neighbor.names[0])

    def place(self, port: CabledPort) -> str:
        """The rail, and the port of the switch, where a port of a host belongs."""
        return _place(port, self.near[port.node, port.name])

    def seen(self, known: Mapping[str, HostNeighbors]) -> list[_SeenPort]:
        """The cabled NICs of each host; not those that lead elsewhere and are no NIC of the plan."""
        ends = list(
            dict.fromkeys(
                (host, neighbor.nic, self.at(neighbor))
                for host, of_host in known.items()
                for neighbor in of_host.neighbors
            )
        )
        labels = self._labels(ends)
        ports = [
            _SeenPort(
                host=host,
                nic=nic,
                port=self.ports[host].get(nic) or self.ports[host].get(labels.get((self._roles[host], nic), "")),
                at=at,
                there=self.far.get(at),
            )
            for host, nic, at in ends
        ]
        return [port for port in ports if port.port is not None or port.at[0] in self.switches]

    def _labels(self, ends: Iterable[tuple[str, str, PortKey]]) -> dict[tuple[Role, str], str]:
        """The port of the plan that each name of a NIC stands for: the one at which most hosts of a role have it."""
        votes: dict[tuple[Role, str], Counter[str]] = defaultdict(Counter)
        for host, nic, at in ends:
            belongs = self.far.get(at)
            if belongs is not None and belongs.node == host:
                votes[self._roles[host], nic][belongs.name] += 1
        chosen = {nic: (*counts.most_common(1)[0], counts.total()) for nic, counts in votes.items()}
        return {nic: name for nic, (name, times, of) in chosen.items() if times >= LEAST_HOSTS and 2 * times > of}


def lldp_comparison(
    topology: Topology, hosts: Sequence[HostNeighbors], names: HostNames, most: int | None = LISTED
) -> LldpComparison:
    """Compare the cabling that hosts see with the plan. most: findings of a category that are listed; None for all."""
    plan = _HostPlan(topology)
    of_cluster = names.planned(plan.ports)
    files = {host: of_cluster.get(short_name(host.host)) for host in hosts}
    known = {planned: host for host, planned in files.items() if planned is not None}
    judge = _Judge(plan, tuple(known), plan.seen(known))
    unplanned = [
        (UNEXPECTED, host.host, "has a file, and is not in the intent") for host in hosts if files[host] is None
    ]
    wrong = {port for seen in judge.seen if seen.is_wrong and (port := seen.port or seen.there) is not None}
    proved = {seen.port for seen in judge.seen if seen.is_right and seen not in judge.conflicts} - wrong
    return LldpComparison(
        findings=tuple(grouped_differences((*unplanned, *judge.differences()), most)),
        ports=sum(map(len, plan.ports.values())),
        proved=len(proved),
        wrong=len(wrong),
        read=len(known),
        without_file=tuple(host for host in plan.ports if host not in known),
    )


class _Judge:
    """Differences of what hosts see from the plan; each mistake is one.

    exchanged: the host whose cables a host has. conflicts: ports with several neighbours, of which one at most is true.
    """

    def __init__(self, plan: _HostPlan, hosts: Sequence[str], seen: Sequence[_SeenPort]) -> None:
        self._plan, self._hosts, self.seen = plan, hosts, seen
        self._by_host: dict[str, list[_SeenPort]] = defaultdict(list)
        for port in seen:
            self._by_host[port.host].append(port)
        self.exchanged = {
            host: owner for host, ports in self._by_host.items() if (owner := _owner(ports)) not in (None, host)
        }
        kept = [port for port in seen if port.host not in self.exchanged]
        at, nics = Counter(port.at for port in kept), Counter(port.text for port in kept)
        self.conflicts = [port for port in kept if at[port.at] > 1 or nics[port.text] > 1]

    def differences(self) -> Iterator[Difference]:
        for host, owner in self.exchanged.items():
            yield EXCHANGED, host, f"has all cables of {owner}"
        yield from self._conflicts()
        explained = {*self.exchanged}
        for host, ports in self._by_host.items():
            if host not in explained and (problem := self._order(ports)):
                explained.add(host)
                yield ORDER, host, problem
        left = [
            port
            for port in self.seen
            if not port.is_right and port.host not in explained and port not in self.conflicts
        ]
        yield from self._misplaced(left)
        yield from self._silent()

    def _conflicts(self) -> Iterator[Difference]:
        """Ports of switches that several NICs have as neighbour, and NICs that have several."""
        nics: dict[PortKey, list[str]] = defaultdict(list)
        places: dict[str, list[str]] = defaultdict(list)
        for port in self.conflicts:
            nics[port.at].append(port.text)
            places[port.text].append(f"{port.at[0]} {port.at[1]}")
        for at, texts in nics.items():
            if len(texts) > 1:
                yield CONFLICT, f"{at[0]} {at[1]}", f"is the neighbour of {' and of '.join(texts)}"
        for text, ends in places.items():
            if len(ends) > 1:
                yield CONFLICT, text, f"has the neighbours {' and '.join(ends)}"

    def _order(self, ports: Sequence[_SeenPort]) -> str:
        """The problem of a host whose NICs are all at its own ports, three or more of them in another order."""
        moved = [port for port in ports if not port.is_right and port.port is not None]
        if len(moved) < 3 or any(port.is_away for port in moved):
            return ""
        pairs = [f"{port.nic} is on {_name(port.there)}, not {_name(port.port)}" for port in moved]
        return f"has its NICs in another order than the other hosts: {'; '.join(pairs)}"

    def _misplaced(self, left: Sequence[_SeenPort]) -> Iterator[Difference]:
        """Pairs of plugs that are swapped, and NICs that are elsewhere."""
        by_port = {port.port: port for port in left if port.port is not None}
        reported: set[str] = set()
        for port in left:
            swapped = by_port.get(port.there) if port.there is not None else None
            if port.text in reported:
                continue
            if port.port is None:
                if port.is_away:
                    yield MISCABLED, port.text, f"is on {port.place}{_belonging(port)}"
            elif swapped is not None and swapped.there == port.port:
                reported.add(swapped.text)
                problem = (
                    f"are swapped: the first is on {port.place} and belongs on {self._plan.place(port.port)}, "
                    "the other the other way round"
                )
                yield PLUGS, f"{port.text} and {swapped.text}", problem
            else:
                belongs = self._plan.place(port.port)
                yield MISCABLED, port.text, f"is on {port.place}{_belonging(port)}, and belongs on {belongs}"

    def _silent(self) -> Iterator[Difference]:
        """Hosts with a file, of which NICs of the plan see nothing."""
        for host in self._hosts:
            ports, planned = self._by_host.get(host, []), self._plan.ports[host]
            has = {port.port.name for port in ports if port.port is not None}
            has |= {port.there.name for port in ports if port.there is not None and not port.is_away}
            missing = [port for name, port in planned.items() if name not in has]
            if not missing or len(ports) >= len(planned):
                continue
            places = ", ".join(map(self._plan.place, missing))
            yield SILENT, host, f"sees no neighbour on {places}" if ports else "sees no switch of the intent"


def _owner(ports: Sequence[_SeenPort]) -> str | None:
    """The host that belongs at the other end of all ports, of which there are several."""
    owners = {None if port.there is None else port.there.node for port in ports}
    return owners.pop() if len(ports) > 1 and len(owners) == 1 else None


def _belonging(port: _SeenPort) -> str:
    """The host that belongs where a NIC is, if that is another host or none."""
    if port.there is None:
        return ", where the intent has no host"
    return f", where {port.there.node} belongs" if port.is_away else ""


def _place(port: CabledPort | None, at: PortKey) -> str:
    """Rail of a port of a host, and the port of the switch."""
    end = f"{at[0]} {at[1]}"
    return end if port is None or port.rail is None else f"rail {port.rail} ({end})"


def _name(port: CabledPort | None) -> str:
    """The rail of a port, or its name without one."""
    if port is None:
        return "nothing"
    return port.name if port.rail is None else f"rail {port.rail}"
