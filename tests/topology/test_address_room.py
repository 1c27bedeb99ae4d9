"""Addresses and AS numbers of all that a fabric may grow to: no two things ever come to share one."""

from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.topology.fabric_intents import documents, fabric

from railfab.errors import RailfabError
from railfab.intent import FabricIntent
from railfab.topology import wire
from railfab.topology.addresses import AddressPlan, ClassicPlan, RailSlot, Switch, address_plan
from railfab.topology.buildable import check_buildable
from railfab.topology.dimensions import Dimensions
from railfab.topology.model import Network, Role
from railfab.topology.numbering import AsPlan

Given = tuple[object, int, Network]
"""What has an address, the address, and the pool that it is from."""


def ends(count: int) -> list[int]:
    """The first numbers and the last ones."""
    return sorted({1, 2, count - 1, count} & set(range(1, count + 1)))


@st.composite
def sized(draw: st.DrawFn) -> Dimensions:
    """A fabric that can be built, as large as it may become."""
    document = draw(documents())
    growth = {"hosts": (3, 16), "segments": (2, 4), "pods": (2, 8)}
    stated = {key: draw(st.integers(*bounds)) for key, bounds in growth.items() if draw(st.booleans())}
    plan = Dimensions(FabricIntent.model_validate(document | {"backend": document["backend"] | {"growth": stated}}))
    assume(_can_be_built(plan))
    return plan


def _can_be_built(plan: Dimensions) -> bool:
    try:
        check_buildable(plan)
    except RailfabError:
        return False
    return True


def places(plan: Dimensions) -> Iterator[tuple[int, int, int, int]]:
    """Plane, pod, segment and rail switch at the ends of all ranges."""
    backend = plan.intent.backend
    counts = backend.planes, plan.growth_pods, plan.growth_segments, backend.segments.rail_switches
    yield from product(*map(ends, counts))


def leaf_addresses(plan: Dimensions, addresses: AddressPlan) -> Iterator[Given]:
    pools, numbered = addresses.pools, plan.intent.profile.underlay == "numbered"
    for plane, pod, segment, switch in places(plan):
        leaf = plan.leaf_number(segment, switch)
        own = Switch(plane, pod, leaf)
        yield ("loopback", own), int(addresses.loopback(Role.LEAF, own)), pools.loopbacks
        for uplink, end in product(ends(plan.uplinks) if numbered else (), range(2)):
            number = addresses.link_base(Role.LEAF, own) + 2 * (uplink - 1) + end
            yield ("uplink", own, uplink, end), number, pools.fabric_links
        met = [port for port in plan.nic_ports if (port.plane, port.switch) == (plane, switch)]
        for port, host, end in product(met, ends(plan.growth_hosts), range(2)):
            place = RailSlot(plane, port.rail, pod, segment, leaf, port.slot)
            number = addresses.host_base(place) + 2 * ((host - 1) * plan.links_per_nic_and_leaf + port.turn) + end
            yield (place, host, port.port, end), number, addresses.host_network(place)


def upper_addresses(plan: Dimensions, addresses: AddressPlan) -> Iterator[Given]:
    pools, numbered = addresses.pools, plan.intent.profile.underlay == "numbered"
    planes, spines, supers = plan.intent.backend.planes, plan.spines, plan.supers
    for place in product(ends(planes), ends(plan.growth_pods), ends(spines.count if spines else 0)):
        switch = Switch(*place)
        yield ("spine", switch), int(addresses.loopback(Role.SPINE, switch)), pools.loopbacks
        for uplink, end in product(ends(plan.spine_uplinks) if numbered else (), range(2)):
            number = addresses.link_base(Role.SPINE, switch) + 2 * (uplink - 1) + end
            yield ("spine uplink", switch, uplink, end), number, pools.fabric_links
    for plane, index in product(ends(planes), ends(supers.count if supers else 0)):
        switch = Switch(plane, 0, index)
        yield ("super-spine", switch), int(addresses.loopback(Role.SUPER, switch)), pools.loopbacks


@given(sized())
@settings(max_examples=examples(60), deadline=None)
def test_no_address_is_given_twice_or_outside_its_prefix(plan: Dimensions) -> None:
    addresses, seen = address_plan(plan), dict[int, object]()
    for holder, number, prefix in (*leaf_addresses(plan, addresses), *upper_addresses(plan, addresses)):
        assert int(prefix.network_address) <= number <= int(prefix.broadcast_address)
        assert seen.setdefault(number, holder) == holder


@given(sized())
@settings(max_examples=examples(60), deadline=None)
def test_no_leaf_has_the_as_number_of_another_switch(plan: Dimensions) -> None:
    assume(plan.intent.profile.control_plane != "ibgp")
    asns, seen = AsPlan(plan), dict[int, object]()
    for plane, pod, segment, switch in places(plan):
        leaf = plan.leaf_number(segment, switch)
        assert seen.setdefault(asns.leaf(plane, pod, leaf), (plane, pod, leaf)) == (plane, pod, leaf)
        assert seen.setdefault(asns.spine(plane, pod), ("spines", plane, pod)) == ("spines", plane, pod)
        assert seen.setdefault(asns.super_spine(plane), ("super-spines", plane)) == ("super-spines", plane)


def test_numbered_links_of_the_classic_plan_by_hand() -> None:
    """128 addresses a switch, 256 switches a pod; those of spines begin half-way through 100.64.0.0/10."""
    top = {"count": 4, "links_per_spine": 1, "rate_gbps": 400, "model": "7220-ixr-d5"}
    changes = {"backend__super_spines": top, "backend__pods": 2, "backend__segments__count": 1}
    topology = wire(fabric(profile__underlay="numbered", **changes))
    first: dict[str, tuple[str, str]] = {}
    for link in topology.links:
        if link.a.rail is None:
            first.setdefault(link.a.node, (str(link.a.address), str(link.z.address)))
    assert {name: first[f"{name}1"] for name in ("pod1-seg1-leaf", "pod2-seg1-leaf", "pod1-spine", "pod2-spine")} == {
        "pod1-seg1-leaf": ("100.64.0.1/31", "100.64.0.0/31"),
        "pod2-seg1-leaf": ("100.64.128.1/31", "100.64.128.0/31"),
        "pod1-spine": ("100.96.0.1/31", "100.96.0.0/31"),
        "pod2-spine": ("100.96.128.1/31", "100.96.128.0/31"),
    }
    assert first["pod1-seg1-leaf2"] == ("100.64.0.129/31", "100.64.0.128/31")


TOP = {"count": 4, "rate_gbps": 400, "model": "7220-ixr-d5"}


@pytest.mark.parametrize(
    ("key", "most", "changes"),
    [
        ("backend__growth__segments", 127, {}),
        ("backend__growth__segments", 8, {"backend__growth": {"pods": 2}}),
        ("backend__growth__pods", 16, {"backend__growth": {"segments": 8}}),
        ("backend__growth__hosts", 128, {}),
        ("backend__growth__hosts", 64, {"backend__segments__rail_switches": 1}),
        ("hosts__gpus", 15, {}),
        ("backend__spines__count", 255, {}),
        ("backend__super_spines__count", 255, {"backend__super_spines": TOP, "backend__growth": {"pods": 2}}),
        ("backend__spines__links_per_leaf", 16, {"profile__underlay": "numbered"}),
        (
            "backend__super_spines__links_per_spine",
            16,
            {"backend__super_spines": TOP, "backend__growth": {"pods": 2}, "profile__underlay": "numbered"},
        ),
    ],
)
def test_addresses_that_people_read_reach_as_far_as_they_are_said_to(
    key: str, most: int, changes: dict[str, Any]
) -> None:
    changes = {"backend__growth": {}} | changes
    segments = {} if "segments" in key or "segments" in changes["backend__growth"] else {"backend__growth__segments": 2}
    classic = [
        isinstance(address_plan(Dimensions(fabric(**changes, **segments, **{key: number}))), ClassicPlan)
        for number in (most, most + 1)
    ]
    assert classic == [True, False]
