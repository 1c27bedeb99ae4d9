"""Firewall filters that let every packet pass, or at the routing engine those of BGP and BFD.

Juniper, Routing Policies, Firewall Filters, and Traffic Policers User Guide: How Standard Firewall Filters Evaluate
Packets; the first term that a packet matches decides, a term without an action accepts, and no match is a discard.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from railfab.platforms.shared.brace_text import Statement

INPUTS = ("input", "output")
ACCEPT = "accept"
DROPS = frozenset(("discard", "reject", "policer", "three-color-policer", "hierarchical-policer"))
OTHER_WAYS = frozenset(("forwarding-class", "loss-priority", "dscp", "routing-instance", "next-ip", "next-interface"))
"""Actions that leave a packet in another class, or on another way."""
PORTS = {"bgp": "179", "bfd": "3784"}
PROTOCOLS = {"tcp": "6", "udp": "17"}
PROTOCOL_WORDS = ("protocol", "payload-protocol", "next-header")
EITHER_PORT = "port"
LOOPBACK_DEVICE = "lo0"


@dataclass(frozen=True, slots=True)
class Packet:
    """A packet of a protocol of the control plane. ports: which of its ports are known, by word."""

    protocol: str
    ports: Mapping[str, str]

    def meets(self, word: str, values: Sequence[str]) -> bool | None:
        """Whether it meets a condition; None where that is not known."""
        if word in PROTOCOL_WORDS:
            return any(PROTOCOLS.get(value, value) == self.protocol for value in values)
        known = [port for name, port in self.ports.items() if word in (name, EITHER_PORT)]
        if any(_has(value, port) for value in values for port in known):
            return True
        return False if word in self.ports else None


def _has(value: str, port: str) -> bool:
    """Whether a port, or a range of ports, has this one."""
    first, _, last = PORTS.get(value, value).partition("-")
    return first == port or (last.isdecimal() and first.isdecimal() and int(first) <= int(port) <= int(last))


CONTROL_PLANE = (
    Packet("6", {"destination-port": "179"}),
    Packet("6", {"source-port": "179"}),
    Packet("17", {"destination-port": "3784"}),
)
"""BGP from the end that connects and from the other one, and BFD of one hop."""


@dataclass(slots=True)
class FilterTerm:
    """conditions: the values of each. actions: with what follows them."""

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
        if statement[:2] == ("firewall", "family") and statement[3:4] == ("filter",) and statement[5:6] == ("term",):
            _add(filters.setdefault((statement[2], statement[4]), {}), statement[6:])
        elif statement[0] == "interfaces" and statement[-3:-2] == ("filter",) and statement[-2] in INPUTS:
            applied.append(statement)
    return frozenset(
        statement
        for statement in applied
        if (terms := filters.get((statement[-4], statement[-1])))
        and _passes(list(terms.values()), is_engine=statement[1] == LOOPBACK_DEVICE)
    )


def _add(terms: dict[str, FilterTerm], rest: Statement) -> None:
    name, *words = rest
    term = terms.setdefault(name, FilterTerm())
    if words[:1] == ["from"] and len(words) > 1:
        term.conditions.setdefault(words[1], []).extend(words[2:])
    elif words[:1] == ["then"]:
        term.actions.append(tuple(words[1:]))


def _passes(terms: Sequence[FilterTerm], *, is_engine: bool) -> bool:
    if not any(term.words & (DROPS | OTHER_WAYS) for term in terms) and any(_takes_all(term) for term in terms):
        return True
    return is_engine and all(_accepted(packet, terms) for packet in CONTROL_PLANE)


def _takes_all(term: FilterTerm) -> bool:
    return not term.conditions and not term.goes_on


def _accepted(packet: Packet, terms: Sequence[FilterTerm]) -> bool:
    """Whether every packet of this kind passes, whatever else it is."""
    for term, met in _matching(packet, terms):
        if term.words & (DROPS | OTHER_WAYS):
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
