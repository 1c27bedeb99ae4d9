"""What a switch shows as its running configuration, read for its effect."""

from __future__ import annotations

import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.platforms.hazards import patterns
from tests.platforms.sonic.designs import with_sonic
from tests.platforms.sonic.ds5000 import laid_over, port_row

from railfab.device import DeviceModel, Port, Remote
from railfab.errors import ConfigError, Problems
from railfab.fabric import Design
from railfab.platforms import platform
from railfab.platforms.sonic.scope import scoped
from railfab.platforms.sonic.tables import Tables

SONIC = platform("sonic")
LEAF = "pod1-seg1-leaf1"
FACTORY: Tables = {
    "DEVICE_METADATA": {
        "localhost": {"default_bgp_status": "up", "synchronous_mode": "enable", "buffer_model": "traditional"}
    },
    "FEATURE": {"bgp": {"state": "enabled", "auto_restart": "enabled"}},
    "CRM": {"Config": {"polling_interval": "300"}},
    "FLEX_COUNTER_TABLE": {"PORT": {"FLEX_COUNTER_STATUS": "enable"}},
    "MGMT_INTERFACE": {"eth0|192.0.2.7/24": {"gwaddr": "192.0.2.1"}},
    "BREAKOUT_CFG": {"Ethernet248": {"brkout_mode": "1x800G[400G,200G]"}},
    "PORT": {"Ethernet248": port_row(248), "Ethernet512": {"lanes": "516", "speed": "25000", "admin_status": "down"}},
}
"""A part of what a switch has that nobody has configured."""


@pytest.fixture(scope="module")
def fabric(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Design:
    return with_sonic(repository, "dual-plane", tmp_path_factory.mktemp("intent"))


@pytest.fixture
def leaf(fabric: Design) -> DeviceModel:
    return fabric.models[LEAF]


def running(model: DeviceModel) -> Tables:
    """The configuration of a switch with its factory's, and ports as the hardware makes them."""
    tree = laid_over(SONIC.render(model))
    for table, rows in FACTORY.items():
        for row, fields in rows.items():
            tree.setdefault(table, {}).setdefault(row, {}).update(fields)
    return tree


def parsed(tree: Tables) -> DeviceModel:
    return SONIC.parse(SONIC.text(tree))


def test_what_the_hardware_and_the_image_give_is_unmodelled_and_out_of_scope(leaf: DeviceModel) -> None:
    text = SONIC.text(running(leaf))
    whole = SONIC.parse(text)
    assert "FEATURE|bgp state enabled" in whole.unmodelled
    assert any(line.startswith("PORT|Ethernet0 lanes ") for line in whole.unmodelled)
    assert SONIC.parse(scoped(text, SONIC.text(SONIC.render(leaf)))) == leaf


def test_what_the_hardware_and_the_image_give_is_no_hazard(leaf: DeviceModel) -> None:
    assert patterns(SONIC, SONIC.text(running(leaf)), SONIC.text(SONIC.render(leaf)), leaf) == []


def test_a_port_of_a_split_cage_has_no_speed_of_its_own(leaf: DeviceModel) -> None:
    ports = {found.name: found for found in parsed(running(leaf)).interfaces if isinstance(found, Port)}
    assert [ports[name].rate_gbps for name in ("Ethernet0", "Ethernet4", "Ethernet256")] == [None, None, 800]


def test_a_port_that_the_intent_does_not_have_is_seen_when_it_is_up(leaf: DeviceModel) -> None:
    tree = running(leaf)
    tree["PORT"]["Ethernet248"]["admin_status"] = "up"
    tree["PORT"]["Ethernet240"] = {**port_row(240), "admin_status": "up"}
    names = [one.name for one in SONIC.parse(scoped(SONIC.text(tree), SONIC.text(SONIC.render(leaf)))).interfaces]
    assert "Ethernet240" in names
    assert "Ethernet512" not in names


def test_numbers_and_booleans_are_the_texts_that_they_stand_for(leaf: DeviceModel) -> None:
    tree: Any = copy.deepcopy(SONIC.render(leaf))
    tree["PORT"]["Ethernet0"]["mtu"] = 9216
    tree["BGP_GLOBALS"]["default"]["load_balance_mp_relax"] = True
    tree["INTERFACE"]["Ethernet0"] = {"NULL": "NULL"}
    assert parsed(tree) == leaf


def test_ranges_of_queues_stand_for_each(leaf: DeviceModel) -> None:
    tree = copy.deepcopy(SONIC.render(leaf))
    row = tree["BUFFER_QUEUE"].pop("Ethernet0|3")
    tree["BUFFER_QUEUE"]["Ethernet0|3-4"] = row
    found = parsed(tree)
    assert found.qos == leaf.qos
    assert "BUFFER_QUEUE|Ethernet0|4 profile egress_400g-5m_roce" in found.unmodelled


def test_a_port_without_a_map_has_that_of_the_switch(leaf: DeviceModel) -> None:
    tree = copy.deepcopy(SONIC.render(leaf))
    tree["PORT_QOS_MAP"]["Ethernet0"].pop("dscp_to_tc_map")
    found = parsed(tree).qos
    assert found is not None
    assert found.ports[0].classifier is None
    tree["PORT_QOS_MAP"]["global"] = {"dscp_to_tc_map": "fabric"}
    assert parsed(tree).qos == leaf.qos


def test_a_neighbour_has_what_its_group_has(leaf: DeviceModel) -> None:
    tree = copy.deepcopy(SONIC.render(leaf))
    for row, fields in tree["BGP_NEIGHBOR"].items():
        tree["BGP_NEIGHBOR"][row] = {"peer_group_name": "spines", "asn": fields["asn"]}
        group = {name: value for name, value in fields.items() if name != "asn"}
        tree.setdefault("BGP_PEER_GROUP", {})["default|spines"] = group
    families = tree.pop("BGP_NEIGHBOR_AF")
    tree["BGP_PEER_GROUP_AF"] = {"default|spines|ipv4_unicast": next(iter(families.values()))}
    assert parsed(tree).bgp == leaf.bgp


def test_rfc_8326_is_a_drain_and_tsa_is_none(leaf: DeviceModel) -> None:
    """frrcfgd, which unified mode has in place of bgpcfgd, does not read BGP_DEVICE_GLOBAL."""
    drained = parsed(SONIC.render(replace(leaf, drain=True)))
    assert drained == replace(leaf, drain=True)
    tree = copy.deepcopy(SONIC.render(leaf))
    tree["BGP_DEVICE_GLOBAL"] = {"STATE": {"tsa_enabled": "true"}}
    found = parsed(tree)
    assert not found.drain
    assert found.unmodelled == ("BGP_DEVICE_GLOBAL|STATE tsa_enabled true",)


@pytest.mark.parametrize(
    "more",
    [
        {"COMMUNITY_SET": {"both": {"match_action": "ALL", "community_member": ["65001:1", "65001:2"]}}},
        {"COMMUNITY_SET": {"both": {"set_type": "EXPANDED", "community_member": ["65001:.*"]}}},
        {"AS_PATH_SET": {"two": {"as_path_set_member": ["^65001", "^65002"]}}},
        {"PREFIX_SET": {"none": {"mode": "IPv4"}}, "PREFIX": {"none|10.0.0.0/8|exact": {"action": "deny"}}},
        {},
    ],
    ids=["all of several communities", "an expression", "two expressions", "no prefix", "an interface"],
)
def test_a_rule_whose_condition_a_model_cannot_say_is_left_out(more: Tables) -> None:
    """And not taken for one without condition, which would permit everything."""
    names = {"COMMUNITY_SET": ("match_community", "both"), "AS_PATH_SET": ("match_as_path", "two")}
    names["PREFIX_SET"] = ("match_prefix_set", "none")
    field, name = next((names[table] for table in more if table in names), ("match_interface", "Ethernet0"))
    rules = {
        "out|10": {"route_operation": "permit", field: name},
        "out|20": {"route_operation": "permit", "set_med": "7"},
    }
    found = parsed({"BGP_GLOBALS": {"default": {"local_asn": "65001"}}, "ROUTE_MAP": rules, **more})
    (policy,) = found.policies
    assert [rule.set_med for rule in policy.rules] == [7]
    assert f"ROUTE_MAP|out|10 {field} {name}" in found.unmodelled


def test_any_of_several_communities_is_a_condition() -> None:
    rules = {"out|10": {"route_operation": "permit", "match_community": "both"}}
    sets = {"both": {"match_action": "ANY", "community_member": ["65001:1", "65001:2"]}}
    (policy,) = parsed({"ROUTE_MAP": rules, "COMMUNITY_SET": sets}).policies
    assert policy.rules[0].communities == ("65001:1", "65001:2")


def test_the_own_number_is_an_internal_neighbour(leaf: DeviceModel) -> None:
    tree = copy.deepcopy(SONIC.render(leaf))
    tree["BGP_NEIGHBOR"]["default|Ethernet256"]["asn"] = tree["BGP_GLOBALS"]["default"]["local_asn"]
    (found,) = [one for one in parsed(tree).neighbors if one.peer == "Ethernet256"]
    assert found.remote_as is Remote.INTERNAL


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("PORT", "Ethernet0", "mtu", "large"), "PORT|Ethernet0/mtu: 'large' is not a whole number"),
        (
            ("PORT_QOS_MAP", "Ethernet0", "pfc_enable", "x"),
            "PORT_QOS_MAP|Ethernet0/pfc_enable: 'x' is no list of priorities",
        ),
        (("BREAKOUT_CFG", "Ethernet0", "brkout_mode", "two"), "BREAKOUT_CFG|Ethernet0: 'two' is no breakout mode"),
        (("PREFIX", "fabric-import_10|here|exact", "action", "permit"), "is no prefix with lengths"),
        (("ROUTE_MAP", "fabric-import|last", "route_operation", "permit"), "has no number of an entry"),
        (("BUFFER_PG", "Ethernet0|all", "profile", "x"), "is no port with a number"),
        (("INTERFACE", "Ethernet0|here", "scope", "global"), "'here' is not an IP address with prefix length"),
    ],
)
def test_a_value_that_means_nothing_is_named(leaf: DeviceModel, change: tuple[str, str, str, str], said: str) -> None:
    tree = copy.deepcopy(SONIC.render(leaf))
    table, row, field, value = change
    tree.setdefault(table, {}).setdefault(row, {})[field] = value
    with pytest.raises((ConfigError, Problems)) as refused:
        parsed(tree)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is not JSON"),
        ("[]", "[] is no object"),
        ('{"PORT": 1}', "PORT: 1 is no object"),
        ('{"PORT": {"Ethernet0": "up"}}', 'PORT|Ethernet0: "up" is no object'),
        ('{"PORT": {"Ethernet0": {"mtu": {}}}}', "PORT|Ethernet0 mtu: {} is no value"),
    ],
)
def test_a_text_of_another_form_is_refused(text: str, said: str) -> None:
    with pytest.raises(ConfigError) as refused:
        SONIC.parse(text)
    assert said in str(refused.value)
