"""LAGs between two switches: when they are up, which members they use, and what ECMP makes of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache

import pytest
from tests.forwarding.fabrics import with_interface
from tests.twin.small_fabric import LEAF, OTHER_LEAF, OTHER_SPINE, SPINE, bundled, unbundled

from railfab.device import DeviceModel, Interface, Lag
from railfab.fabric.design import Design
from railfab.forwarding import (
    BgpSession,
    FabricChange,
    Fibre,
    ForwardingState,
    LinkTable,
    Marking,
    begin,
    converge,
    flow,
    obstacle,
    uncomputed,
    unconfigured,
)
from railfab.sim import Engine, Framing
from railfab.topology import PortKey

TO_SPINE, TO_OTHER_SPINE = "lag1", "lag2"
NEAR, FAR = ("pod1-seg1-host1", "rail1-p0"), ("pod1-seg2-host1", "rail1-p0")


def deployed(fabric: Design, **changed: DeviceModel) -> ForwardingState:
    start = unconfigured(LinkTable(fabric.topology), framing=Framing(), marking=Marking())
    return converge(start, FabricChange({**fabric.models, **changed}))


@cache
def healthy() -> ForwardingState:
    return deployed(bundled())


def members(lag: str = TO_SPINE, switch: str = LEAF) -> list[PortKey]:
    """The members of a LAG, in front-panel order."""
    (found,) = (interface for interface in bundled().models[switch].interfaces if interface.name == lag)
    assert isinstance(found, Lag)
    return [(switch, port) for port in found.members]


def used(state: ForwardingState, lag: str = TO_SPINE, switch: str = LEAF) -> set[PortKey]:
    """The members of a LAG in use."""
    return {state.links.keys[link] for link in state.lags[switch][lag].members}


def session(state: ForwardingState, lag: str = TO_SPINE, switch: str = LEAF) -> BgpSession:
    return state.session(switch, lag)


def shares(state: ForwardingState, switch: str) -> dict[tuple[int, PortKey], Fraction]:
    """The share of its flows to each host port that a switch sends over each of its ports."""
    found, row = state.routing, state.links.switches[switch]
    shared: dict[tuple[int, PortKey], Fraction] = {}
    for column, group in enumerate(found.group[row].tolist()):
        held = found.members[found.begin[group] : found.begin[group + 1]].tolist()
        for link, count in Counter(held).items():
            shared[column, state.links.keys[link]] = Fraction(count, len(held))
    return shared


def by_neighbor(state: ForwardingState, switch: str) -> dict[tuple[int, str], Fraction]:
    """The share of its flows to each host port that a switch sends to each of its neighbours."""
    found: dict[tuple[int, str], Fraction] = defaultdict(Fraction)
    for (column, port), share in shares(state, switch).items():
        found[column, state.links.far_key(state.links.egress[port])[0]] += share
    return dict(found)


def on_uplinks(state: ForwardingState) -> dict[str, Fraction]:
    """The share of its flows to a host port of the other leaf that LEAF sends over each uplink."""
    wanted = state.links.nics.tolist().index(state.links.egress[FAR])
    return {port: share for (column, (_, port)), share in shares(state, LEAF).items() if column == wanted}


def cut(*ports: PortKey) -> FabricChange:
    return FabricChange({}, cut=frozenset(ports))


def test_a_pair_of_switches_carries_the_same_with_a_lag_as_with_single_links() -> None:
    plain, state = deployed(unbundled()), healthy()
    for switch in (LEAF, OTHER_LEAF, SPINE, OTHER_SPINE):
        assert by_neighbor(state, switch) == by_neighbor(plain, switch)


def test_a_session_runs_over_each_lag_and_its_members_have_equal_shares() -> None:
    state = healthy()
    assert [session.interface for session in state.sessions_of(LEAF)] == [TO_SPINE, TO_OTHER_SPINE]
    assert all(session.established and session.bfd_up for session in state.sessions_of(LEAF))
    assert used(state) == {*members()}
    assert set(on_uplinks(state).values()) == {Fraction(1, 4)}


def test_a_lag_with_one_member_left_keeps_its_session_and_its_share_which_that_member_carries() -> None:
    """ECMP sees next hops, and not what is left of them: the member carries twice what any other uplink does."""
    lost, left = members()
    state = converge(healthy(), cut(lost))
    assert used(state) == {left}
    assert used(state, TO_SPINE, SPINE) == {state.links.far_key(state.links.egress[left])}
    assert state.routes is healthy().routes
    assert state.sessions[LEAF] is healthy().sessions[LEAF]
    assert not state.same_routing(healthy())
    assert on_uplinks(state) == {left[1]: Fraction(1, 2)} | {
        port: Fraction(1, 4) for _, port in members(TO_OTHER_SPINE)
    }
    plain = converge(deployed(unbundled()), cut(lost))
    assert set(on_uplinks(plain).values()) == {Fraction(1, 3)}


def test_a_lag_without_members_is_down_and_routes_leave_it() -> None:
    state = converge(healthy(), cut(*members()))
    first = healthy().links.far_key(healthy().lags[LEAF][TO_SPINE].link)
    assert session(state).reason == state.lags[LEAF][TO_SPINE].reason == f"no light from {' '.join(first)}"
    assert session(state, TO_OTHER_SPINE).established
    assert on_uplinks(state) == dict.fromkeys((port for _, port in members(TO_OTHER_SPINE)), Fraction(1, 2))
    restored = converge(state, FabricChange({}, restored=frozenset(members())))
    assert shares(restored, LEAF) == shares(healthy(), LEAF)


def test_flows_of_a_lost_member_move_and_no_others_do() -> None:
    lost, left = members()
    before, after = (walked(state, streams=200) for state in (healthy(), converge(healthy(), cut(lost))))
    assert {port for port in before if port[0] == LEAF} == {*members(), *members(TO_OTHER_SPINE)}
    assert [left if port == lost else port for port in before] == after


def walked(state: ForwardingState, streams: int) -> list[PortKey]:
    """The uplink of each of so many queue pairs of two NICs."""
    engine = Engine(state.network, state.routing)
    engine.add([flow(state.links, stream, NEAR, FAR, 1, stream=stream) for stream in range(streams)])
    engine.run(1, stop_when_done=False)
    return [state.links.keys[links[1]] for links in engine.flow_paths().links]


def test_a_member_that_leads_to_another_switch_is_not_bundled() -> None:
    """Two cables are exchanged: each LAG has one member that leads to the other spine, and works with what is left."""
    (kept, crossed), (other_crossed, other_kept) = sorted(members())[::-1], sorted(members(TO_OTHER_SPINE))
    state = converge(healthy(), FabricChange({}, exchanged=(crossed, other_crossed)))
    assert all(state.port(port).oper_up for port in (*members(), *members(TO_OTHER_SPINE)))
    assert (used(state), used(state, TO_OTHER_SPINE)) == ({kept}, {other_kept})
    assert all(held.established for held in state.sessions_of(LEAF))
    assert on_uplinks(state) == {kept[1]: Fraction(1, 2), other_kept[1]: Fraction(1, 2)}


def test_a_lag_of_which_all_members_lead_to_another_switch_is_up() -> None:
    """All cables of both LAGs are exchanged. LACP knows no intent, and neither does an unnumbered session."""
    state = healthy()
    for pair in zip(members(), members(TO_OTHER_SPINE), strict=True):
        state = converge(state, FabricChange({}, exchanged=pair))
    assert state.lags[LEAF][TO_SPINE].peer == (OTHER_SPINE, TO_SPINE)
    assert used(state) == {*members()}
    assert session(state).peer_device == OTHER_SPINE


def edited(name: str, change: Callable[[Interface], Interface], switch: str = LEAF) -> dict[str, DeviceModel]:
    return {switch: with_interface(bundled().models[switch], name, change)}


def lag_with(**fields: object) -> Callable[[Interface], Interface]:
    return lambda held: replace(held, **fields)  # type: ignore[arg-type]


FAULTS = {
    "the LAG is disabled": (lag_with(enabled=False), f"{LEAF} {TO_SPINE} is disabled"),
    "the LAG has no LACP": (lag_with(lacp=False), f"{LEAF} {TO_SPINE} has no LACP"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_lag_is_down_at_both_ends(fault: str) -> None:
    change, reason = FAULTS[fault]
    state = converge(healthy(), FabricChange(edited(TO_SPINE, change)))
    assert session(state).reason == session(state, TO_SPINE, SPINE).reason == reason
    assert used(state) == used(state, TO_SPINE, SPINE) == set()
    assert all(state.port(port).oper_up for port in members())


def test_a_port_that_is_in_a_lag_at_one_end_only_is_not_bundled() -> None:
    kept, left_out = members()
    state = converge(healthy(), FabricChange(edited(TO_SPINE, lag_with(members=(kept[1],)))))
    assert used(state) == {kept}
    assert used(state, TO_SPINE, SPINE) == {state.links.far_key(state.links.egress[kept])}
    alone = converge(healthy(), FabricChange(edited(TO_SPINE, lag_with(members=()))))
    assert session(alone).reason == f"{LEAF} {TO_SPINE} has no cable"
    assert session(alone, TO_SPINE, SPINE).reason in {f"{' '.join(port)} is in no LAG" for port in (kept, left_out)}


def test_lacp_notices_a_member_that_loses_all_frames() -> None:
    """Its port stays up at both ends."""
    lossy, left = members()
    state = converge(healthy(), FabricChange({}, fibres={lossy: Fibre.LOSING}))
    assert state.port(lossy).oper_up
    assert used(state) == {left}


def test_nothing_is_pending_when_a_member_is_lost() -> None:
    state = begin(healthy(), cut(members()[0]), 0)
    assert session(state).established
    assert state.pending.next_ns is None


def test_members_have_the_qos_of_their_lag() -> None:
    state, (port, _) = healthy(), members()
    effect = state.effects[LEAF]
    assert effect.port(port[1]) == effect.port(TO_SPINE) != effect.plain
    link = state.links.egress[port]
    assert (state.network.kmin_bytes[link] < float("inf")).any()
    assert state.network.pfc_sent[link ^ 1].any()


def test_a_small_mtu_of_a_lag_is_in_the_way_on_each_member() -> None:
    state = converge(healthy(), FabricChange(edited(TO_SPINE, lag_with(mtu_bytes=1500))))
    (port, _), (out,) = members(), [state.links.egress[NEAR]]
    path = [out, state.links.egress[port]]
    assert obstacle(state, NEAR, FAR, path) == f"{LEAF} {TO_SPINE} has MTU 1500, packets have 4140 bytes"
    assert set(state.narrow[LEAF]) == {state.links.egress[member] for member in members()}


def test_only_lags_with_lacp_that_route_are_computed() -> None:
    assert all(uncomputed(model) == () for model in bundled().models.values())
    static = edited(TO_SPINE, lag_with(lacp=False))[LEAF]
    assert [*map(str, uncomputed(static))] == [f"{TO_SPINE}: LAGs without LACP"]
