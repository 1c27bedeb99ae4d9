"""Which port of which NIC meets which rail switch. All hosts are wired alike, so one host's ports say it all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from railfab.intent import FabricIntent


@dataclass(frozen=True, slots=True, kw_only=True)
class NicPort:
    """One port of one NIC of a host, and its place on the rail switch that it meets.

    rail, plane, switch: from 1; the switch is of the host's segment and of the port's plane. port: of the NIC, from 0.
    nth: place among the host's links to that switch. block: place of its rail among those of that switch. turn: place
    among the ports of its NIC on that switch. slot: which of its rail's switches this is. All from 0.
    """

    rail: int
    port: int
    plane: int
    switch: int
    nth: int
    block: int
    turn: int
    slot: int


def nic_ports(intent: FabricIntent) -> tuple[NicPort, ...]:
    """The ports of one host, by rail and port. The intent's numbers must divide (see `buildable`).

    The ports of a NIC are dealt to planes, and in a plane to switches side by side; rails that share a switch are
    neighbours: of 8 rails on 4 switches, rails 1 and 2 meet the first.
    """
    links: Counter[tuple[int, int]] = Counter()
    turns: Counter[tuple[int, int, int]] = Counter()
    rails: dict[tuple[int, int], list[int]] = {}
    found = []
    for rail, port, plane, switch, slot in _met(intent):
        met = rails.setdefault((plane, switch), [])
        if rail not in met:
            met.append(rail)
        found.append(
            NicPort(
                rail=rail,
                port=port,
                plane=plane,
                switch=switch,
                nth=links[plane, switch],
                block=met.index(rail),
                turn=turns[plane, switch, rail],
                slot=slot,
            )
        )
        links[plane, switch] += 1
        turns[plane, switch, rail] += 1
    return tuple(found)


def _met(intent: FabricIntent) -> Iterator[tuple[int, int, int, int, int]]:
    """(rail, port of the NIC, plane, switch, slot)"""
    hosts, switches, planes = intent.hosts, intent.backend.segments.rail_switches, intent.backend.planes
    in_plane = hosts.nic_ports // planes
    side_by_side = min(in_plane, switches)
    sets = switches // side_by_side
    for rail, port in product(range(1, hosts.nics + 1), range(hosts.nic_ports)):
        plane, place = divmod(port, in_plane)
        slot = place % side_by_side
        yield rail, port, plane + 1, (rail - 1) * sets // hosts.nics * side_by_side + slot + 1, slot
