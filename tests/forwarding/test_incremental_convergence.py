"""What converges step by step ends in the state that all of it at once gives, and what is not concerned is shared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from railfab.device import BfdTimers, DeviceModel, PrefixRange, plan
from railfab.forwarding import FabricChange, ForwardingState, LinkTable, Marking, converge, unconfigured
from railfab.intent import load_intent
from railfab.sim import Framing
from railfab.topology import PortKey, Role, Topology, wire

REPOSITORY = Path(__file__).resolve().parents[2]


@cache
def fabric(name: str) -> tuple[Topology, LinkTable, Mapping[str, DeviceModel]]:
    """Two tiers with shared AS numbers, unnumbered or numbered; three tiers."""
    intent = load_intent(REPOSITORY / "inventory/fabrics" / f"{name.removesuffix('-numbered')}.yml")
    if name.endswith("-numbered"):
        intent = intent.model_copy(update={"profile": intent.profile.model_copy(update={"underlay": "numbered"})})
    topology = wire(intent)
    return topology, LinkTable(topology), plan(topology, intent)


FABRICS = ("pod64", "pod64-numbered", "multi-pod")


def start(links: LinkTable) -> ForwardingState:
    return unconfigured(links, framing=Framing(), marking=Marking())


def seen(state: ForwardingState) -> dict[str, object]:
    """Everything that a state says, without the numbers that tables give things."""
    links = state.links
    prefixes = {prefix for own in state.routes.connected.values() for prefix in own}
    return {
        "cut": state.cut,
        "ports": {node: dict(ports) for node, ports in state.ports.items()},
        "sessions": {name: state.sessions_of(name) for name in links.buffer_bytes},
        "next hops": {
            (name, prefix): state.routes.egress(name, IPv4Address(prefix[0]))
            for name in links.buffer_bytes
            for prefix in prefixes
        },
        "effects": dict(state.effects),
        "narrow": {name: dict(found) for name, found in state.narrow.items() if found},
        "network": {field.name: getattr(state.network, field.name).tolist() for field in fields(state.network)},
    }


def count_prefixes(state: ForwardingState) -> None:
    """Have the prefixes of all sessions counted; what a change does not concern is not counted again after it."""
    for name in state.links.buffer_bytes:
        state.sessions_of(name)


def at_once(links: LinkTable, models: Mapping[str, DeviceModel | None], cut: frozenset[PortKey]) -> ForwardingState:
    return converge(start(links), FabricChange(models, cut=cut))


Edit = Callable[[DeviceModel, int], DeviceModel | None]


def bgp(**changes: object) -> Edit:
    return lambda model, _: replace(model, bgp=replace(model.bgp, **changes))  # type: ignore[arg-type]


def interface(change: Callable[[object], object]) -> Edit:
    def edit(model: DeviceModel, place: int) -> DeviceModel:
        ports = list(model.interfaces)
        ports[place % len(ports)] = change(ports[place % len(ports)])  # type: ignore[call-overload]
        return replace(model, interfaces=tuple(ports))

    return edit


def neighbor(change: Callable[[object], object]) -> Edit:
    def edit(model: DeviceModel, place: int) -> DeviceModel:
        held = list(model.bgp.neighbors)
        if held:
            held[place % len(held)] = change(held[place % len(held)])  # type: ignore[call-overload]
        return replace(model, bgp=replace(model.bgp, neighbors=tuple(found for found in held if found is not None)))

    return edit


def qos(model: DeviceModel, place: int) -> DeviceModel:
    assert model.qos is not None
    ports = list(model.qos.ports)
    ports[place % len(ports)] = replace(ports[place % len(ports)], pfc=False, ecn=False)
    profiles = tuple(replace(profile, kmin_bytes=profile.kmin_bytes + place) for profile in model.qos.profiles)
    return replace(model, qos=replace(model.qos, ports=tuple(ports), profiles=profiles))


def reordered(model: DeviceModel, place: int) -> DeviceModel:
    ports = model.interfaces
    return replace(model, interfaces=(*ports[place % len(ports) :], *ports[: place % len(ports)]))


ANYTHING = (PrefixRange(prefix=IPv4Network("0.0.0.0/0"), ge=0, le=32),)
LOOPBACKS = (PrefixRange(prefix=IPv4Network("10.0.0.0/8"), ge=32, le=32),)
EDITS: Mapping[str, Edit] = {
    "unconfigured": lambda model, place: None,
    "as planned": lambda model, place: model,
    "another AS number": bgp(asn=64_999),
    "one path": bgp(max_paths=1),
    "three paths": bgp(max_paths=3),
    "exports loopbacks": bgp(export_prefixes=LOOPBACKS),
    "exports nothing": bgp(export_prefixes=()),
    "exports all": bgp(export_prefixes=ANYTHING),
    "imports loopbacks": bgp(import_prefixes=LOOPBACKS),
    "imports all": bgp(import_prefixes=ANYTHING),
    "no BFD": lambda model, place: replace(model, bfd=None),
    "BFD": lambda model, place: replace(model, bfd=BfdTimers(interval_ms=100, multiplier=3)),
    "another loopback": lambda model, place: replace(model, loopback=IPv4Address("10.254.7.7")),
    "no QoS": lambda model, place: replace(model, qos=None),
    "thresholds": qos,
    "interfaces in another order": reordered,
    "a port disabled": interface(lambda port: replace(port, enabled=False)),  # type: ignore[type-var]
    "a port of MTU 1500": interface(lambda port: replace(port, mtu_bytes=1500)),  # type: ignore[type-var]
    "a port of 10G": interface(lambda port: replace(port, rate_gbps=10)),  # type: ignore[type-var]
    "a port renumbered": interface(
        lambda port: replace(port, address=IPv4Interface("192.0.2.1/31"))  # type: ignore[type-var]
    ),
    "a port without link-local": interface(lambda port: replace(port, unnumbered=False)),  # type: ignore[type-var]
    "neighbours in another order": lambda model, place: replace(
        model, bgp=replace(model.bgp, neighbors=model.bgp.neighbors[::-1])
    ),
    "a neighbour gone": neighbor(lambda held: None),
    "a neighbour of another AS": neighbor(lambda held: replace(held, remote_as=1)),  # type: ignore[type-var]
    "a neighbour without BFD": neighbor(lambda held: replace(held, bfd=False)),  # type: ignore[type-var]
}


@st.composite
def histories(draw: st.DrawFn) -> tuple[str, list[FabricChange]]:
    """A fabric, and changes to it one after the other."""
    name = draw(st.sampled_from(FABRICS))
    topology, links, models = fabric(name)
    ends = st.frozensets(st.sampled_from(links.keys), max_size=2)
    switches = [node.name for node in topology.switches()]
    changes = []
    for _ in range(draw(st.integers(1, 6))):
        chosen = draw(st.lists(st.sampled_from(switches), max_size=3, unique=True))
        edited = {
            switch: EDITS[draw(st.sampled_from(sorted(EDITS)))](models[switch], draw(st.integers(0, 40)))
            for switch in chosen
        }
        changes.append(FabricChange(edited, cut=draw(ends), restored=draw(ends)))
    return name, changes


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(histories(), st.booleans())
def test_a_history_of_changes_gives_the_state_of_their_sum(
    history: tuple[str, list[FabricChange]], planned: bool
) -> None:
    name, changes = history
    _, links, models = fabric(name)
    held: dict[str, DeviceModel | None] = dict(models) if planned else {}
    state = at_once(links, held, frozenset())
    for change in changes:
        count_prefixes(state)
        state = converge(state, change)
        held.update(change.models)
    assert seen(state) == seen(at_once(links, held, state.cut))


@pytest.mark.parametrize("edit", sorted(EDITS))
@pytest.mark.parametrize("name", FABRICS)
def test_each_edit_of_a_leaf_and_a_spine_gives_the_state_of_all_at_once(name: str, edit: str) -> None:
    topology, links, models = fabric(name)
    planned = at_once(links, models, frozenset())
    count_prefixes(planned)
    for role in (Role.LEAF, Role.SPINE):
        switch = next(node.name for node in topology.switches() if node.role is role)
        edited = EDITS[edit](models[switch], 30)
        assert seen(converge(planned, FabricChange({switch: edited}))) == seen(
            at_once(links, {**models, switch: edited}, frozenset())
        )


@pytest.mark.parametrize("name", FABRICS)
def test_switches_configured_one_by_one_converge_to_the_state_of_all_at_once(name: str) -> None:
    _, links, models = fabric(name)
    state = start(links)
    for switch, model in models.items():
        state = converge(state, FabricChange({switch: model}))
    assert seen(state) == seen(at_once(links, models, frozenset()))


@pytest.mark.parametrize("name", FABRICS)
def test_what_is_undone_leaves_no_trace(name: str) -> None:
    _, links, models = fabric(name)
    planned = at_once(links, models, frozenset())
    switch, model = next(iter(models.items()))
    port = links.keys[links.links_of[switch][-1]]
    for there, back in (
        (FabricChange({switch: None}), FabricChange({switch: model})),
        (FabricChange({}, cut=frozenset({port})), FabricChange({}, restored=frozenset({port}))),
    ):
        assert seen(converge(planned, there)) != seen(planned)
        assert seen(converge(converge(planned, there), back)) == seen(planned)


def test_a_prefix_has_the_routes_to_all_its_originators() -> None:
    """Two leaves with one loopback: each becomes an originator, and ceases to be one, of a prefix that stays."""
    _, links, models = fabric("pod64")
    one, two, other = "pod1-seg1-leaf1", "pod1-seg1-leaf2", "pod1-seg2-leaf1"
    shared = IPv4Address("10.255.9.9")
    first, second = (replace(models[name], loopback=shared) for name in (one, two))
    held = at_once(links, {**models, one: first}, frozenset())
    both = converge(held, FabricChange({two: second}))
    assert seen(both) == seen(at_once(links, {**models, one: first, two: second}, frozenset()))
    spine = "pod1-spine1"
    peers = {links.far_key(link)[0] for link in both.routes.egress(spine, shared)}
    assert peers == {one, two}
    left = converge(both, FabricChange({one: models[one]}))
    assert {links.far_key(link)[0] for link in left.routes.egress(spine, shared)} == {two}
    assert seen(left) == seen(at_once(links, {**models, two: second}, frozenset()))
    assert len(left.routes.egress(other, shared)) == 8


def test_a_host_port_that_goes_down_lowers_the_numbers_of_prefixes_of_all_sessions() -> None:
    _, links, models = fabric("pod64")
    planned = at_once(links, models, frozenset())
    count_prefixes(planned)
    leaf, far = "pod1-seg1-leaf1", "pod1-seg2-leaf1"
    host_port = next(
        key
        for key in (links.keys[link] for link in links.links_of[leaf])
        if links.is_host(links.far_key(links.egress[key])[0])
    )
    down = converge(planned, FabricChange({}, cut=frozenset({host_port})))
    assert [session.received for session in down.sessions_of(far)] == [
        session.received - 1 for session in planned.sessions_of(far)
    ]


def test_a_qos_change_shares_routes_ports_and_sessions() -> None:
    _, links, models = fabric("pod64")
    planned = at_once(links, models, frozenset())
    leaf = "pod1-seg1-leaf1"
    changed = converge(planned, FabricChange({leaf: qos(models[leaf], 0)}))
    assert changed.routes is planned.routes
    assert all(changed.ports[node] is planned.ports[node] for node in planned.ports)
    assert all(changed.sessions[name] is planned.sessions[name] for name in planned.sessions)
    assert {name for name in planned.effects if changed.effects[name] is not planned.effects[name]} == {leaf}
    assert changed.forwards_otherwise(planned) == {leaf}
    rows = {
        int(link) for link in np.flatnonzero((changed.network.kmin_bytes != planned.network.kmin_bytes).any(axis=1))
    }
    assert rows <= set(links.links_of[leaf])


def test_a_state_is_not_changed_by_what_follows() -> None:
    _, links, models = fabric("pod64")
    planned = at_once(links, models, frozenset())
    before = seen(planned)
    for edit in EDITS.values():
        converge(planned, FabricChange({name: edit(model, 3) for name, model in list(models.items())[:2]}))
    converge(planned, FabricChange({}, cut=frozenset(links.keys[:4])))
    assert seen(planned) == before


def test_routes_that_lose_their_originator_settle_among_switches_with_their_own_as_numbers() -> None:
    """Without a shared AS number switches offer a lost route to each other along ever longer paths."""
    _, links, models = fabric("multi-pod")
    own = {
        name: replace(model, bgp=replace(model.bgp, asn=70_000 + place))
        for place, (name, model) in enumerate(models.items())
    }
    asn = {name: model.bgp.asn for name, model in own.items()}
    for name, model in own.items():
        neighbors = tuple(
            replace(held, remote_as=asn[links.far_key(links.egress[name, held.interface])[0]])
            for held in model.bgp.neighbors
        )
        own[name] = replace(model, bgp=replace(model.bgp, neighbors=neighbors))
    planned = at_once(links, own, frozenset())
    leaf = "pod1-seg1-leaf1"
    uplinks = [
        key
        for key in (links.keys[link] for link in links.links_of[leaf])
        if not links.is_host(links.far_key(links.egress[key])[0])
    ]
    assert all(session.established for session in planned.sessions_of(leaf))
    alone = converge(planned, FabricChange({}, cut=frozenset(uplinks)))
    assert seen(alone) == seen(at_once(links, own, alone.cut))
    assert seen(converge(alone, FabricChange({}, restored=frozenset(uplinks)))) == seen(planned)
