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
    Classifier,
    DeviceModel,
    Family,
    Fec,
    Loopback,
    Remote,
    SecretReference,
    disagreements,
)
from railfab.findings import Severity
from railfab.topology import Topology

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
    (partial(with_port_qos, ecn=()), "ECN of class roce differs: on and off"),
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


def test_dscp_maps_are_compared_by_queue_and_priority_on_every_link() -> None:
    other = Classifier(name="fabric", dscp=((24, "roce"), (48, "cnp")))
    mapped = messages(with_qos(spine(), classifiers=(other,)))
    assert len(mapped) == 8
    assert mapped[0] == (
        f"{ENDS}: DSCP map differs: 26 to queue 3 with PFC priority 3, 48 to queue 6 "
        f"and 24 to queue 3 with PFC priority 3, 48 to queue 6. {SAME}."
    )


@pytest.mark.parametrize(
    ("name", "ours", "theirs"),
    [("kmin_bytes", 540_000, 1000), ("kmax_bytes", 1_620_000, 9_000_000), ("pmax_percent", 10, 50)],
)
def test_marking_thresholds_are_compared_for_each_class(name: str, ours: int, theirs: int) -> None:
    (profile,) = qos_of(spine()).profiles
    (roce,) = profile.thresholds
    assert roce.ecn is not None
    other = replace(roce, ecn=replace(roce.ecn, **{name: theirs}))  # type: ignore[arg-type]
    found = messages(with_qos(spine(), profiles=(replace(profile, thresholds=(other,)),)))
    assert {line.partition(": ")[2] for line in found} == {
        f"{name} of class roce differs: {ours} and {theirs}. {SAME}."
    }


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
