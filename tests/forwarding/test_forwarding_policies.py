"""What the policies of a neighbour, aggregates and drains do to routes."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, IPv4Network, IPv6Interface, ip_address, ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.forwarding.fabrics import (
    LEAF,
    MS,
    SPINE,
    denying,
    deployed,
    lasting_ring,
    model,
    permitting,
    planned,
    with_bgp,
    with_loopback,
    with_neighbors,
    with_policy,
)

from railfab.device import (
    LOOPBACK,
    Action,
    Aggregate,
    DeviceModel,
    Family,
    IpInterface,
    IpNetwork,
    NextHop,
    Policy,
    PolicyRule,
    PrefixRange,
    Remote,
)
from railfab.forwarding import FabricChange, ForwardingState, LinkTable, Marking, converge, unconfigured
from railfab.forwarding.attributes import Attributes
from railfab.forwarding.policies import Policies, decided
from railfab.forwarding.prefixes import Prefixes, prefix_of
from railfab.sim import Framing

FAR_LEAF, SPINES = "pod1-seg2-leaf1", tuple(f"pod1-spine{number}" for number in (1, 2, 3, 4))
FAR_HOST, FAR_LOOPBACK = IPv4Address("10.17.2.1"), IPv4Address("10.255.1.3")
TAG = "65000:1"


def converged(*changed: DeviceModel, cut: tuple[tuple[str, str], ...] = ()) -> ForwardingState:
    topology, models = planned()
    start = unconfigured(LinkTable(topology), framing=Framing(), marking=Marking())
    return converge(start, FabricChange({**models, **{found.name: found for found in changed}}, cut=frozenset(cut)))


def spines_used(state: ForwardingState, switch: str = LEAF, address: str = str(FAR_HOST)) -> set[str]:
    """The neighbours by which a switch sends packets to this address."""
    return {state.links.far_key(link)[0] for link in state.routes.egress(switch, ip_address(address))}


def policy(*rules: PolicyRule, default: Action | None = Action.DENY, name: str = "tested") -> Policy:
    return Policy(name=name, rules=rules, default=default)


def exporting(name: str, *rules: PolicyRule, default: Action | None = Action.DENY) -> DeviceModel:
    return with_policy(model(name), "export", policy(*rules, default=default))


def importing(name: str, *rules: PolicyRule, default: Action | None = Action.DENY) -> DeviceModel:
    return with_policy(model(name), "import", policy(*rules, default=default))


# A rule meets the prefixes that its ranges contain.


def network(text: str, length: int) -> IpNetwork:
    return ip_network(f"{text}/{length}", strict=False)


networks = st.one_of(
    st.builds(network, st.ip_addresses(v=4).map(str), st.integers(0, 32)),
    st.builds(network, st.ip_addresses(v=6).map(str), st.integers(0, 128)),
)


@st.composite
def ranges(draw: st.DrawFn, near: list[IpNetwork]) -> PrefixRange:
    found = draw(st.sampled_from(near))
    prefix = found.supernet(new_prefix=draw(st.integers(0, found.prefixlen)))
    ge = draw(st.integers(prefix.prefixlen, prefix.max_prefixlen))
    return PrefixRange(prefix=prefix, ge=ge, le=draw(st.integers(ge, prefix.max_prefixlen)))


@given(st.data())
def test_a_filter_decides_about_each_prefix_as_its_rules_in_order_do(data: st.DataObject) -> None:
    found = data.draw(st.lists(networks, min_size=1, max_size=8))
    rules = data.draw(
        st.lists(
            st.builds(
                PolicyRule,
                action=st.sampled_from(Action),
                prefixes=st.lists(ranges(found), max_size=2).map(tuple),
                communities=st.sampled_from([(), (TAG,)]),
                set_med=st.sampled_from([None, 7]),
            ),
            max_size=5,
        )
    )
    policies, last = Policies(), PolicyRule(action=data.draw(st.sampled_from(Action)))
    number = policies.number((*rules, last))
    numbers = policies.verdicts_of(number, Prefixes([prefix_of(held) for held in found]))
    for prefix, verdict in zip(found, numbers.tolist(), strict=True):
        for communities in (frozenset[str](), frozenset({TAG})):
            meets = (
                rule
                for rule in (*rules, last)
                if (not rule.prefixes or any(held.matches(prefix) for held in rule.prefixes))
                and (not rule.communities or communities & set(rule.communities))
            )
            rule = next(meets)
            route = Attributes(path=(65001,), communities=communities)
            after = decided(policies.verdicts[verdict], route, 65002)
            if rule.action is Action.DENY:
                assert after is None
            else:
                assert after == route._replace(med=rule.set_med or 0)


def test_whoever_only_reads_adds_nothing_to_the_tables() -> None:
    """Prefixes are counted in the threads of readers, while convergence adds to the tables."""
    tagged = exporting(FAR_LEAF, permitting(set_communities=(TAG,), set_med=7, prepend=1), default=Action.PERMIT)
    for state in (converged(tagged), converged(*internal(reflectors=SPINES))):
        count = len(state.routes.tables.attributes.values)
        for name in planned()[1]:
            state.sessions_of(name)
        assert len(state.routes.tables.attributes.values) == count


# Rules, defaults, and several policies.


def test_the_first_rule_that_a_route_meets_decides() -> None:
    hosts = "10.16.0.0/14"
    both = exporting(FAR_LEAF, denying(hosts), permitting(hosts), default=Action.PERMIT)
    assert spines_used(converged(both)) == set()
    assert spines_used(converged(both), address=str(FAR_LOOPBACK)) == set(SPINES)
    turned = exporting(FAR_LEAF, permitting(hosts), denying(hosts))
    assert spines_used(converged(turned)) == set(SPINES)
    assert spines_used(converged(turned), address=str(FAR_LOOPBACK)) == set()


def test_a_neighbour_has_a_policy_of_its_own() -> None:
    spine = next(found for found in model(FAR_LEAF).neighbors if found.key == "ethernet-1/32")
    changed = with_policy(model(FAR_LEAF), "export", policy(), only=spine.key)
    assert spines_used(converged(changed)) == set(SPINES)
    state = converged(changed)
    assert [session.total.sent for session in state.sessions_of(FAR_LEAF)] == [33] * 7 + [0]


@pytest.mark.parametrize(("default", "told"), [(None, True), (Action.DENY, False), (Action.PERMIT, True)])
def test_the_first_policy_with_a_default_decides_and_one_without_leaves_the_rest_to_the_next(
    default: Action | None, told: bool
) -> None:
    loopbacks = policy(permitting("10.254.0.0/15", ge=32), name="loopbacks", default=default)
    rest = policy(name="rest", default=Action.PERMIT)
    state = converged(with_policy(model(FAR_LEAF), "export", loopbacks, rest))
    assert spines_used(state) == (set(SPINES) if told else set())
    assert spines_used(state, address=str(FAR_LOOPBACK)) == set(SPINES)


@pytest.mark.parametrize("required", [True, False])
def test_after_the_last_policy_without_a_default_rfc_8212_decides(required: bool) -> None:
    held = with_policy(model(FAR_LEAF), "export", policy(permitting("10.254.0.0/15", ge=32), default=None))
    state = converged(with_bgp(held, lambda bgp: replace(bgp, requires_policy=required)))
    assert spines_used(state) == (set() if required else set(SPINES))
    assert spines_used(state, address=str(FAR_LOOPBACK)) == set(SPINES)


def test_without_a_policy_nothing_is_announced_unless_none_is_required() -> None:
    bare = with_neighbors(model(FAR_LEAF), lambda held: replace(held, export_policies=()))
    state = converged(bare)
    assert spines_used(state) == set()
    session = state.session(FAR_LEAF, "ethernet-1/32")
    assert (session.established, session.total.sent, session.total.received) == (True, 0, 100)
    free = with_bgp(bare, lambda bgp: replace(bgp, requires_policy=False))
    assert spines_used(converged(free)) == set(SPINES)


def test_what_an_import_policy_denies_is_received_and_not_accepted() -> None:
    here = importing(LEAF, denying("10.17.0.0/16"), default=Action.PERMIT)
    counts = converged(here).session(LEAF, "ethernet-1/32").total
    assert (counts.received, counts.accepted, counts.installed) == (100, 88, 88)


def test_a_policy_that_is_not_defined_denies_everything() -> None:
    missing = with_neighbors(model(FAR_LEAF), lambda held: replace(held, export_policies=("gone",)))
    state = converged(missing)
    assert state.session(FAR_LEAF, "ethernet-1/32").established
    assert state.session(FAR_LEAF, "ethernet-1/32").total.sent == 0
    assert spines_used(state) == set()


# Communities, AS paths, and settings.


def test_a_community_is_carried_on_and_matched_by_switches_far_away() -> None:
    tagged = exporting(FAR_LEAF, permitting(set_communities=(TAG,)))
    picky = importing(LEAF, denying(communities=(TAG,)), default=Action.PERMIT)
    state = converged(tagged, picky)
    assert spines_used(state) == set()
    assert spines_used(state, "pod1-seg1-leaf2") == set(SPINES)
    assert spines_used(state, address="10.17.3.1") == spines_used(converged(picky), address="10.17.3.1") != set()


def test_communities_that_are_set_take_the_place_of_those_before() -> None:
    tagged = exporting(FAR_LEAF, permitting(set_communities=(TAG,)))
    over = [exporting(name, permitting(set_communities=("65000:2",))) for name in SPINES]
    picky = importing(LEAF, denying(communities=(TAG,)), default=Action.PERMIT)
    assert spines_used(converged(tagged, picky, *over)) == set(SPINES)


@pytest.mark.parametrize(
    ("pattern", "met"),
    [(r"^65001_", True), (r"_4200001003$", True), ("65001", True), (r"^4200001003$", False), (r"_6500_", False)],
)
def test_an_as_path_is_matched_as_the_switch_receives_it(pattern: str, met: bool) -> None:
    assert model(SPINE).bgp.asn == 65001  # type: ignore[union-attr]
    picky = importing(LEAF, denying(as_path=pattern), default=Action.PERMIT)
    assert (spines_used(converged(picky)) == set()) is met


def test_a_prepended_path_is_used_only_where_there_is_no_other() -> None:
    longer = exporting(SPINE, permitting(prepend=2))
    assert spines_used(converged(longer)) == set(SPINES) - {SPINE}
    alone = converged(longer, *(with_bgp(model(name), lambda bgp: replace(bgp, neighbors=())) for name in SPINES[1:]))
    assert spines_used(alone) == {SPINE}


def test_the_lowest_med_of_one_neighbour_as_wins() -> None:
    told = [exporting(name, permitting(set_med=10 * place)) for place, name in enumerate(SPINES)]
    assert spines_used(converged(*told)) == {SPINES[0]}
    assert spines_used(converged(*told[1:])) == {SPINES[0]}  # no MED is the lowest
    here = with_policy(model(LEAF), "import", policy(permitting(set_med=5)))
    assert spines_used(converged(here, *told)) == set(SPINES)


def test_a_med_is_not_passed_on_to_other_ases() -> None:
    """One spine is told a MED by the far leaf; to the near leaf its routes are equal to those of the others."""
    told = model(FAR_LEAF)
    for key in ("ethernet-1/31", "ethernet-1/32"):
        told = with_policy(told, "export", policy(permitting(set_med=10)), only=key)
    assert spines_used(converged(told)) == set(SPINES)


def test_the_highest_local_preference_comes_before_the_shortest_path() -> None:
    """RFC 4271, 9.1.1; a switch does not tell another AS its own."""
    preferring = with_policy(model(LEAF), "import", policy(permitting(set_local_preference=200)), only="ethernet-1/32")
    assert spines_used(converged(preferring)) == {SPINE}
    prepended = with_policy(model(SPINE), "export", policy(permitting(prepend=3)))
    assert spines_used(converged(preferring, prepended)) == {SPINE}
    other = with_policy(model(LEAF), "import", policy(permitting(set_local_preference=50)), only="ethernet-1/32")
    assert spines_used(converged(other)) == set(SPINES)
    assert spines_used(converged(preferring), "pod1-seg1-leaf2") == set(SPINES)


def test_local_preferences_without_a_stable_state_come_to_an_end() -> None:
    """Three spines each prefer the route of the next one, which comes over a leaf between them (RFC 4264, 3)."""
    leaves = ("pod1-seg1-leaf1", "pod1-seg1-leaf2", "pod1-seg2-leaf2")
    changed = []
    for number, name in enumerate(SPINES[:3]):
        spine = with_bgp(model(name), lambda bgp, number=number: replace(bgp, asn=65101 + number))  # type: ignore[misc]
        towards = [found.key for found in spine.neighbors if leads_to(name, found.key, leaves[number])]
        changed.append(with_policy(spine, "import", policy(permitting(set_local_preference=200)), only=towards[0]))
        leaf = with_neighbors(model(leaves[number]), lambda held: replace(held, remote_as=Remote.EXTERNAL))
        source = SPINES[(number + 1) % 3]
        for found in leaf.neighbors:
            if not leads_to(leaf.name, found.key, source):
                leaf = with_policy(leaf, "import", policy(name=f"from {found.key}"), only=found.key)
        changed.append(leaf)
    far = with_neighbors(model(FAR_LEAF), lambda held: replace(held, remote_as=Remote.EXTERNAL))
    state = converged(*changed, far)
    assert all(state.routes.egress(name, FAR_HOST) for name in SPINES)


def leads_to(name: str, interface: str, peer: str) -> bool:
    links = LinkTable(planned()[0])
    return links.far_key(links.egress[name, interface])[0] == peer


def test_without_multiple_as_the_next_hops_are_of_one_neighbour_as() -> None:
    """That of the best path: between equal ones, the lowest router ID decides (RFC 4271, 9.1.2.2 f)."""
    other = with_bgp(model(SPINE), lambda bgp: replace(bgp, asn=65099))
    lenient = with_neighbors(model(LEAF), lambda held: replace(held, remote_as=Remote.EXTERNAL))
    far = with_neighbors(model(FAR_LEAF), lambda held: replace(held, remote_as=Remote.EXTERNAL))
    assert spines_used(converged(other, lenient, far)) == set(SPINES)
    strict = with_bgp(lenient, lambda bgp: replace(bgp, multiple_as=False))
    assert spines_used(converged(other, strict, far)) == {SPINE}
    last = with_bgp(other, lambda bgp: replace(bgp, router_id=IPv4Address("10.255.255.254")))
    assert spines_used(converged(last, strict, far)) == set(SPINES) - {SPINE}


# Drain.


def test_a_drained_switch_is_used_only_where_there_is_no_other() -> None:
    spine = replace(model(SPINE), drain=True)
    state = converged(spine)
    assert all(spines_used(state, leaf) == set(SPINES) - {SPINE} for leaf in (LEAF, "pod1-seg1-leaf2"))
    assert state.session(LEAF, "ethernet-1/32").total.received == 100
    assert spines_used(converged(replace(model(FAR_LEAF), drain=True))) == set(SPINES)


def test_the_community_of_graceful_shutdown_drains_one_session() -> None:
    marked = permitting(set_communities=("graceful-shutdown",))
    leaf = with_policy(model(LEAF), "import", policy(marked), only="ethernet-1/32")
    links = converged(leaf).routes.egress(LEAF, FAR_HOST)
    assert len(links) == 7


def test_a_drain_moves_the_traffic_and_its_end_brings_it_back() -> None:
    fabric = deployed()
    fabric.start(lasting_ring())
    fabric.advance(MS)

    def carried() -> float:
        return sum(
            sample.value for sample in fabric.samples(SPINE) if sample.metric == "fabric_interface_receive_bytes_total"
        )

    def moved() -> float:
        before = carried()
        fabric.advance(2 * MS)
        return carried() - before

    assert moved() > 0
    fabric.configure(SPINE, replace(model(SPINE), drain=True))
    fabric.advance(MS)
    assert moved() == pytest.approx(0, abs=10_000)
    assert fabric.job_status().stalled == ()
    assert all(session.established for session in fabric.sessions(SPINE))
    fabric.configure(SPINE, model(SPINE))
    assert moved() > 0


# Aggregates.

POD = IPv4Network("10.17.2.0/24")
"""Has the host links of FAR_LEAF's first rail, and more."""


def aggregating(**fields: object) -> DeviceModel:
    found = exporting(FAR_LEAF, permitting("10.0.0.0/8"))
    return with_bgp(found, lambda bgp: replace(bgp, aggregates=(Aggregate(prefix=POD, **fields),)))  # type: ignore[arg-type]


def accepting() -> list[DeviceModel]:
    """All other switches take every prefix."""
    anything = policy(permitting("10.0.0.0/8"))
    return [
        with_policy(with_policy(found, "import", anything), "export", anything)
        for name, found in planned()[1].items()
        if name != FAR_LEAF
    ]


def known(state: ForwardingState, network: str, switch: str = SPINE) -> bool:
    """Whether a switch has a route to exactly this prefix."""
    group = state.routes.groups.numbers.get(prefix_of(ip_network(network)))
    return group is not None and bool(state.routes.hops[state.routes.rows[switch], group])


def test_an_aggregate_stands_for_its_contributors_and_is_withdrawn_with_the_last() -> None:
    state = converged(aggregating(), *accepting())
    assert known(state, str(POD))
    assert not known(state, "10.17.2.0/31")
    assert spines_used(state) == set(SPINES)
    beside = converged(aggregating(summary_only=False), *accepting())
    assert known(beside, str(POD))
    assert known(beside, "10.17.2.0/31")
    gone = converged(aggregating(contributors=(ip_network("10.99.0.0/16"),)), *accepting())
    assert not known(gone, str(POD))


def test_an_aggregate_follows_routes_that_are_learned() -> None:
    """A spine announces an aggregate of what the leaf has, as long as the leaf is there."""
    spine = with_bgp(
        with_policy(model(SPINE), "export", policy(permitting("10.0.0.0/8"))),
        lambda bgp: replace(bgp, aggregates=(Aggregate(prefix=POD),)),
    )
    others = [found for found in accepting() if found.name != SPINE]
    state = converged(spine, model(FAR_LEAF), *others)
    assert known(state, str(POD), LEAF)
    links = state.links
    lost = FabricChange({}, cut=frozenset(links.keys[link] for link in links.links_of[FAR_LEAF]))
    assert not known(converge(state, lost), str(POD), LEAF)
    found = converge(converge(state, lost), FabricChange({}, restored=lost.cut))
    assert known(found, str(POD), LEAF)


def test_packets_to_an_aggregate_without_a_contributor_go_no_further() -> None:
    state = converged(aggregating(), *accepting())
    assert spines_used(state, address="10.17.2.250") == set(SPINES)
    assert state.routes.egress(FAR_LEAF, IPv4Address("10.17.2.250")) == ()


# Inside an AS, and IPv6.


def internal(*, reflectors: tuple[str, ...], next_hop: NextHop = NextHop.SELF) -> list[DeviceModel]:
    """All switches in one AS; the reflectors have all others as clients."""
    return [
        with_bgp(
            with_neighbors(
                found,
                lambda held, name=name: replace(  # type: ignore[misc]
                    held, remote_as=Remote.INTERNAL, reflector_client=name in reflectors, next_hop=next_hop
                ),
            ),
            lambda bgp: replace(bgp, asn=65000, max_paths_internal=64),
        )
        for name, found in planned()[1].items()
    ]


def test_routes_inside_an_as_go_no_further_than_one_hop_without_a_reflector() -> None:
    state = converged(*internal(reflectors=()))
    assert all(session.established and session.internal for session in state.sessions_of(LEAF))
    assert spines_used(state) == set()
    assert spines_used(state, SPINE) == {FAR_LEAF}


def test_reflectors_pass_on_the_routes_of_their_clients() -> None:
    state = converged(*internal(reflectors=SPINES))
    assert spines_used(state) == set(SPINES)
    assert spines_used(converged(*internal(reflectors=SPINES[:2]))) == set(SPINES[:2])
    assert state.session(LEAF, "ethernet-1/32").total.installed == 100


def test_a_reflected_route_is_used_only_with_the_reflector_as_next_hop() -> None:
    state = converged(*internal(reflectors=SPINES, next_hop=NextHop.DEFAULT))
    assert spines_used(state) == set()
    assert state.session(LEAF, "ethernet-1/32").total.installed == 1, "the loopback of the reflector itself"


def test_a_route_does_not_return_to_the_cluster_that_reflected_it() -> None:
    """Leaves are clients of spines, and spines of each other: without clusters a spine would go back through a leaf."""
    cut = tuple(
        key for key in LinkTable(planned()[0]).keys if key[0] == SPINE and key[1] in ("ethernet-1/5", "ethernet-1/6")
    )
    alone = converged(*internal(reflectors=(*SPINES, LEAF)), cut=cut)
    assert spines_used(alone, SPINE) == {LEAF}
    together = [
        with_bgp(found, lambda bgp: replace(bgp, cluster_id=IPv4Address("10.0.0.1")))
        for found in internal(reflectors=(*SPINES, LEAF))
    ]
    assert spines_used(converged(*together, cut=cut), SPINE) == set()


def test_the_paths_inside_an_as_have_a_bound_of_their_own() -> None:
    few = [with_bgp(found, lambda bgp: replace(bgp, max_paths_internal=2)) for found in internal(reflectors=SPINES)]
    assert len(converged(*few).routes.egress(LEAF, FAR_HOST)) == 2


def addresses_of_loopback(found: DeviceModel) -> tuple[IpInterface, ...]:
    loopback = found.interface(LOOPBACK)
    return loopback.addresses if loopback else ()


def both_families(found: DeviceModel, loopback: str) -> DeviceModel:
    rules = (permitting("10.0.0.0/8", ge=31), permitting("2001:db8::/32", ge=128))
    changed = with_policy(with_policy(found, "export", policy(*rules)), "import", policy(*rules))
    changed = with_loopback(changed, *addresses_of_loopback(found), IPv6Interface(loopback))
    return with_neighbors(changed, lambda held: replace(held, families=(Family.IPV4, Family.IPV6)))


def test_routes_of_both_families_go_over_sessions_that_carry_both() -> None:
    changed = [both_families(found, f"2001:db8::{place}/128") for place, found in enumerate(planned()[1].values())]
    state = converged(*changed)
    place = list(planned()[1]).index(FAR_LEAF)
    assert spines_used(state, address=f"2001:db8::{place}") == set(SPINES)
    assert spines_used(state) == set(SPINES)
    counts = state.session(LEAF, "ethernet-1/32").prefixes
    assert (counts[Family.IPV4].received, counts[Family.IPV6].received) == (100, 4)
    spine = with_neighbors(changed[-1], lambda held: replace(held, families=(Family.IPV4,)))
    assert spines_used(converged(*changed[:-1], spine), address=f"2001:db8::{place}") == set(SPINES) - {spine.name}


@pytest.mark.parametrize(("leaf", "passed"), [("advertise", ((Family.IPV4,), ())), ("receive", ((), (Family.IPV4,)))])
def test_ipv4_routes_over_ipv6_next_hops_need_a_sender_and_a_receiver(
    leaf: str, passed: tuple[tuple[Family, ...], tuple[Family, ...]]
) -> None:
    """RFC 8950, 4: a speaker announces them only to a peer that has said that it takes them."""
    state = converged(with_bgp(model(LEAF), lambda bgp: replace(bgp, **{f"{leaf}_ipv6_next_hops": False})))
    session = state.session(LEAF, "ethernet-1/32")
    assert (session.established, session.received, session.sent) == (True, *passed)
    counts = session.prefixes[Family.IPV4]
    assert (counts.received > 0, counts.sent > 0) == (leaf == "advertise", leaf == "receive")
    assert spines_used(state) == (set(SPINES) if leaf == "advertise" else set())
    assert spines_used(state, "pod1-seg1-leaf2") == set(SPINES)


def test_a_speaker_keeps_to_itself_connected_routes_that_it_does_not_originate_and_passes_on_others() -> None:
    def originating(name: str, *families: Family) -> ForwardingState:
        return converged(with_bgp(model(name), lambda bgp: replace(bgp, originated=families)))

    state = originating(FAR_LEAF, Family.IPV6)
    session = state.session(FAR_LEAF, "ethernet-1/32")
    assert (session.established, session.total.sent, session.total.received) == (True, 0, 100)
    assert spines_used(state) == set()
    assert spines_used(originating(FAR_LEAF, Family.IPV4)) == set(SPINES)
    assert spines_used(originating(SPINE)) == set(SPINES)


def test_a_loopback_without_address_announces_nothing() -> None:
    state = converged(with_loopback(model(FAR_LEAF)))
    assert spines_used(state, address=str(FAR_LOOPBACK)) == set()
    assert state.session(FAR_LEAF, "ethernet-1/32").total.sent == 32
