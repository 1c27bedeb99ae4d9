"""A fabric converges in time: an end notices when its timers say so, and in the end all is as if it were at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from ipaddress import IPv4Address

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.forwarding.fabrics import with_bgp, with_loopback, with_neighbors, with_port
from tests.forwarding.test_incremental_convergence import at_once, fabric, histories, seen
from tests.laws import examples

from railfab.device import BfdTimers, BgpTimers, DeviceModel
from railfab.forwarding import FabricChange, Fibre, ForwardingState, SwitchFault, begin, converge, settle
from railfab.forwarding.prefixes import Prefix
from railfab.forwarding.route_steps import PROCESSING_NS, PROGRAMMING_NS
from railfab.forwarding.session_delays import HANDSHAKE_NS
from railfab.topology import PortKey
from railfab.units import NS_PER_MS, NS_PER_S

LEAF, OTHER_LEAF, FAR_LEAF, SPINE = "pod1-seg1-leaf1", "pod1-seg1-leaf2", "pod1-seg2-leaf1", "pod1-spine1"
LONG_NS = 10_000 * NS_PER_S
TIMERS = BgpTimers(keepalive_s=3, hold_s=9, connect_retry_s=10, advertisement_interval_s=1)
BFD = BfdTimers(interval_ms=300, multiplier=3)


def with_timers(model: DeviceModel, timers: BgpTimers = TIMERS, bfd: BfdTimers | None = BFD) -> DeviceModel:
    rapid = with_bgp(model, lambda held: replace(held, rapid_withdrawal=True))
    return with_neighbors(rapid, lambda held: replace(held, timers=timers, bfd=bfd))


def running(**others: DeviceModel) -> ForwardingState:
    """pod64 with these timers everywhere, converged."""
    _, links, models = fabric("pod64")
    return at_once(links, {name: others.get(name, with_timers(model)) for name, model in models.items()}, frozenset())


def uplinks(state: ForwardingState, leaf: str = LEAF) -> list[PortKey]:
    """The ports of a leaf that lead to SPINE."""
    links = state.links
    return [links.keys[link] for link in links.links_of[leaf] if links.far_key(link)[0] == SPINE]


def silenced(state: ForwardingState, port: PortKey) -> FabricChange:
    """The far end of this port has no address any more; its port stays up."""
    far, interface = state.links.far_key(state.links.egress[port])
    return FabricChange(
        {far: with_port(state.configs[far].model, interface, lambda held: replace(held, unnumbered=False))}
    )


def moments(state: ForwardingState) -> Iterator[tuple[int, ForwardingState]]:
    """Every later state, and its time."""
    while (next_ns := state.pending.next_ns) is not None:
        state = settle(state, next_ns)
        yield next_ns, state


def established(state: ForwardingState, port: PortKey) -> bool:
    return state.sessions[port[0]][port[1]].established


def noticed_ns(state: ForwardingState, port: PortKey, *, up: bool = False) -> int:
    """When this end of a session notices."""
    assert established(state, port) is not up
    return next(now_ns for now_ns, later in moments(state) if established(later, port) is up)


def spines(state: ForwardingState, leaf: str, prefix: Prefix) -> set[str]:
    """The spines by which a leaf sends packets to a prefix."""
    routes, links = state.routes, state.links
    number = int(routes.programmed[routes.rows[leaf], routes.groups.numbers[prefix]])
    return {links.far_key(link)[0] for link in routes.tables.hops.links[number]}


@settings(
    max_examples=examples(25),
    deadline=None,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow],
)
@given(histories(), st.lists(st.integers(0, 5 * NS_PER_S), min_size=20, max_size=20))
def test_a_history_in_time_ends_in_the_state_that_it_has_at_once(
    history: tuple[str, list[FabricChange]], pauses_ns: list[int]
) -> None:
    """Also when changes come before the earlier ones have taken effect everywhere, and take time to be in effect."""
    name, changes = history
    _, links, models = fabric(name)
    timed = at_once_state = at_once(links, models, frozenset())
    now_ns = 0
    for change, pause_ns in zip(changes, pauses_ns, strict=False):
        settled = settle(timed, now_ns)
        timed = begin(settled, change, now_ns)
        timed = replace(timed, pending=timed.pending.postponed(settled.pending, pause_ns // 2))
        at_once_state = converge(at_once_state, change)
        now_ns += pause_ns
    assert seen(settle(timed, now_ns + LONG_NS)) == seen(at_once_state)


def test_a_port_that_goes_down_is_noticed_at_once_and_repaired_when_the_hardware_is_programmed() -> None:
    state = running()
    port = uplinks(state)[0]
    cut = begin(state, FabricChange({}, cut=frozenset({port})), 0)
    assert not established(cut, port)
    link = state.links.egress[port]

    def used(found: ForwardingState) -> bool:
        routes = found.routes
        numbers = set(routes.programmed[routes.rows[LEAF]].tolist())
        return any(link in routes.tables.hops.links[number] for number in numbers if number >= 0)

    assert used(cut)
    repaired_ns = next(now_ns for now_ns, later in moments(cut) if not used(later))
    assert PROGRAMMING_NS < repaired_ns < 10 * PROGRAMMING_NS


@pytest.mark.parametrize(
    ("near", "far", "detected_ms"),
    [
        (BFD, BFD, 900),
        (BFD, BfdTimers(interval_ms=100, multiplier=5), 1500),
        (BfdTimers(interval_ms=50, multiplier=3), BfdTimers(interval_ms=50, multiplier=4), 200),
        (None, None, 9000),
        (BFD, None, 9000),
    ],
)
def test_a_silent_far_end_is_noticed_after_the_detection_time_or_else_the_hold_time(
    near: BfdTimers | None, far: BfdTimers | None, detected_ms: int
) -> None:
    models = fabric("pod64")[2]
    state = running(**{LEAF: with_timers(models[LEAF], bfd=near), SPINE: with_timers(models[SPINE], bfd=far)})
    port = uplinks(state)[0]
    silent = begin(state, silenced(state, port), NS_PER_S)
    assert established(silent, port)
    assert noticed_ns(silent, port) == NS_PER_S + detected_ms * NS_PER_MS


def test_the_lower_hold_time_of_both_ends_counts() -> None:
    models = fabric("pod64")[2]
    slow = with_timers(models[SPINE], replace(TIMERS, hold_s=90), None)
    state = running(**{LEAF: with_timers(models[LEAF], bfd=None), SPINE: slow})
    port = uplinks(state)[0]
    assert noticed_ns(begin(state, silenced(state, port), 0), port) == 9 * NS_PER_S


def test_a_far_end_that_ends_its_session_says_so() -> None:
    state = running()
    port = uplinks(state)[0]
    far, interface = state.links.far_key(state.links.egress[port])
    shut = with_neighbors(
        state.configs[far].model, lambda held: replace(held, enabled=False) if held.key == interface else held
    )
    assert not established(begin(state, FabricChange({far: shut}), 0), port)


def test_a_silence_that_ends_in_time_is_not_noticed() -> None:
    state = running()
    port = uplinks(state)[0]
    silent = begin(state, silenced(state, port), 0)
    healed = begin(silent, FabricChange({SPINE: state.configs[SPINE].model}), 500 * NS_PER_MS)
    assert all(established(later, port) for _, later in moments(healed))


def test_a_session_returns_when_the_first_end_tries_again_and_at_once_after_a_configuration() -> None:
    models = fabric("pod64")[2]
    patient = with_timers(models[SPINE], replace(TIMERS, connect_retry_s=60))
    state = running(**{SPINE: patient})
    port = uplinks(state)[0]
    down = converge(state, FabricChange({}, cut=frozenset({port})))
    back = begin(down, FabricChange({}, restored=frozenset({port})), 0)
    assert 10 * NS_PER_S <= noticed_ns(back, port, up=True) < 11 * NS_PER_S
    gone = converge(state, FabricChange({SPINE: None}))
    assert noticed_ns(begin(gone, FabricChange({SPINE: patient}), 0), port, up=True) < NS_PER_S


def bfd_ns(state: ForwardingState, port: PortKey) -> int:
    """When BFD comes up at this end of a session."""
    assert not state.sessions[port[0]][port[1]].bfd_up
    return next(now_ns for now_ns, later in moments(state) if later.sessions[port[0]][port[1]].bfd_up)


def test_bfd_starts_when_its_session_is_up_with_a_handshake_of_a_packet_a_second() -> None:
    state = running()
    port = uplinks(state)[0]
    down = converge(state, FabricChange({}, cut=frozenset({port})))
    back = begin(down, FabricChange({}, restored=frozenset({port})), 0)
    up_ns = noticed_ns(back, port, up=True)
    shown = settle(back, up_ns).sessions[port[0]][port[1]]
    assert (shown.bfd_up, shown.bfd) == (False, (1000, None, None, None))
    assert bfd_ns(back, port) == bfd_ns(back, state.links.far_key(state.links.egress[port])) == up_ns + 2 * NS_PER_S
    assert established(settle(back, up_ns + NS_PER_S), port)


def test_bfd_that_is_configured_under_an_established_session_takes_its_handshake() -> None:
    """Slower than a packet a second where an end has a longer interval."""
    models = fabric("pod64")[2]
    slow = with_timers(models[LEAF], bfd=BfdTimers(interval_ms=1500, multiplier=3))
    state = running(**{LEAF: with_timers(models[LEAF], bfd=None)})
    port = uplinks(state)[0]
    begun = begin(state, FabricChange({LEAF: slow}), NS_PER_S)
    assert established(begun, port)
    assert bfd_ns(begun, port) == NS_PER_S + 3 * NS_PER_S


def test_a_spine_without_a_leaf_is_used_by_others_until_they_have_its_withdrawal() -> None:
    """Between its own repair and theirs their packets arrive where no route leads on."""
    state = running()
    prefix = next(prefix for prefix, link in state.routes.connected[LEAF].items() if link is not None)
    cut = begin(state, FabricChange({}, cut=frozenset(uplinks(state))), 0)
    assert spines(cut, SPINE, prefix) == {LEAF}
    history = [(0, cut), *moments(cut)]
    spine_ns = next(now_ns for now_ns, later in history if LEAF not in spines(later, SPINE, prefix))
    leaf_ns = next(now_ns for now_ns, later in history if SPINE not in spines(later, FAR_LEAF, prefix))
    assert spine_ns > PROGRAMMING_NS
    assert PROCESSING_NS + PROGRAMMING_NS < leaf_ns < 200 * NS_PER_MS


def test_withdrawals_wait_for_the_advertisement_interval_unless_they_are_rapid() -> None:
    """The first update to a peer goes at once, the next one an interval later."""
    slow = {
        name: with_bgp(with_timers(model), lambda held: replace(held, rapid_withdrawal=False))
        for name, model in fabric("pod64")[2].items()
    }
    state = running(**slow)
    prefix = next(prefix for prefix, link in state.routes.connected[LEAF].items() if link is not None)

    def left_after_ns(found: ForwardingState, began_ns: int) -> int:
        cut = begin(found, FabricChange({}, cut=frozenset(uplinks(found))), began_ns)
        return next(ns for ns, later in moments(cut) if SPINE not in spines(later, FAR_LEAF, prefix)) - began_ns

    assert left_after_ns(state, 0) < 200 * NS_PER_MS
    other = begin(state, FabricChange({}, cut=frozenset(uplinks(state, OTHER_LEAF))), 0)
    assert left_after_ns(other, 300 * NS_PER_MS) > 700 * NS_PER_MS


@pytest.mark.parametrize(
    ("leaf", "spine", "losing", "noticed_ms"),
    [
        (BFD, BFD, "leaf", 900),
        (None, None, "leaf", 9000),
        (BfdTimers(interval_ms=50, multiplier=3), BfdTimers(interval_ms=50, multiplier=4), "leaf", 200),
        (BfdTimers(interval_ms=50, multiplier=3), BfdTimers(interval_ms=50, multiplier=4), "spine", 150),
    ],
)
def test_ports_that_stay_up_on_a_fibre_that_loses_everything_leave_it_to_bfd_or_the_hold_time(
    leaf: BfdTimers | None, spine: BfdTimers | None, losing: str, noticed_ms: int
) -> None:
    """The end that still hears the other one is told by it, so both end the session at the same time."""
    models = fabric("pod64")[2]
    state = running(**{LEAF: with_timers(models[LEAF], bfd=leaf), SPINE: with_timers(models[SPINE], bfd=spine)})
    port = uplinks(state)[0]
    far = state.links.far_key(state.links.egress[port])
    lost = begin(state, FabricChange({}, fibres={port if losing == "leaf" else far: Fibre.LOSING}), NS_PER_S)
    assert lost.port(port).oper_up
    assert lost.port(far).oper_up
    assert [noticed_ns(lost, end) for end in (port, far)] == [NS_PER_S + noticed_ms * NS_PER_MS] * 2


def test_a_dark_fibre_is_noticed_at_once_at_both_ends() -> None:
    state = running()
    port = uplinks(state)[0]
    far = state.links.far_key(state.links.egress[port])
    dark = begin(state, FabricChange({}, fibres={port: Fibre.DARK}), 0)
    assert dark.port(port).reason == f"no light from {far[0]} {far[1]}"
    assert dark.port(far).reason == f"{port[0]} {port[1]} signals that it receives no light"
    assert not established(dark, port)
    assert not established(dark, far)


def hung(state: ForwardingState, now_ns: int = 0) -> ForwardingState:
    return begin(state, FabricChange({}, switch_faults={SPINE: SwitchFault.HUNG}), now_ns)


def resumed(state: ForwardingState, now_ns: int) -> ForwardingState:
    return begin(state, FabricChange({}, switch_faults={SPINE: SwitchFault.NONE}), now_ns)


def test_the_peers_of_a_switch_that_hangs_leave_it_and_it_forwards_as_before() -> None:
    state = running()
    port = uplinks(state)[0]
    prefix = next(prefix for prefix, link in state.routes.connected[LEAF].items() if link is not None)
    before = state.routes.programmed[state.routes.rows[SPINE]].copy()
    hangs = hung(state)
    assert noticed_ns(hangs, port) == 900 * NS_PER_MS
    cut = begin(hangs, FabricChange({}, cut=frozenset(uplinks(state, OTHER_LEAF))), 100 * NS_PER_MS)
    last = settle(cut, LONG_NS)
    assert (last.routes.programmed[last.routes.rows[SPINE]] == before).all(), "whatever its peers sent it"
    assert SPINE not in spines(last, FAR_LEAF, prefix)
    assert SPINE in spines(state, FAR_LEAF, prefix)


def test_a_switch_that_resumes_begins_its_sessions_again_and_ends_as_if_it_had_never_hung() -> None:
    state = running()
    port = uplinks(state)[0]
    far = state.links.far_key(state.links.egress[port])
    change = FabricChange({}, cut=frozenset(uplinks(state, OTHER_LEAF)))
    hangs = settle(begin(hung(state), change, 100 * NS_PER_MS), 5 * NS_PER_S)
    assert established(hangs, far), "it has not noticed anything"
    again = resumed(hangs, 5 * NS_PER_S)
    assert not established(again, far)
    assert noticed_ns(again, port, up=True) >= 15 * NS_PER_S
    assert seen(settle(again, LONG_NS)) == seen(converge(state, change))


def test_a_switch_that_hangs_for_less_than_the_detection_time_loses_no_session() -> None:
    """What its peers announced meanwhile it has after it resumes."""
    state = running()
    port = uplinks(state)[0]
    change = FabricChange({}, cut=frozenset(uplinks(state, OTHER_LEAF)))
    again = resumed(begin(hung(state), change, 100 * NS_PER_MS), 800 * NS_PER_MS)
    assert all(established(later, port) for _, later in moments(again))
    assert seen(settle(again, LONG_NS)) == seen(converge(state, change))


def test_a_switch_that_hangs_ends_in_the_same_state_when_the_fabric_converges_at_once() -> None:
    state = running()
    change = FabricChange({}, cut=frozenset(uplinks(state, OTHER_LEAF)))
    hangs = converge(converge(state, FabricChange({}, switch_faults={SPINE: SwitchFault.HUNG})), change)
    assert not established(hangs, uplinks(state)[0])
    again = converge(hangs, FabricChange({}, switch_faults={SPINE: SwitchFault.NONE}))
    assert seen(again) == seen(converge(state, change))


def test_a_switch_that_hangs_keeps_its_routes_when_cables_are_exchanged_elsewhere() -> None:
    state = running()
    prefix = next(prefix for prefix, link in state.routes.connected[LEAF].items() if link is not None)
    ports = [state.links.keys[link] for link in state.links.links_of[FAR_LEAF][:2]]
    exchanged = begin(hung(state), FabricChange({}, exchanged=(ports[0], ports[1])), NS_PER_S)
    assert spines(exchanged, SPINE, prefix) == {LEAF}
    assert established(exchanged, state.links.far_key(state.links.egress[uplinks(state)[0]])), "it notices nothing"
    assert not established(exchanged, uplinks(state)[0])


def test_a_switch_that_hangs_keeps_its_session_with_one_that_has_lost_its_configuration() -> None:
    state = running()
    port = uplinks(state)[0]
    alone = begin(hung(state), FabricChange({LEAF: None}), NS_PER_S)
    assert {found.key for found in alone.sessions_of(SPINE)} == {found.key for found in state.sessions_of(SPINE)}
    assert established(alone, state.links.far_key(state.links.egress[port]))


@pytest.mark.parametrize("ports", [0, 2], ids=["", "after an exchange of cables"])
def test_a_switch_without_power_has_no_configuration_whatever_it_is_given(ports: int) -> None:
    """A Set that is in progress when the power goes ends after that."""
    state = running()
    off = begin(state, FabricChange({}, switch_faults={SPINE: SwitchFault.OFF}), 0)
    assert SPINE not in off.sessions
    if ports:
        one, other = [state.links.keys[link] for link in state.links.links_of[FAR_LEAF][:ports]]
        off = begin(off, FabricChange({}, exchanged=(one, other)), 0)
    late = begin(off, FabricChange({SPINE: state.configs[SPINE].model}), NS_PER_S)
    assert SPINE not in late.configs
    assert SPINE not in late.sessions
    assert {held.reason for held in late.ports[SPINE].values()} == {f"{SPINE} has no power"}
    on = begin(late, FabricChange({SPINE: state.configs[SPINE].model}, switch_faults={SPINE: SwitchFault.NONE}), 0)
    assert SPINE in on.sessions


def test_what_a_change_adds_is_postponed_and_what_was_pending_before_is_not() -> None:
    """The change is in effect 5 s after it began to converge."""
    announcing, late_ns = with_timers(fabric("pod64")[2][FAR_LEAF]), 5 * NS_PER_S
    state = running(**{FAR_LEAF: with_loopback(announcing)})
    ports, (other, *_) = uplinks(state), uplinks(state, OTHER_LEAF)
    silent = begin(state, silenced(state, other), 0)
    cut = begin(silent, FabricChange({FAR_LEAF: announcing}, cut=frozenset(ports)), NS_PER_MS).pending
    late = cut.postponed(silent.pending, late_ns)
    assert late.sessions == silent.pending.sessions != {}
    earlier = silent.pending.programming
    assert late.programming[: len(earlier)] == earlier != ()
    added = [(held.due_ns + late_ns, held.switch) for held in cut.programming[len(earlier) :]]
    assert list(late.programming[len(earlier) :]) == added != []
    assert silent.pending.updates == ()
    assert [held.due_ns for held in late.updates] == [held.due_ns + late_ns for held in cut.updates] != []
    assert late.announced_ns == {key: last_ns + late_ns for key, last_ns in cut.announced_ns.items()} != {}
    assert late.postponed(late, late_ns) == late


def test_a_session_that_a_change_brings_back_is_postponed_with_its_bfd() -> None:
    state, late_ns = running(), 5 * NS_PER_S
    port, *_ = uplinks(state)
    down = settle(begin(state, FabricChange({}, cut=frozenset({port})), 0), NS_PER_S)
    back = begin(down, FabricChange({}, restored=frozenset({port})), NS_PER_S)
    late = replace(back, pending=back.pending.postponed(down.pending, late_ns))
    assert noticed_ns(late, port, up=True) == noticed_ns(back, port, up=True) + late_ns
    held, then = late.pending.sessions[port], back.pending.sessions[port]
    assert held.then is not None
    assert then.then is not None
    assert held.then.due_ns == then.then.due_ns + late_ns


def test_a_session_whose_open_message_changes_ends_at_once_and_begins_again() -> None:
    """The router ID is in the OPEN message; the timers of retries are not, and a session has one."""
    state = running()
    port = uplinks(state)[0]
    near, far = (state.configs[LEAF].model, state.links.far_key(state.links.egress[port]))
    slower = with_neighbors(near, lambda held: replace(held, timers=replace(held.timers, connect_retry_s=7)))
    assert established(begin(state, FabricChange({LEAF: slower}), 0), port)
    other = with_bgp(near, lambda held: replace(held, router_id=IPv4Address("10.9.9.9")))
    changed = begin(state, FabricChange({LEAF: other}), 0)
    assert not established(changed, port)
    assert not established(changed, far)
    assert noticed_ns(changed, port, up=True) == noticed_ns(changed, far, up=True) == HANDSHAKE_NS
    in_the_end = settle(changed, LONG_NS)
    assert in_the_end.sessions[far[0]][far[1]].peer_router_id == IPv4Address("10.9.9.9")
    assert seen(in_the_end) == seen(converge(state, FabricChange({LEAF: other})))
