"""What a virtual switch with NX-OS shows, as readers of others parse it: NAPALM over SSH, and ntc-templates."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest
import yaml
from ntc_templates.parse import parse_output

from railfab.endpoints import read_credentials
from railfab.fabric import Design, design
from railfab.platforms import platform
from railfab.platforms.nxos.cli import cli
from railfab.ssh import Cli, CliUser
from railfab.testing.sessions import _intent
from railfab.twin import Twin

WITHIN_S = 60
PORTS, HOST_PORT, UPLINK = 10, "Ethernet1/1", "Ethernet1/16"
"""Of the first rail switch: PORTS with a link; at the far end of UPLINK is Ethernet1/1 of SPINE."""
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Design:
    """Addresses on the links: ntc-templates and NAPALM have no words for unnumbered sessions."""
    path = tmp_path_factory.mktemp("numbered") / "intent.yml"
    intent = _intent(platform("nxos"))
    profile: Any = intent["profile"]
    path.write_text(yaml.safe_dump({**intent, "profile": {**profile, "underlay": "numbered"}}))
    return design(path)


@pytest.fixture(scope="module")
def twin(fabric: Design, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin(fabric, state=tmp_path_factory.mktemp("state"), base_port=0, configured=True) as running:
        switch = running._switches[LEAF]
        until(lambda: all(session.established for session in switch.observe().sessions))
        yield running


@pytest.fixture
def session(twin: Twin) -> Cli:
    return cli(twin._switches[LEAF])(CliUser(name="viewer", writes=False))


@pytest.fixture(scope="module")
def napalm(twin: Twin) -> Iterator[Any]:
    from napalm import get_network_driver  # takes longer to import than all that is tested here

    endpoint = twin.endpoints.by_name()[LEAF]
    login = read_credentials(endpoint)
    driver: Any = get_network_driver("nxos_ssh")
    port = {"port": endpoint.ssh_port}
    with driver(endpoint.host, login.username, login.password, optional_args=port) as opened:
        yield opened


def until(is_true: Callable[[], bool]) -> None:
    end_s = time.monotonic() + WITHIN_S
    while not is_true():
        assert time.monotonic() < end_s
        time.sleep(0.2)


def shown(session: Cli, command: str) -> str:
    return session.answer(command).output


def rows(answer: Mapping[str, Any], *tables: str) -> Any:
    """What is in the tables of an answer, each inside the one before; one row is in no list."""
    for name in tables:
        answer = answer[f"TABLE_{name}"][f"ROW_{name}"]
    return answer


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("show interface", {"interface": HOST_PORT, "link_status": "up", "mtu": "9216", "ip_address": "10.17.0.0"}),
        ("show interface", {"interface": "loopback0", "admin_state": "up", "ip_address": "10.255.1.1"}),
        ("show interface status", {"port": "Eth1/1", "status": "connected", "vlan_id": "routed"}),
        ("show interface brief", {"interface": "Eth1/1", "status": "up", "mode": "routed", "speed": "100G(D)"}),
        ("show interface description", {"port": "Eth1/16", "description": f"{SPINE} Ethernet1/1"}),
        ("show lldp neighbors", {"neighbor_name": SPINE, "local_interface": "Eth1/16"}),
        ("show lldp neighbors detail", {"neighbor_name": SPINE, "local_interface": "Eth1/16"}),
        ("show ip bgp summary", {"vrf": "default", "neigh_as": "65001", "state_pfxrcd": "4"}),
        ("show ip bgp neighbors", {"asn": "65001", "accepted_paths": "4", "inbound_routemap": "fabric-import"}),
        ("show ip interface brief", {"interface": "Eth1/1", "ip_address": "10.17.0.0", "link": "link-up"}),
        ("show ip interface vrf all", {"interface": "Ethernet1/1", "subnet": "10.17.0.0/31"}),
        ("show bfd neighbors", {"state": "Up", "vrf": "default", "holddown": "900(3)"}),
        ("show version", {"os": "10.5(3)", "hostname": LEAF, "platform": "LAWS-16"}),
        ("show inventory", {"name": "Chassis", "pid": "LAWS-16"}),
        ("show module", {"module": "1", "model": "LAWS-16", "status": "active *"}),
    ],
)
def test_ntc_templates_reads_what_a_switch_shows(session: Cli, command: str, expected: dict[str, str]) -> None:
    parsed = parse_output("cisco_nxos", command, shown(session, command))
    assert any(expected.items() <= row.items() for row in parsed), parsed


def test_routes_leave_over_every_session_that_taught_them(session: Cli) -> None:
    parsed = parse_output("cisco_nxos", "show ip route", shown(session, "show ip route"))
    far_leaf = [row for row in parsed if row["network"] == "10.255.1.2"]
    assert {row["nexthop_if"] for row in far_leaf} == {f"Eth1/{port}" for port in range(9, 17)}
    assert {(row["distance"], row["protocol"]) for row in far_leaf} == {("20", "bgp-4200001001")}
    assert {row["protocol"] for row in parsed if row["network"] == "10.17.0.0"} == {"direct", "local"}
    summary = rows(json.loads(shown(session, "show ip route summary | json")), "vrf", "addrf", "summary")
    assert int(summary["paths"]) == len(parsed)


def test_napalm_reads_the_facts(napalm: Any) -> None:
    facts = napalm.get_facts()
    assert (facts["hostname"], facts["os_version"]) == (LEAF, "10.5(3)")
    assert len(facts["interface_list"]) == PORTS
    assert 0 <= facts["uptime"] < 3600
    assert facts["serial_number"] != ""


def test_napalm_reads_interfaces_and_their_addresses(napalm: Any) -> None:
    port = napalm.get_interfaces()[UPLINK]
    assert (port["is_up"], port["is_enabled"], port["mtu"], port["speed"]) == (True, True, 9216, 100_000)
    assert port["description"] == f"{SPINE} Ethernet1/1"
    addresses = napalm.get_interfaces_ip()
    assert addresses["loopback0"]["ipv4"] == {"10.255.1.1": {"prefix_length": 32}}
    assert addresses[HOST_PORT]["ipv4"] == {"10.17.0.0": {"prefix_length": 31}}


def test_napalm_reads_the_neighbors(napalm: Any) -> None:
    assert napalm.get_lldp_neighbors()[UPLINK] == [{"port": "Ethernet1/1", "hostname": SPINE}]
    assert napalm.get_lldp_neighbors_detail()[UPLINK][0]["remote_system_name"] == SPINE


def test_napalm_reads_the_sessions(napalm: Any) -> None:
    speaker = napalm.get_bgp_neighbors()["global"]
    assert speaker["router_id"] == "10.255.1.1"
    assert len(speaker["peers"]) == 8
    peer = speaker["peers"]["100.64.0.0"]
    assert (peer["is_up"], peer["remote_as"], peer["address_family"]["ipv4"]["received_prefixes"]) == (True, 65001, 4)


def test_napalm_reads_the_configurations(napalm: Any) -> None:
    configurations = napalm.get_config()
    assert f"hostname {LEAF}" in configurations["running"]
    assert configurations["startup"].startswith("!No configuration change")


def test_napalm_merges_lines_and_rolls_back(twin: Twin, napalm: Any) -> None:
    napalm.load_merge_candidate(config="interface Ethernet1/1\n  description by-napalm\n")
    napalm.commit_config()
    assert napalm.get_interfaces()[HOST_PORT]["description"] == "by-napalm"
    assert "description by-napalm" in twin._switches[LEAF].startup()
    napalm.rollback()
    assert "by-napalm" not in napalm.get_config()["running"]
    assert "by-napalm" not in twin._switches[LEAF].startup()


@pytest.mark.parametrize("typed", ["e1/16", "Eth1/16", "ethernet 1/16", "Ethernet1/16"])
def test_a_port_is_named_as_operators_type_it(session: Cli, typed: str) -> None:
    assert shown(session, f"show interface {typed}").startswith("Ethernet1/16 is up")
    assert f"\ninterface {UPLINK}\n" in shown(session, f"show running-config interface {typed}")
    assert len(shown(session, f"show interface {typed} status").splitlines()) == 5


@pytest.mark.parametrize(("typed", "answer"), [("e1/99", "Invalid range"), ("x1/1", "Invalid interface format")])
def test_a_port_that_the_switch_does_not_have_is_refused(session: Cli, typed: str, answer: str) -> None:
    assert answer in shown(session, f"show interface {typed}")


def test_a_section_is_a_line_with_what_is_indented_below_it(session: Cli) -> None:
    bgp = shown(session, "show running-config | section 'router bgp'").splitlines()
    assert bgp[0] == "router bgp 4200001001"
    assert all(line.startswith(" ") for line in bgp[1:])
    peer = shown(session, "show running-config | section 100.64.0.0").splitlines()
    assert peer[:2] == ["  neighbor 100.64.0.0", "    bfd"]
    assert all(line.startswith("    ") for line in peer[1:])


def test_a_table_with_one_row_has_no_list(session: Cli) -> None:
    everything = json.loads(shown(session, "show interface status | json"))
    assert len(rows(everything, "interface")) == PORTS
    single = json.loads(shown(session, f"show interface {UPLINK} status | json"))
    assert rows(single, "interface")["state"] == "connected"


def test_the_summary_of_a_family_has_the_keys_of_nx_api(session: Cli) -> None:
    answer = json.loads(shown(session, "show bgp ipv4 unicast summary vrf all | json"))
    assert rows(answer, "vrf")["vrf-router-id"] == "10.255.1.1"
    peers = rows(answer, "vrf", "af", "saf", "neighbor")
    assert {peer["prefixreceived"] for peer in peers} == {"4"}
    assert {peer["state"] for peer in peers} == {"Established"}
    assert "IPv6 Unicast" in shown(session, "show bgp ipv6 unicast summary")


@pytest.mark.parametrize("command", ["show ip arp", "show bgp sessions vrf all", "show interface brief | json"])
def test_a_form_that_no_source_shows_is_refused(session: Cli, command: str) -> None:
    assert shown(session, command).startswith("% Unavailable command")


def test_a_port_that_is_shut_down_says_so(twin: Twin) -> None:
    operator = cli(twin._switches[LEAF])(CliUser(name="admin"))
    for line in ("configure terminal", "interface Ethernet1/2", "shutdown", "end"):
        operator.answer(line)
    until(lambda: shown(operator, "show interface e1/2").startswith("Ethernet1/2 is down (Administratively down)"))
    assert "disabled" in shown(operator, "show interface e1/2 status")
    assert "Administratively down" in shown(operator, "show interface e1/2 brief")
