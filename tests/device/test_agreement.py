"""The two ends of every link, and switches by themselves: each mistake is one finding with both values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from ipaddress import IPv4Interface

import pytest
from tests.device.planned import (
    LEAF,
    SPINE,
    Models,
    planned_with,
    pod64,
    qos_of,
    with_bgp,
    with_class,
    with_neighbor,
    with_port,
    with_port_qos,
    with_qos,
)

from railfab.device import (
    BfdTimers,
    BgpTimers,
    BreakoutPort,
    Classifier,
    DeviceModel,
    Family,
    Fec,
    Loopback,
    PlatformTraits,
    Remote,
    SecretReference,
    Svi,
    disagreements,
)
from railfab.findings import DifferenceCode, Severity
from railfab.platforms.removals import gateways
from railfab.topology import Topology
from railfab.topology.catalogue import switch_model

SAME = "Configure both ends with the same value"
ENDS = f"{LEAF} ethernet-1/32 and {SPINE} ethernet-1/1"
SLOW = BgpTimers(keepalive_s=30, hold_s=90)
CHANGES: tuple[tuple[Callable[[DeviceModel], DeviceModel], str], ...] = (
    (partial(with_port, mtu_bytes=1500), "MTU differs: 9216 and 1500"),
    (partial(with_port, rate_gbps=200), "speed differs: 400 and 200"),
    (partial(with_port, fec=Fec.RS_544), "FEC differs: not set and rs-544"),
    (partial(with_port, unnumbered=False), "IPv6 unnumbered differs: on and off"),
    (partial(with_port_qos, pfc=()), "PFC of priority 3 differs: on and off"),
    (partial(with_port_qos, pfc=(3, 4)), "PFC of priority 4 differs: off and on"),
    (partial(with_port_qos, ecn=()), "ECN of DSCP 26 differs: on and off"),
    (partial(with_port_qos, classifier=None), "DSCP trust differs: on and off"),
    (partial(with_neighbor, bfd=None), "BFD differs: interval_ms 300, multiplier 3 and not set"),
    (
        partial(with_neighbor, bfd=BfdTimers(interval_ms=50, multiplier=3)),
        "BFD differs: interval_ms 300, multiplier 3 and interval_ms 50, multiplier 3",
    ),
    (
        partial(with_neighbor, families=(Family.IPV4, Family.EVPN)),
        "the set of BGP families differs: ipv4-unicast and ipv4-unicast, l2vpn-evpn",
    ),
    (
        partial(with_neighbor, password=SecretReference(variable="SECRET")),
        "the BGP password differs: off and on",
    ),
)


def messages(changed: DeviceModel, setting: tuple[Topology, Models] | None = None) -> list[str]:
    """What is found when one switch has this model."""
    topology, models = setting or pod64()
    return [str(finding) for finding in disagreements(topology, {**models, changed.name: changed})]


def spine() -> DeviceModel:
    return pod64()[1][SPINE]


def test_planned_models_agree_at_both_ends_of_every_link() -> None:
    assert disagreements(*pod64()) == ()


@pytest.mark.parametrize(("change", "problem"), CHANGES, ids=[problem for _, problem in CHANGES])
def test_a_mismatch_is_named_with_both_ends_and_both_values(
    change: Callable[[DeviceModel], DeviceModel], problem: str
) -> None:
    assert messages(change(spine())) == [f"{ENDS}: {problem}. {SAME}."]


def test_a_port_that_is_shut_down_or_missing_is_named_at_its_end() -> None:
    assert messages(with_port(spine(), enabled=False)) == [f"{SPINE} ethernet-1/1: is shut down. Enable it."]
    renamed = messages(with_port(spine(), name="ethernet-1/30"))
    assert renamed[0] == f"{SPINE} ethernet-1/1: is not configured. Deploy the intent."


def test_other_hold_times_are_a_warning_because_the_smaller_one_acts() -> None:
    topology, models = pod64()
    (found,) = disagreements(topology, {**models, SPINE: with_neighbor(spine(), timers=SLOW)})
    assert found.severity is Severity.WARNING
    assert str(found) == f"{ENDS}: BGP hold times differ: 9 s and 90 s, and the smaller one acts. {SAME}."


def test_addresses_of_different_subnets_at_the_ends_of_a_link_are_a_finding() -> None:
    setting = planned_with(profile__underlay="numbered")
    upper = setting[1][SPINE]
    was = upper.interfaces[0].subnets[0]
    moved = messages(with_port(upper, addresses=(IPv4Interface("10.99.0.1/31"),)), setting)
    assert f"subnet differs: {was} and 10.99.0.0/31. {SAME}." in moved[0]
    assert moved[1].endswith("has no BGP neighbour towards pod1-seg1-leaf1. Deploy the intent.")


def test_a_neighbour_that_has_another_address_of_the_subnet_is_named() -> None:
    setting = planned_with(profile__underlay="numbered")
    upper = setting[1][SPINE]
    port, neighbor = upper.interfaces[0], upper.neighbors[0]
    own, other = port.addresses[0].ip, neighbor.peer
    assert messages(with_neighbor(upper, peer=own), setting) == [
        f"{SPINE} {port.name}: expects {own} as its BGP neighbour, but {LEAF} ethernet-1/32 has {other}. "
        "Correct the address of one end."
    ]


def test_an_end_that_cannot_state_a_setting_raises_no_mismatch() -> None:
    topology, models = pod64()
    leaf = models[LEAF]
    silent = replace(spine(), platform="other")
    for change, feature in (
        (partial(with_port, mtu_bytes=None), "mtu"),
        (partial(with_port, rate_gbps=None), "port_speed"),
        (partial(with_port, fec=Fec.RS_544), "fec"),
        (partial(with_neighbor, bfd=None), "bfd"),
        (partial(with_port_qos, pfc=()), "pfc"),
        (partial(with_qos, watchdog=None), "pfc_watchdog"),
        (partial(with_port_qos, ecn=()), "ecn"),
    ):
        ends = {LEAF: leaf, SPINE: change(silent)}
        assert disagreements(topology, ends)
        assert not disagreements(topology, ends, {"other": PlatformTraits(unstated=frozenset({feature}))})


def test_rs_544_agrees_with_a_platform_that_uses_it_without_a_setting() -> None:
    topology, models = pod64()
    silent = {"srlinux": PlatformTraits(unstated=frozenset({"fec_rs_544"}))}
    ends = {LEAF: models[LEAF], SPINE: with_port(spine(), fec=Fec.RS_544)}
    assert disagreements(topology, ends, silent) == ()
    (found,) = disagreements(topology, {**ends, SPINE: with_port(spine(), fec=Fec.RS_528)}, silent)
    assert found.code is DifferenceCode.FEC_MISMATCH


def test_the_speed_of_a_broken_out_port_is_that_of_its_cage() -> None:
    unstated = with_port(spine(), rate_gbps=None)
    split = replace(unstated, breakouts=(BreakoutPort(cage="ethernet-1/1", lanes=1, rate_gbps=400),))
    slower = replace(unstated, breakouts=(BreakoutPort(cage="ethernet-1/1", lanes=2, rate_gbps=200),))
    assert messages(split) == []
    assert messages(slower) == [f"{ENDS}: speed differs: 400 and 200. {SAME}."]
    assert messages(unstated) == [f"{ENDS}: speed differs: 400 and not set. {SAME}."]


def test_a_watchdog_at_one_end_only_is_named_on_every_link() -> None:
    found = messages(with_qos(spine(), watchdog=None))
    assert len(found) == 8
    assert found[0] == f"{ENDS}: the PFC watchdog differs: on and off. {SAME}."


def test_names_and_queues_of_classes_may_differ_between_the_ends() -> None:
    qos = qos_of(spine())
    names = {"roce": "queue4", "cnp": "queue7", "default": "queue1"}
    classes = tuple(replace(one, name=names[one.name], queue=one.queue + 1) for one in qos.classes)
    profiles = tuple(
        replace(profile, thresholds=tuple(replace(one, traffic_class="queue4") for one in profile.thresholds))
        for profile in qos.profiles
    )
    renamed = replace(
        qos,
        classes=classes,
        default_class="queue1",
        classifiers=tuple(
            replace(one, dscp=tuple((point, names[name]) for point, name in one.dscp)) for one in qos.classifiers
        ),
        profiles=profiles,
        ports=tuple(replace(port, ecn=("queue4",)) for port in qos.ports),
    )
    assert messages(replace(spine(), qos=renamed)) == []


def test_thresholds_may_differ_by_what_a_platform_rounds() -> None:
    topology, models = pod64()
    (profile,) = qos_of(spine()).profiles
    (roce,) = profile.thresholds
    assert roce.ecn is not None
    rounded = replace(roce, ecn=replace(roce.ecn, kmin_bytes=roce.ecn.kmin_bytes + 768))
    other = replace(with_qos(spine(), profiles=(replace(profile, thresholds=(rounded,)),)), platform="other")
    steps = {"other": PlatformTraits(steps={"ecn_bytes": 1000})}
    assert disagreements(topology, {**models, SPINE: other})
    assert disagreements(topology, {**models, SPINE: other}, steps) == ()


def test_a_threshold_that_one_end_does_not_state_is_no_mismatch_and_another_value_is() -> None:
    (profile,) = qos_of(spine()).profiles
    (roce,) = profile.thresholds
    assert roce.ecn is not None
    assert roce.xoff_bytes is not None
    for xoff, found in ((None, []), (roce.xoff_bytes + 1, ["xoff_bytes of DSCP 26 differs: 2160000 and 2160001"])):
        changed = with_qos(spine(), profiles=(replace(profile, thresholds=(replace(roce, xoff_bytes=xoff),)),))
        assert {line.partition(": ")[2] for line in messages(changed)} == {f"{one}. {SAME}." for one in found}


def test_code_points_that_one_end_names_for_its_default_class_are_no_mismatch() -> None:
    (own,) = qos_of(spine()).classifiers
    every = tuple(sorted((*own.dscp, (0, "default"), (8, "default"))))
    assert messages(with_qos(spine(), classifiers=(replace(own, dscp=every),))) == []


def test_headroom_is_compared_between_switches_of_one_model_alone() -> None:
    (profile,) = qos_of(spine()).profiles
    (roce,) = profile.thresholds
    assert roce.headroom_bytes is not None
    other = replace(profile, thresholds=(replace(roce, headroom_bytes=roce.headroom_bytes + 1),))
    changed = with_qos(spine(), profiles=(other,))
    topology, models = pod64()
    assert "headroom_bytes of DSCP 26 differs" in messages(changed)[0]
    nodes = tuple(replace(node, model="7220-ixr-h4") if node.name == SPINE else node for node in topology.nodes)
    mixed = replace(topology, nodes=nodes, models={**topology.models, "7220-ixr-h4": switch_model("7220-ixr-h4")})
    assert disagreements(mixed, {**models, SPINE: changed}) == ()
    shared = {"srlinux": PlatformTraits(shared=frozenset({"headroom_bytes"}))}
    assert disagreements(topology, {**models, SPINE: changed}, shared) == ()


def test_an_ecn_ramp_in_the_wrong_order_is_named_once_for_the_switch() -> None:
    (profile,) = qos_of(spine()).profiles
    (roce,) = profile.thresholds
    assert roce.ecn is not None
    for ramp, problem in (
        ({"kmin_bytes": 1_620_000}, "kmin_bytes 1,620,000 is not below kmax_bytes 1,620,000"),
        ({"kmax_bytes": 2_160_000}, "kmax_bytes 2,160,000 is not below xoff_bytes 2,160,000, so PFC acts before ECN"),
    ):
        changed = replace(roce, ecn=replace(roce.ecn, **ramp))
        first = messages(with_qos(spine(), profiles=(replace(profile, thresholds=(changed,)),)))[0]
        assert first == f"{SPINE} profile {profile.name} class roce: {problem}. Deploy the intent."


def test_a_switch_without_qos_is_named_at_its_links() -> None:
    found = messages(replace(spine(), qos=None))
    assert f"{ENDS}: DSCP trust differs: on and off. {SAME}." in found
    assert f"{ENDS}: PFC of priority 3 differs: on and off. {SAME}." in found
    assert f"{ENDS}: the PFC watchdog differs: on and off. {SAME}." in found


def test_wrong_as_numbers_and_missing_neighbours_are_named_at_their_end() -> None:
    first, _, *others = spine().neighbors
    wrong = with_bgp(spine(), neighbors=(replace(first, remote_as=65009), *others))
    assert messages(wrong) == [
        f"{SPINE} ethernet-1/1: expects AS 65009, but {LEAF} is in AS 4200001001. Correct the remote AS.",
        f"{SPINE} ethernet-1/2: has no BGP neighbour towards {LEAF}. Deploy the intent.",
    ]
    assert messages(with_neighbor(spine(), remote_as=Remote.EXTERNAL)) == []
    assert messages(with_neighbor(spine(), remote_as=Remote.INTERNAL)) == [
        f"{SPINE} ethernet-1/1: expects an AS that is its own, but {LEAF} is in AS 4200001001. Correct the remote AS."
    ]


def test_dscp_maps_are_compared_by_what_happens_to_a_code_point_on_every_link() -> None:
    other = Classifier(name="fabric", dscp=((24, "roce"), (48, "cnp")))
    mapped = messages(with_qos(spine(), classifiers=(other,)))
    assert len(mapped) == 8
    assert mapped[0] == (
        f"{ENDS}: DSCP map differs: 26 lossless with PFC priority 3 and 24 lossless with PFC priority 3. {SAME}."
    )


@pytest.mark.parametrize(
    ("name", "ours", "theirs"),
    [("kmin_bytes", 540_000, 1000), ("kmax_bytes", 1_620_000, 2_000_000), ("pmax_percent", 10, 50)],
)
def test_marking_thresholds_are_compared_for_each_class(name: str, ours: int, theirs: int) -> None:
    (profile,) = qos_of(spine()).profiles
    (roce,) = profile.thresholds
    assert roce.ecn is not None
    other = replace(roce, ecn=replace(roce.ecn, **{name: theirs}))  # type: ignore[arg-type]
    found = messages(with_qos(spine(), profiles=(replace(profile, thresholds=(other,)),)))
    assert {line.partition(": ")[2] for line in found} == {f"{name} of DSCP 26 differs: {ours} and {theirs}. {SAME}."}


def test_a_lag_at_one_end_only_is_a_finding() -> None:
    setting = planned_with(backend__spines__links_per_leaf=2, backend__spines__count=2, backend__spines__bundle=True)
    assert disagreements(*setting) == ()
    upper = setting[1][SPINE]
    unbundled = replace(upper, interfaces=tuple(one for one in upper.interfaces if one.name != "lag1"))
    assert f"membership in a LAG differs: on and off. {SAME}." in messages(unbundled, setting)[0]


def test_a_loopback_without_address_is_named() -> None:
    bare = replace(spine(), interfaces=(*spine().interfaces[:-1], Loopback(name="loopback0")))
    assert messages(bare) == [f"{SPINE} loopback0: has no address. Deploy the intent."]


def test_a_switch_without_bgp_is_named_once() -> None:
    assert messages(replace(spine(), bgp=None)) == [f"{SPINE}: has no BGP speaker. Deploy the intent."]


def test_a_class_that_obeys_another_priority_than_it_asks_for_is_named() -> None:
    where = f"{SPINE} class roce: sends pause frames of priority 3 and obeys those of"
    remedy = "Configure the same priority for both"
    assert messages(with_class(spine(), "roce", obeyed_priority=4)) == [f"{where} priority 4. {remedy}."]
    assert messages(with_class(spine(), "roce", obeyed_priority=None)) == [f"{where} no priority. {remedy}."]


def test_a_gateway_of_several_switches_is_no_shared_address_also_where_it_is_a_plain_one() -> None:
    """FRR has no word for an anycast gateway; two addresses that the intent does not share are still a finding."""
    tiers = {name: {"count": 2, "model": "7220-ixr-d5"} for name in ("leaves", "spines")}
    tenants = {"red": {"vlan": 110, "subnet": "10.64.0.0/20"}}
    frontend = {"leaves": tiers["leaves"], "spines": {**tiers["spines"], "rate_gbps": 400}, "tenants": tenants}
    topology, planned = planned_with(frontend=frontend)
    leaves = {name: planned[name] for name in ("front-leaf1", "front-leaf2")}
    plain = {name: gateways(model) for name, model in leaves.items()}
    assert disagreements(topology, plain) == ()
    other = IPv4Interface("10.64.0.9/20")
    moved = {name: _with_svi_address(model, other) for name, model in plain.items()}
    assert [found.code for found in disagreements(topology, moved)] == [DifferenceCode.ADDRESS_SHARED]


def _with_svi_address(model: DeviceModel, address: IPv4Interface) -> DeviceModel:
    found = (replace(x, addresses=(address,)) if isinstance(x, Svi) else x for x in model.interfaces)
    return replace(model, interfaces=tuple(found))
