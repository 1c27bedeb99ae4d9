"""Pairs of cables whose plugs are swapped, in whatever shows the cables that exist."""

from __future__ import annotations

from collections.abc import Mapping

from railfab.topology.model import PortKey

Cable = tuple[PortKey, PortKey]
"""A cable between two ports; of a swapped pair the first ports are those whose plugs are to be swapped."""


def swapped_cable(
    cable: Cable, planned: Mapping[PortKey, PortKey], peers: Mapping[PortKey, tuple[PortKey, ...]]
) -> Cable | None:
    """The other cable of a swapped pair: between the planned far ends of this one; None where there is none.

    planned: far end of each port in the plan. peers: far ends that are seen, by port.
    """
    a, z = cable
    if a not in planned or z not in planned:
        return None
    other = planned[z], planned[a]
    return other if peers.get(other[0], ()) == (other[1],) else None


def plugs_to_swap(first: Cable, second: Cable) -> tuple[Cable, Cable]:
    """Both cables from the side where their plugs are on one node, if there is one."""
    (a, z), (b, y) = first, second
    return ((z, a), (y, b)) if z[0] == y[0] and a[0] != b[0] else (first, second)


def swap_problem(first: Cable, second: Cable) -> str:
    """The problem of the two plugs."""
    return f"are swapped: the first is cabled to {port_text(first[1])}, the other to {port_text(second[1])}"


def port_text(port: PortKey) -> str:
    return f"{port[0]} {port[1]}"
