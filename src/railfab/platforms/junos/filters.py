"""Firewall filters that let every packet pass, or at the routing engine those of BGP and BFD.

Juniper, Routing Policies, Firewall Filters, and Traffic Policers User Guide: How Standard Firewall Filters Evaluate
Packets; the first term that a packet matches decides, a term without an action accepts, and no match is a discard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from railfab.platforms.shared.brace_text import Statement

INPUT = "input"
PASSING = frozenset(("accept", "count", "log", "next", "sample", "service-accounting", "syslog"))
"""Actions that neither drop a packet nor give it another class or way, as all others may."""
NUMBERS = {
    **{"bgp": "179", "bfd": "3784"},
    **{"router-advertisement": "134", "neighbor-solicit": "135", "neighbor-advertisement": "136"},
}
"""Ports, and types of ICMPv6, by name."""
PROTOCOLS = {"tcp": "6", "udp": "17", "icmp6": "58"}
PROTOCOL_WORDS = ("protocol", "payload-protocol", "next-header")
NAMES = {"port": ("source-port", "destination-port")}
"""Words that stand for either of others."""
ICMP_TYPE = "icmp-type"
LOOPBACK_DEVICE = "lo0"


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet of a protocol of the control plane. known: a port, or the type of ICMPv6, by word."""

    protocol: str
    known: Mapping[str, str]

    def meets(self, word: str, values: Sequence[str]) -> bool | None:
        """Whether it meets a condition; None where that is not known."""
        if word in PROTOCOL_WORDS:
            return any(PROTOCOLS.get(value, value) == self.protocol for value in values)
        known = [self.known[name] for name in NAMES.get(word, (word,)) if name in self.known]
        if any(_has(value, number) for value in values for number in known):
            return True
        return False if word in self.known else None


def _has(value: str, number: str) -> bool:
    """Whether a number, a name or a range of numbers has this one."""
    first, _, last = NUMBERS.get(value, value).partition("-")
    return first == number or (last.isdecimal() and first.isdecimal() and int(first) <= int(number) <= int(last))


CONTROL_PLANE = (
    Packet("6", {"destination-port": "179"}),
    Packet("6", {"source-port": "179"}),
    Packet("17", {"destination-port": "3784"}),
)
"""BGP from the end that connects and from the other one, and BFD of one hop."""
NEIGHBOR_DISCOVERY = tuple(Packet("58", {ICMP_TYPE: number}) for number in ("134", "135", "136"))
"""Router advertisements, and questions and answers for addresses of neighbors, without which IPv6 reaches nobody."""


@dataclass(slots=True)
class FilterTerm:
    """conditions: the values of each. actions: with what follows them; another filter of the term is one."""

    conditions: dict[str, list[str]] = field(default_factory=dict)
    actions: list[Statement] = field(default_factory=list)

    @property
    def words(self) -> frozenset[str]:
        return frozenset(action[0] for action in self.actions if action)

    @property
    def goes_on(self) -> bool:
        return ("next", "term") in self.actions


def passing(stated: Iterable[Statement]) -> frozenset[Statement]:
    """The statements that apply a filter which drops nothing of the fabric to a unit of an interface."""
    filters: dict[tuple[str, str], dict[str, FilterTerm]] = {}
    applied: list[Statement] = []
    for statement in stated:
        if statement[:2] == ("firewall", "family") and statement[3:4] == ("filter",):
            if statement[5:6] == ("term",) and len(statement) > 6:
                _add(filters.setdefault((statement[2], statement[4]), {}), statement[6:])
        elif statement[0] == "interfaces" and statement[-3:-2] == ("filter",) and statement[-2] == INPUT:
            applied.append(statement)
    return frozenset(
        statement
        for statement in applied
        if (terms := filters.get((statement[-4], statement[-1])))
        and (_passes_all(list(terms.values())) or _passes_control(statement, list(terms.values())))
    )


def _add(terms: dict[str, FilterTerm], rest: Statement) -> None:
    name, *words = rest
    term = terms.setdefault(name, FilterTerm())
    if words[:1] == ["from"] and len(words) > 1:
        term.conditions.setdefault(words[1], []).extend(words[2:])
    elif words[:1] != ["from"]:
        term.actions.append(tuple(words[1:] if words[:1] == ["then"] else words))


def _passes_all(terms: Sequence[FilterTerm]) -> bool:
    return all(term.words <= PASSING for term in terms) and any(map(_takes_all, terms))


def _passes_control(applied: Statement, terms: Sequence[FilterTerm]) -> bool:
    """Whether a filter is of the routing engine, and accepts what the fabric needs there."""
    packets = CONTROL_PLANE + (NEIGHBOR_DISCOVERY if applied[-4] == "inet6" else ())
    return applied[1] == LOOPBACK_DEVICE and all(_accepted(packet, terms) for packet in packets)


def _takes_all(term: FilterTerm) -> bool:
    return not term.conditions and not term.goes_on


def _accepted(packet: Packet, terms: Sequence[FilterTerm]) -> bool:
    """Whether every packet of this kind passes, whatever else it is."""
    for term, met in _matching(packet, terms):
        if not term.words <= PASSING:
            return False
        if met and not term.goes_on:
            return True
    return False


def _matching(packet: Packet, terms: Sequence[FilterTerm]) -> Iterator[tuple[FilterTerm, bool]]:
    """The terms that may match, and whether they do in any case."""
    for term in terms:
        met = [packet.meets(word, values) for word, values in term.conditions.items()]
        if False not in met:
            yield term, None not in met
