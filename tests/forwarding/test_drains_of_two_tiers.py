"""What a drain moves where hosts have an address on each port: the traffic of spines, and none of a rail switch."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest
from tests.sampled import sampled
from tests.twin.small_fabric import LEAF, OTHER_LEAF, OTHER_SPINE, SPINE, small

from railfab.deploy import waves_of
from railfab.fabric import design
from railfab.forwarding import FabricChange, LinkTable, Marking, converge, unconfigured
from railfab.sim import Framing
from railfab.topology.outages import outages


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


ROOT = Path(__file__).parents[2]
DESIGNS = ("cluster", "multi-pod", "dual-mlag", "dual-esi", "dual-plane", "pod64")


@pytest.mark.parametrize("name", sampled(DESIGNS, few=("cluster", "dual-esi")))
def test_no_other_switch_forwards_by_a_switch_that_its_wave_drains(name: str) -> None:
    """Of every wave of a change of all switches, in which what a drain empties is drained."""
    fabric = design(ROOT / "inventory" / "fabrics" / f"{name}.yml")
    links, lost = LinkTable(fabric.topology), outages(fabric.topology)
    for wave in waves_of(fabric, [node.name for node in fabric.topology.switches()]):
        drained = {switch for switch in wave.switches if lost.moves(switch)}
        models = {switch: replace(model, drain=switch in drained) for switch, model in fabric.models.items()}
        routing = converge(unconfigured(links, framing=Framing(), marking=Marking()), FabricChange(models)).routing
        for row, switch in enumerate(links.switches):
            groups = {int(group) for group in routing.group[row] if group >= 0 and switch not in wave.switches}
            hops = {
                int(hop) for group in groups for hop in routing.members[routing.begin[group] : routing.begin[group + 1]]
            }
            assert drained.isdisjoint(links.far_key(hop)[0] for hop in hops), (wave.number, switch)
