"""Candidates of CONFIG_DB: what a deploy changes, what stays the operator's, and patches between tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.errors import ConfigError
from railfab.platforms.sonic.candidate import candidate, drained, is_drained, restoring, undrained
from railfab.platforms.sonic.json_patch import patch, patched
from railfab.platforms.sonic.tables import Tables

names = st.text("aE/~|.0:", min_size=1, max_size=4)
tables = st.dictionaries(
    names, st.dictionaries(names, st.dictionaries(names, names, max_size=3), max_size=3), max_size=3
)
HARDWARE = {"mac": "02:00:00:00:00:01", "hwsku": "x", "hostname": "leaf1"}
FACTORY: Tables = {
    "DEVICE_METADATA": {"localhost": HARDWARE},
    "PORT": {
        "Ethernet0": {
            "lanes": "1",
            "alias": "etp1",
            "index": "1",
            "admin_status": "up",
            "speed": "400000",
            "fec": "rs",
        },
        "Ethernet8": {"lanes": "9", "alias": "etp2", "index": "2", "admin_status": "up"},
    },
    "AAA": {"authentication": {"login": "tacacs+,local"}},
    "MGMT_INTERFACE": {"eth0|192.0.2.1/24": {"gwaddr": "192.0.2.254"}},
    "FEATURE": {"bgp": {"state": "enabled"}, "snmp": {"state": "enabled"}},
    "BUFFER_PG": {"Ethernet0|3-4": {"profile": "pg_lossless"}},
    "NTP_SERVER": {"192.0.2.9": {}},
}
INTENT: Tables = {
    "DEVICE_METADATA": {"localhost": {"hostname": "leaf1", "docker_routing_config_mode": "unified"}},
    "PORT": {"Ethernet0": {"admin_status": "up", "mtu": "9216", "description": "to spine1"}},
    "FEATURE": {"snmp": {"state": "disabled"}},
    "INTERFACE": {"Ethernet0": {}, "Ethernet0|10.0.0.0/31": {}},
    "NTP_SERVER": {"192.0.2.10": {"resolve_as": "192.0.2.10"}},
}


def _filled(tree: Tables) -> Tables:
    return {name: table for name, table in tree.items() if table}


@given(former=tables, after=tables)
def test_a_patch_makes_one_configuration_of_the_other(former: Tables, after: Tables) -> None:
    operations = patch(former, after)
    assert patched(_filled(former), operations) == _filled(after)
    assert (operations == []) == (_filled(former) == _filled(after))


@given(running=tables, stated=tables)
def test_a_candidate_of_a_candidate_is_itself(running: Tables, stated: Tables) -> None:
    after = candidate(running, stated)
    assert candidate(after, stated) == after
    assert is_drained(drained(stated))
    assert not is_drained(undrained(drained(stated)))


def test_what_is_the_operators_and_the_hardwares_stays() -> None:
    after = candidate(FACTORY, INTENT)
    assert after["AAA"] == FACTORY["AAA"]
    assert after["MGMT_INTERFACE"] == FACTORY["MGMT_INTERFACE"]
    assert after["DEVICE_METADATA"]["localhost"] == HARDWARE | INTENT["DEVICE_METADATA"]["localhost"]
    assert after["PORT"]["Ethernet0"] == FACTORY["PORT"]["Ethernet0"] | INTENT["PORT"]["Ethernet0"]
    assert after["FEATURE"] == {"bgp": {"state": "enabled"}, "snmp": {"state": "disabled"}}


def test_lldp_that_is_switched_off_is_switched_on_and_its_other_settings_stay() -> None:
    ports = {"Ethernet0": {"enabled": "false"}, "Ethernet8": {"enabled": "false", "mode": "RECEIVE"}}
    running = FACTORY | {"LLDP": {"GLOBAL": {"enabled": "false", "hello_time": "5"}}, "LLDP_PORT": ports}
    after = candidate(running, INTENT)
    assert after["LLDP"] == {"GLOBAL": {"hello_time": "5"}}
    assert after["LLDP_PORT"] == {"Ethernet8": {"mode": "RECEIVE"}}
    assert "LLDP" not in candidate(FACTORY | {"LLDP": {"GLOBAL": {"enabled": "false"}}}, INTENT)


def test_tables_of_the_fabric_and_those_that_the_intent_states_have_what_it_says() -> None:
    after = candidate(FACTORY, INTENT)
    assert "BUFFER_PG" not in after
    assert after["NTP_SERVER"] == INTENT["NTP_SERVER"]
    assert after["PORT"]["Ethernet8"]["admin_status"] == "down"


def test_an_error_correction_of_the_operator_goes_and_that_of_the_hardware_stays() -> None:
    running = FACTORY | {"PORT": {"Ethernet0": {"lanes": "1", "fec": "none"}}}
    assert "fec" not in candidate(running, INTENT)["PORT"]["Ethernet0"]


def test_a_former_configuration_restores_all_that_a_candidate_changed_and_nothing_later() -> None:
    after = candidate(FACTORY, INTENT)
    later = after | {"AAA": {"authentication": {"login": "local"}}, "SNMP": {"CONTACT": {"noc": "1"}}}
    assert candidate(after, restoring(FACTORY, after)) == FACTORY
    assert candidate(later, restoring(FACTORY, after))["SNMP"] == later["SNMP"]


@pytest.mark.parametrize(
    ("operations", "problem"),
    [
        ({"op": "add"}, "a patch is a list of operations"),
        ([{"op": "move", "path": "/PORT"}], "unknown operation"),
        ([{"op": "remove", "path": "/PORT/Ethernet4"}], "can't remove a non-existent object 'Ethernet4'"),
        ([{"op": "add", "path": "/NONE/row/field", "value": "1"}], "can't add a non-existent object 'field'"),
    ],
)
def test_a_patch_that_does_not_fit_is_refused(operations: object, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        patched(FACTORY, operations)
