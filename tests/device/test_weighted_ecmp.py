"""Weighted ECMP: what the switches announce, and which platforms render it."""

from __future__ import annotations

import pytest
from tests.topology.fabric_intents import fabric

from railfab.device import LinkBandwidth, plan
from railfab.errors import UnsupportedFeature
from railfab.platforms.admission import admit
from railfab.platforms.registry import platform
from railfab.topology import wire

FRR = {"model": "linux-16", "rate_gbps": 400}
WEIGHTED = fabric(
    profile__bgp={"weighted_ecmp": True},
    profile__lossless=False,
    hosts={"gpus": 2, "nic_ports": 2, "rate_gbps": 100},
    backend__segments={"count": 2, "hosts": 2, "rail_switches": 2, "model": "linux-16"},
    backend__spines={"count": 2, "links_per_leaf": 2, **FRR},
)


def test_leaves_announce_their_links_and_spines_what_they_have_received() -> None:
    models = plan(wire(WEIGHTED), WEIGHTED)
    for name, expected in (
        ("pod1-seg1-leaf1", LinkBandwidth.NEXT_HOPS),
        ("pod1-spine1", LinkBandwidth.CUMULATIVE),
    ):
        bandwidths = {
            policy.name: {rule.set_link_bandwidth for rule in policy.rules} for policy in models[name].policies
        }
        assert bandwidths == {"fabric-export": {expected}, "fabric-import": {None}}


def test_without_the_key_nothing_is_announced() -> None:
    intent = fabric()
    models = plan(wire(intent), intent)
    assert {
        rule.set_link_bandwidth for model in models.values() for found in model.policies for rule in found.rules
    } == {None}


def test_frr_sets_the_community_and_reads_it_back() -> None:
    found = platform("frr")
    for name, line in (("pod1-seg1-leaf1", "num-multipaths"), ("pod1-spine1", "cumulative")):
        model = admit(plan(wire(WEIGHTED), WEIGHTED)[name], found)
        text = found.text(found.render(model))
        assert text.count(f" set extcommunity bandwidth {line}\n") == 2
        assert found.parse(text).policies == model.policies


def test_srlinux_refuses_it_by_name() -> None:
    intent = fabric(profile__bgp={"weighted_ecmp": True})
    model = plan(wire(intent), intent)["pod1-seg1-leaf1"]
    with pytest.raises(
        UnsupportedFeature, match="platform srlinux does not support policy_set_link_bandwidth"
    ) as raised:
        admit(model, platform("srlinux"))
    assert "profile.bgp.weighted_ecmp" in str(raised.value)
