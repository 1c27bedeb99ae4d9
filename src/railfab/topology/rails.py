"""Assignment of NIC ports to rail switches. All hosts are cabled in the same way, so one host represents all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

from railfab.intent import FabricIntent


@dataclass(frozen=True, slots=True, kw_only=True)
class NicPort:
    """One port of one NIC of a host, and its position on its rail switch.

    rail, plane, switch: from 1; the switch is in the segment of the host and in the plane of the port. port: of the
    NIC, from 0. nth: number among the links of the host to this switch. block: number of its rail among the rails of
    this switch. turn: number among the ports of its NIC on this switch. slot: number of this switch among the switches
    of its rail. All from 0.
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
    """The ports of one host, by rail and port. The numbers of the intent must divide (see `buildable`).

    The ports of a NIC are divided among planes, and in a plane among adjacent switches; adjacent rails share a switch:
    of 8 rails on 4 switches, rails 1 and 2 connect to the first.
    """
    links: Counter[tuple[int, int]] = Counter()
    turns: Counter[tuple[int, int, int]] = Counter()
    rails: dict[tuple[int, int], list[int]] = {}
    ports = []
    for rail, port, plane, switch, slot in _assignments(intent):
        switch_rails = rails.setdefault((plane, switch), [])
        if rail not in switch_rails:
            switch_rails.append(rail)
        ports.append(
            NicPort(
                rail=rail,
                port=port,
                plane=plane,
                switch=switch,
                nth=links[plane, switch],
                block=switch_rails.index(rail),
                turn=turns[plane, switch, rail],
                slot=slot,
            )
        )
        links[plane, switch] += 1
        turns[plane, switch, rail] += 1
    return tuple(ports)


def _assignments(intent: FabricIntent) -> Iterator[tuple[int, int, int, int, int]]:
    """(rail, port of the NIC, plane, switch, slot) of each NIC port of a host."""
    hosts, switches, planes = intent.hosts, intent.backend.segments.rail_switches, intent.backend.planes
    in_plane = hosts.nic_ports // planes
    side_by_side = min(in_plane, switches)
    sets = switches // side_by_side
    for rail, port in product(range(1, hosts.nics + 1), range(hosts.nic_ports)):
        plane, place = divmod(port, in_plane)
        slot = place % side_by_side
        yield rail, port, plane + 1, (rail - 1) * sets // hosts.nics * side_by_side + slot + 1, slot
