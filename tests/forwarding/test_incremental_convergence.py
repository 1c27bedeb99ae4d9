"""What converges step by step ends in the state that all of it at once gives, and what is not concerned is shared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from functools import cache
from ipaddress import IPv4Address, IPv4Interface, IPv4Network, IPv6Address, IPv6Interface
from itertools import cycle, product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.forwarding.fabrics import (
    denying,
    permitting,
    with_bgp,
    with_loopback,
    with_neighbors,
    with_policy,
    with_port,
    with_ports,
    with_qos,
    with_ramp,
    with_thresholds,
)
from tests.laws import examples
from tests.sampled import sampled

from railfab.device import (
    Action,
    Aggregate,
    BfdTimers,
    BgpNeighbor,
    DeviceModel,
    Family,
    Fec,
    IpAddress,
    Lag,
    LinkBandwidth,
    LoadBalancing,
    NextHop,
    Policy,
    PolicyRule,
    Port,
    Remote,
    SecretReference,
    plan,
)
from railfab.forwarding import FabricChange, ForwardingState, LinkTable, Marking, converge, unconfigured
from railfab.forwarding.prefixes import Prefix
from railfab.intent import load_intent
from railfab.sim import Framing
from railfab.topology import PortKey, Role, Topology, wire

REPOSITORY = Path(__file__).resolve().parents[2]


@cache
def fabric(name: str) -> tuple[Topology, LinkTable, Mapping[str, DeviceModel]]:
    """Two tiers with shared AS numbers, unnumbered or numbered, or in one AS with reflectors; three tiers."""
    intent = load_intent(
        REPOSITORY / "inventory/fabrics" / f"{name.removesuffix('-numbered').removesuffix('-ibgp')}.yml"
    )
    if name.endswith("-numbered"):
        intent = intent.model_copy(update={"profile": intent.profile.model_copy(update={"underlay": "numbered"})})
    topology = wire(intent)
    models = plan(topology, intent)
    return topology, LinkTable(topology), inside_one_as(models) if name.endswith("-ibgp") else models


def inside_one_as(models: Mapping[str, DeviceModel]) -> Mapping[str, DeviceModel]:
    """The switches in one AS, with the spines as reflectors."""
    return {
        name: with_bgp(
            every_neighbor(remote_as=Remote.INTERNAL, reflector_client="spine" in name, next_hop=NextHop.SELF)(
                model, 0
            ),
            lambda bgp: replace(bgp, asn=65_000, max_paths_internal=8),
        )
        for name, model in models.items()
    }


FABRICS = ("pod64", "pod64-numbered", "pod64-ibgp", "multi-pod", "pod64-bundle")


def start(links: LinkTable) -> ForwardingState:
    return unconfigured(links, framing=Framing(), marking=Marking())


def address_in(prefix: Prefix) -> IpAddress:
    """The first address of a prefix."""
    return (IPv4Address if prefix[0] == 32 else IPv6Address)(prefix[1])


def seen(state: ForwardingState) -> dict[str, object]:
    """Everything that a state says, without the numbers that tables give things."""
    links = state.links
    prefixes = {prefix for own in state.routes.connected.values() for prefix in own}
    return {
        "cut": state.cut,
        "ports": {node: dict(ports) for node, ports in state.ports.items()},
        "lags": {node: dict(lags) for node, lags in state.lags.items()},
        "sessions": {name: state.sessions_of(name) for name in links.buffer_bytes},
        "next hops": {
            (name, prefix): state.routes.egress(name, address_in(prefix))
            for name in links.buffer_bytes
            for prefix in prefixes
        },
        "effects": dict(state.effects),
        "narrow": {name: dict(found) for name, found in state.narrow.items() if found},
        "network": {field.name: getattr(state.network, field.name).tobytes() for field in fields(state.network)},
    }


def count_prefixes(state: ForwardingState) -> None:
    """Have the prefixes of all sessions counted; what a change does not concern is not counted again after it."""
    for name in state.links.buffer_bytes:
        state.sessions_of(name)


def at_once(links: LinkTable, models: Mapping[str, DeviceModel | None], cut: frozenset[PortKey]) -> ForwardingState:
    return converge(start(links), FabricChange(models, cut=cut))


Edit = Callable[[DeviceModel, int], DeviceModel | None]
Kept = Callable[[DeviceModel, int], DeviceModel]
"""An edit after which there is a model."""


def bgp(**changes: object) -> Kept:
    return lambda model, _: with_bgp(model, lambda held: replace(held, **changes))  # type: ignore[arg-type]


def port(**changes: object) -> Kept:
    """A change of one port, or of all; a port takes the settings that only ports have."""

    def edit(model: DeviceModel, place: int) -> DeviceModel:
        names = [interface.name for interface in model.interfaces if isinstance(interface, Port)]
        return with_port(model, names[place % len(names)], lambda held: replace(held, **changes))  # type: ignore[arg-type]

    return edit


def lag(change: Callable[[Lag], Lag]) -> Kept:
    """A change of one LAG, on switches that have any."""

    def edit(model: DeviceModel, place: int) -> DeviceModel:
        lags = [interface for interface in model.interfaces if isinstance(interface, Lag)]
        chosen = lags[place % len(lags)] if lags else None
        return replace(model, interfaces=tuple(change(held) if held is chosen else held for held in model.interfaces))  # type: ignore[arg-type]

    return edit


def neighbor(change: Callable[[BgpNeighbor], BgpNeighbor | None]) -> Kept:
    def edit(model: DeviceModel, place: int) -> DeviceModel:
        keys = [held.key for held in model.neighbors]
        chosen = keys[place % len(keys)] if keys else None
        return with_neighbors(model, lambda held: change(held) if held.key == chosen else held)

    return edit


def every_neighbor(**changes: object) -> Kept:
    return lambda model, _: with_neighbors(model, lambda held: replace(held, **changes))  # type: ignore[arg-type]


def policy(direction: str, *rules: PolicyRule, default: Action = Action.DENY, all_sessions: bool = True) -> Edit:
    """A policy for one direction of all sessions, or of one of them."""

    def edit(model: DeviceModel, place: int) -> DeviceModel:
        keys = [held.key for held in model.neighbors]
        only = None if all_sessions or not keys else keys[place % len(keys)]
        return with_policy(model, direction, Policy(name="edited", rules=rules, default=default), only=only)

    return edit


def two_policies(model: DeviceModel, place: int) -> DeviceModel:
    """One that tags loopbacks, and one that permits what is left."""
    tagging = Policy(name="tagging", rules=(permitting("10.0.0.0/8", ge=32, set_communities=("65000:1",)),))
    return with_policy(model, "export", tagging, Policy(name="rest", rules=(), default=Action.PERMIT))


def classes(model: DeviceModel, place: int) -> DeviceModel:
    """Another priority obeyed than asked for."""
    changed = tuple(replace(held, obeyed_priority=place % 8) for held in model.qos.classes) if model.qos else ()
    return with_qos(model, lambda qos: replace(qos, classes=changed)) if changed else model


def qos(model: DeviceModel, place: int) -> DeviceModel:
    assert model.qos is not None
    chosen = model.qos.ports[place % len(model.qos.ports)].interface
    changed = with_ports(model, lambda held: replace(held, pfc=(), ecn=()) if held.interface == chosen else held)
    return with_ramp(changed, kmin_bytes=100_000 + place)


def reordered(model: DeviceModel, place: int) -> DeviceModel:
    ports = model.interfaces
    return replace(model, interfaces=(*ports[place % len(ports) :], *ports[: place % len(ports)]))


LOOPBACKS, HOST_LINKS = permitting("10.0.0.0/8", ge=32), permitting("10.0.0.0/8", ge=31, le=31)
TAG, DRAIN = "65000:1", "graceful-shutdown"
POD = IPv4Network("10.0.0.0/8")
EDITS: Mapping[str, Edit] = {
    "unconfigured": lambda model, place: None,
    "as planned": lambda model, place: model,
    "no BGP": lambda model, place: replace(model, bgp=None),
    "another AS number": bgp(asn=64_999),
    "one path": bgp(max_paths=1),
    "three paths": bgp(max_paths=3),
    "paths of one neighbour AS": bgp(multiple_as=False),
    "no IPv6 next hops sent": bgp(advertise_ipv6_next_hops=False),
    "no IPv6 next hops taken": bgp(receive_ipv6_next_hops=False),
    "exports loopbacks": policy("export", LOOPBACKS),
    "exports loopbacks to one": policy("export", LOOPBACKS, all_sessions=False),
    "exports nothing": policy("export"),
    "exports all": policy("export", default=Action.PERMIT),
    "exports without policy": every_neighbor(export_policies=()),
    "policies not required": lambda model, place: with_bgp(
        every_neighbor(export_policies=())(model, place), lambda held: replace(held, requires_policy=False)
    ),
    "exports by a policy that is missing": every_neighbor(export_policies=("missing",)),
    "exports loopbacks with a community": policy("export", permitting("10.0.0.0/8", ge=32, set_communities=(TAG,))),
    "exports by two policies": two_policies,
    "prepends": policy("export", permitting(prepend=2), all_sessions=False),
    "prepends host links": policy("export", permitting("10.0.0.0/8", ge=31, le=31, prepend=1), LOOPBACKS),
    "reflects to all": every_neighbor(reflector_client=True),
    "keeps next hops": every_neighbor(next_hop=NextHop.UNCHANGED),
    "another cluster": bgp(cluster_id=IPv4Address("10.0.0.1")),
    "two internal paths": bgp(max_paths_internal=2),
    "sets the number of next hops": policy("export", permitting(set_link_bandwidth=LinkBandwidth.NEXT_HOPS)),
    "adds link bandwidths": policy("export", permitting(set_link_bandwidth=LinkBandwidth.CUMULATIVE)),
    "sets MED": policy("export", permitting(set_med=50), all_sessions=False),
    "imports loopbacks": policy("import", LOOPBACKS),
    "imports all": policy("import", default=Action.PERMIT),
    "imports all but tagged": policy("import", denying(communities=(TAG,)), default=Action.PERMIT),
    "imports short paths": policy("import", permitting(as_path=r"^\d+( \d+)?$")),
    "imports with MED": policy("import", permitting(set_med=9), all_sessions=False),
    "marks imports for graceful shutdown": policy("import", permitting(set_communities=(DRAIN,)), all_sessions=False),
    "drained": lambda model, place: replace(model, drain=True),
    "aggregates": bgp(aggregates=(Aggregate(prefix=POD),)),
    "aggregates beside contributors": bgp(
        aggregates=(Aggregate(prefix=POD, contributors=(IPv4Network("10.17.2.0/24"),), summary_only=False),)
    ),
    "no BFD": every_neighbor(bfd=None),
    "BFD": every_neighbor(bfd=BfdTimers(interval_ms=100, multiplier=3)),
    "another loopback": lambda model, place: with_loopback(model, IPv4Interface("10.254.7.7/32")),
    "no address on the loopback": lambda model, place: with_loopback(model),
    "loopback of both families": lambda model, place: with_loopback(
        model, *model.interfaces[-1].addresses, IPv6Interface(f"2001:db8::{place:x}/128")
    ),
    "no QoS": lambda model, place: replace(model, qos=None),
    "thresholds": qos,
    "dynamic thresholds": lambda model, place: (
        with_thresholds(model, lambda held: replace(held, xoff_bytes=None, alpha=0.5)) if model.qos else model
    ),
    "another hash": lambda model, place: replace(model, load_balancing=LoadBalancing(seed=place)),
    "another priority obeyed": classes,
    "no classifier": lambda model, place: with_ports(model, lambda held: replace(held, classifier="missing")),
    "no profile": lambda model, place: with_ports(model, lambda held: replace(held, profile=None)),
    "interfaces in another order": reordered,
    "a port disabled": port(enabled=False),
    "a port of MTU 1500": port(mtu_bytes=1500),
    "a port of 10G": port(rate_gbps=10),
    "a port with another FEC": port(fec=Fec.BASE_R),
    "a port renumbered": port(addresses=(IPv4Interface("192.0.2.1/31"),)),
    "a port without link-local": port(unnumbered=False),
    "a LAG disabled": lag(lambda held: replace(held, enabled=False)),
    "a LAG without LACP": lag(lambda held: replace(held, lacp=False)),
    "a LAG with one member": lag(lambda held: replace(held, members=held.members[1:])),
    "a LAG without members": lag(lambda held: replace(held, members=())),
    "neighbours in another order": lambda model, place: with_bgp(
        model, lambda held: replace(held, neighbors=held.neighbors[::-1])
    ),
    "a neighbour gone": neighbor(lambda held: None),
    "a neighbour shut down": neighbor(lambda held: replace(held, enabled=False)),
    "a neighbour of another AS": neighbor(lambda held: replace(held, remote_as=1)),
    "neighbours of any other AS": every_neighbor(remote_as=Remote.EXTERNAL),
    "neighbours of its own AS": every_neighbor(remote_as=Remote.INTERNAL),
    "a neighbour without BFD": neighbor(lambda held: replace(held, bfd=None)),
    "a neighbour with a password": neighbor(lambda held: replace(held, password=SecretReference(variable="BGP"))),
    "a neighbour with both families": neighbor(lambda held: replace(held, families=(Family.IPV4, Family.IPV6))),
    "a neighbour with IPv6 only": neighbor(lambda held: replace(held, families=(Family.IPV6,))),
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


@settings(max_examples=examples(40), deadline=None, suppress_health_check=[HealthCheck.too_slow])
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


ON_ONE = list(zip(cycle(FABRICS), sorted(EDITS), strict=False))
"""Each edit on one fabric, in turn."""


@pytest.mark.parametrize(("name", "edit"), sampled(product(FABRICS, sorted(EDITS)), few=ON_ONE[::3]))
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
    first, second = (with_loopback(models[name], IPv4Interface("10.255.9.9/32")) for name in (one, two))
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
    assert [session.total.received for session in down.sessions_of(far)] == [
        session.total.received - 1 for session in planned.sessions_of(far)
    ]


def test_prefixes_that_peers_do_not_take_are_counted_as_sent() -> None:
    """The filter is in use elsewhere, and no route differs, so that nothing but the number of prefixes changes."""
    _, links, models = fabric("pod64")
    one, other = "pod1-seg1-leaf1", "pod1-seg1-leaf2"
    everything = EDITS["exports all"]
    loopbacks = (*models[one].interfaces[-1].addresses, IPv4Interface("172.16.0.1/32"))
    held = {**models, one: with_loopback(models[one], *loopbacks), other: everything(models[other], 0)}
    state = at_once(links, held, frozenset())
    count_prefixes(state)
    changed = everything(held[one], 0)
    assert seen(converge(state, FabricChange({one: changed}))) == seen(
        at_once(links, {**held, one: changed}, frozenset())
    )


def test_a_qos_change_shares_routes_ports_and_sessions() -> None:
    _, links, models = fabric("pod64")
    planned = at_once(links, models, frozenset())
    leaf = "pod1-seg1-leaf1"
    changed = converge(planned, FabricChange({leaf: qos(models[leaf], 0)}))
    assert changed.routes is planned.routes
    assert all(changed.ports[node] is planned.ports[node] for node in planned.ports)
    assert all(changed.sessions[name] is planned.sessions[name] for name in planned.sessions)
    assert {name for name in planned.effects if changed.effects[name] is not planned.effects[name]} == {leaf}
    assert not changed.same_network(planned)
    differing = (changed.network.kmin_bytes != planned.network.kmin_bytes).any(axis=1)
    assert set() < set(np.flatnonzero(differing).tolist()) <= set(links.links_of[leaf])


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
        name: every_neighbor(remote_as=Remote.EXTERNAL)(bgp(asn=70_000 + place)(model, 0), 0)
        for place, (name, model) in enumerate(models.items())
    }
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
