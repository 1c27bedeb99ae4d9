"""What a drain moves where hosts have an address on each port: the traffic of spines, and none of a rail switch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest
from tests.twin.small_fabric import LEAF, OTHER_LEAF, OTHER_SPINE, SPINE, small

from railfab.forwarding import FabricChange, LinkTable, Marking, converge, unconfigured
from railfab.sim import Framing


def spines_to_hosts_of(leaf: str, drained: Collection[str]) -> set[str]:
    """The spines by which the other rail switch reaches the host ports of this one."""
    fabric = small()
    links = LinkTable(fabric.topology)
    models = {name: replace(model, drain=name in drained) for name, model in fabric.models.items()}
    empty = unconfigured(links, framing=Framing(), marking=Marking())
    routing = converge(empty, FabricChange(models)).routing
    row = list(links.switches).index(OTHER_LEAF)
    ports = [place for place, link in enumerate(links.nics) if links.far_key(int(link))[0] == leaf]
    assert ports
    groups = routing.group[row, ports]
    hops = {int(link) for group in groups for link in routing.members[routing.begin[group] : routing.begin[group + 1]]}
    return {links.far_key(hop)[0] for hop in hops}


@pytest.mark.parametrize(
    ("drained", "used"),
    [
        ([], {SPINE, OTHER_SPINE}),
        ([SPINE], {OTHER_SPINE}),
        ([LEAF], {SPINE, OTHER_SPINE}),
        ([LEAF, SPINE], {SPINE, OTHER_SPINE}),
    ],
    ids=["none", "spine", "rail switch", "both"],
)
def test_a_drained_spine_keeps_what_goes_to_hosts_of_a_drained_rail_switch(drained: list[str], used: set[str]) -> None:
    """All routes to these hosts are those of a drained switch, so that none is better."""
    assert spines_to_hosts_of(LEAF, drained) == used
