"""What a virtual switch with EOS shows, as readers of others parse it: NAPALM over SSH, and ntc-templates."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from ntc_templates.parse import parse_output  # type: ignore[import-untyped]
from tests.twin.twins import made_job, pass_time, ran, until

from railfab.endpoints import read_credentials
from railfab.fabric import Design, design
from railfab.platforms.eos.cli import cli
from railfab.platforms.eos.port_state import short_name
from railfab.platforms.eos.session import EosSession
from railfab.ssh import Cli, CliUser
from railfab.twin import Twin
from railfab.twin.switch import VirtualSwitch

INTENT = """\
version: 1
fabric: shows
profile: {control_plane: ebgp, underlay: numbered, bfd: {interval_ms: 300, multiplier: 3}}
hosts: {gpus: 2, rate_gbps: 100}
backend:
  segments: {count: 2, hosts: 4, rail_switches: 1, model: 7060dx5-64s, platform: eos, cable_m: 5}
  spines: {count: 2, rate_gbps: 400, model: 7060dx5-64s, platform: eos, cable_m: 40}
"""
"""Addresses on the links: ntc-templates and NAPALM have no words for unnumbered sessions."""
INCAST = {"traffic": {"pattern": "incast", "senders": 14, "receivers": 1, "bytes": "1.5MB"}}
LEAF, SPINE = "pod1-seg1-leaf1", "pod1-spine1"
RECEIVER, RECEIVER_PORT = "pod1-seg1-host1", "Ethernet1/1"
"""The host where the senders of an incast meet, and its port on LEAF."""
UPLINK, PEER = "Ethernet64/1", "100.64.0.0"
"""Of LEAF, at whose far end is Ethernet1/1 of the spine, with this address."""
LOSSLESS = "3"
"""Priority and queue of the lossless class."""


@pytest.fixture(scope="module")
def fabric(tmp_path_factory: pytest.TempPathFactory) -> Design:
    path = tmp_path_factory.mktemp("intent") / "intent.yml"
    path.write_text(INTENT)
    return design(path)


@pytest.fixture(scope="module")
def twin(fabric: Design, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    with Twin(fabric, state=tmp_path_factory.mktemp("state"), base_port=0, configured=True) as running:
        yield running


@pytest.fixture(scope="module")
def switch(twin: Twin) -> VirtualSwitch:
    """A switch whose port RECEIVER_PORT an incast has congested, and then a host that takes nothing has stopped."""
    leaf = twin._switches[LEAF]
    until(lambda: all(session.established for session in leaf.observe().sessions))
    ran(twin, made_job(phases=[INCAST], repeat=1))
    twin.set_host_rate(RECEIVER, 0)
    twin.switch_job(made_job(phases=[INCAST], repeat=1))
    until(lambda: series(leaf, "fabric_pfc_watchdog_storms_detected_total")[RECEIVER_PORT] > 0)
    twin.set_host_rate(RECEIVER, None)
    until(lambda: twin.status().steps == 1)
    pass_time(twin, 1.0)
    return leaf


@pytest.fixture
def session(switch: VirtualSwitch) -> Cli:
    login = cli(switch)(CliUser(name="admin"))
    login.answer("enable")
    return login


@pytest.fixture(scope="module")
def napalm(twin: Twin, switch: VirtualSwitch) -> Iterator[Any]:
    from napalm import get_network_driver  # takes longer to import than all that is tested here

    endpoint = twin.endpoints.by_name()[LEAF]
    login = read_credentials(endpoint)
    driver: Any = get_network_driver("eos")
    options = {"transport": "ssh", "port": endpoint.ssh_port, "enable_password": ""}
    with driver(endpoint.host, login.username, login.password, optional_args=options) as opened:
        opened.device.enable()
        yield opened


def series(switch: VirtualSwitch, metric: str) -> Counter[str]:
    """The values of a metric by port."""
    counted: Counter[str] = Counter()
    for reading in switch.readings():
        if reading.metric == metric:
            counted[reading.labels["interface"]] += int(reading.value)
    return counted


def shown(session: Cli, command: str) -> str:
    return session.answer(command).output


def table(session: Cli, command: str) -> list[list[str]]:
    """The words of each line of an answer."""
    return [line.split() for line in shown(session, command).splitlines()]


def answered(session: Cli, command: str) -> Any:
    return json.loads(shown(session, f"{command} | json"))


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            "show interfaces",
            {"interface": UPLINK, "link_status": "up", "ip_address": "100.64.0.1/31"},
        ),
        ("show interfaces", {"interface": "Loopback0", "hardware_type": "Loopback", "ip_address": "10.255.1.1/32"}),
        ("show interfaces status", {"port": "Et64/1", "status": "connected", "vlan_id": "routed", "speed": "400G"}),
        ("show interfaces description", {"port": "Et64/1", "status": "up", "description": f"{SPINE} Ethernet1/1"}),
        ("show ip interface brief", {"interface": UPLINK, "ip_address": "100.64.0.1/31", "mtu": "9216"}),
        ("show lldp neighbors", {"neighbor_name": SPINE, "local_interface": "Et64/1"}),
        ("show lldp neighbors detail", {"neighbor_name": SPINE, "local_interface": UPLINK}),
        ("show ip bgp summary", {"vrf": "default", "bgp_neigh": PEER, "state": "Estab", "state_pfxrcd": "10"}),
        ("show version", {"model": "7060dx5-64s", "image": "4.33.1F"}),
    ],
)
def test_ntc_templates_reads_what_a_switch_shows(session: Cli, command: str, expected: dict[str, str]) -> None:
    parsed = parse_output("arista_eos", command, shown(session, command))
    assert any(expected.items() <= row.items() for row in parsed), parsed


@pytest.mark.parametrize("name", ["Et64/1", "ethernet 64/1", UPLINK])
def test_a_port_may_be_named_as_it_is_typed(session: Cli, name: str) -> None:
    for command in (f"show interfaces {name}", f"show interfaces {name} status", f"show interfaces {name} counters"):
        (tables,) = answered(session, command).values()
        assert list(tables) == [UPLINK]
    assert shown(session, "show interfaces Ethernet99/1") == "% Invalid input\n"


def test_napalm_reads_the_facts(napalm: Any) -> None:
    facts = napalm.get_facts()
    assert (facts["vendor"], facts["hostname"], facts["os_version"]) == ("Arista", LEAF, "4.33.1F")
    assert {UPLINK, "Loopback0"} <= set(facts["interface_list"])
    assert 0 <= facts["uptime"] < 3600


def test_napalm_reads_interfaces_and_their_addresses(napalm: Any) -> None:
    port = napalm.get_interfaces()[UPLINK]
    assert (port["is_up"], port["is_enabled"], port["mtu"], port["speed"]) == (True, True, 9216, 400_000)
    assert port["description"] == f"{SPINE} Ethernet1/1"
    assert 0 <= time.time() - port["last_flapped"] < 3600
    addresses = napalm.get_interfaces_ip()
    assert addresses["Loopback0"]["ipv4"] == {"10.255.1.1": {"prefix_length": 32}}
    assert addresses[UPLINK]["ipv4"] == {"100.64.0.1": {"prefix_length": 31}}


def test_napalm_counts_what_the_fabric_counts(switch: VirtualSwitch, napalm: Any) -> None:
    counted = napalm.get_interfaces_counters()
    octets = series(switch, "fabric_interface_transmit_bytes_total")
    assert octets[RECEIVER_PORT] > 0
    assert {name: counted[name]["tx_octets"] for name in octets} == octets
    packets = series(switch, "fabric_interface_receive_packets_total")
    assert counted[RECEIVER_PORT]["rx_unicast_packets"] == packets[RECEIVER_PORT]


def test_napalm_reads_the_neighbors(napalm: Any) -> None:
    assert napalm.get_lldp_neighbors()[UPLINK] == [{"port": "Ethernet1/1", "hostname": SPINE}]
    (neighbor,) = napalm.get_lldp_neighbors_detail()[UPLINK]
    assert (neighbor["remote_system_name"], neighbor["remote_port"]) == (SPINE, "Ethernet1/1")


def test_napalm_reads_the_sessions(napalm: Any) -> None:
    speaker = napalm.get_bgp_neighbors()["global"]
    assert (speaker["router_id"], len(speaker["peers"])) == ("10.255.1.1", 32)
    peer = speaker["peers"][PEER]
    assert (peer["is_up"], peer["remote_as"], peer["remote_id"]) == (True, 65001, "10.254.1.1")
    assert peer["address_family"]["ipv4"]["received_prefixes"] == 10


def test_napalm_replaces_a_configuration(switch: VirtualSwitch, napalm: Any) -> None:
    running = napalm.get_config()["running"]
    napalm.load_replace_candidate(config=running.replace("host1 rail1-p0", "host1 spare"))
    changed = [line for line in napalm.compare_config().splitlines() if re.match(r"[-+] ", line)]
    assert changed == ["-   description pod1-seg1-host1 rail1-p0", "+   description pod1-seg1-host1 spare"]
    napalm.commit_config()
    assert "host1 spare" in switch.startup()


def test_the_running_configuration_is_shown_in_parts(session: Cli) -> None:
    assert (
        shown(session, "show running-config | section Loopback0")
        == "interface Loopback0\n   ip address 10.255.1.1/32\n"
    )
    section = shown(session, "show running-config section router bgp")
    assert section == shown(session, "show running-config | section router bgp")
    assert section.startswith("router bgp ")


def test_what_is_not_saved_is_shown(session: Cli) -> None:
    shown(session, "write memory")
    assert shown(session, "show running-config diffs") == ""
    for line in ("configure", "interface Loopback0", "description unsaved", "end"):
        shown(session, line)
    lines = shown(session, "show running-config diffs").splitlines()
    assert lines[:2] == ["--- flash:/startup-config", "+++ system:/running-config"]
    assert "+   description unsaved" in lines


def test_queues_and_pauses_are_counted_as_the_fabric_counts_them(session: Cli, switch: VirtualSwitch) -> None:
    paused, marked, storms, sent = (
        series(switch, f"fabric_{metric}_total")[RECEIVER_PORT]
        for metric in (
            "pfc_receive_frames",
            "queue_ecn_marked_packets",
            "pfc_watchdog_storms_detected",
            "queue_transmit_packets",
        )
    )
    assert min(paused, marked, storms, sent) > 0
    frames = answered(session, "show priority-flow-control counters")["interfaceCounters"]
    assert frames[RECEIVER_PORT] == {"rxFrames": paused, "txFrames": 0}
    assert ["Et1/1", str(paused), "0"] in table(session, "show priority-flow-control counters")
    ecn = answered(session, f"show qos interfaces {RECEIVER_PORT} ecn counters queue")["intfQueueCounters"]
    assert ecn[RECEIVER_PORT]["queueCounters"] == {str(queue): "-" for queue in range(8)} | {LOSSLESS: str(marked)}
    stuck = answered(session, "show priority-flow-control counters watchdog")["interfaces"]
    assert stuck == {RECEIVER_PORT: {"txQueues": {LOSSLESS: {"stuckCount": storms}}}}
    detail = table(session, "show interfaces Et1/1 counters queue detail")
    assert next(row[2] for row in detail if row[1] == f"UC{LOSSLESS}") == str(sent)


def test_routes_have_the_next_hops_of_the_fabric(session: Cli, switch: VirtualSwitch) -> None:
    rows = parse_output("arista_eos", "show ip route", shown(session, "show ip route"))
    (far,) = [row for row in rows if (row["network"], row["prefix_length"]) == ("10.17.1.0", "31")]
    taught = next(route for route in switch.routes() if str(route.prefix) == "10.17.1.0/31")
    assert (far["protocol"], set(far["interface"])) == ("B E", set(taught.interfaces))
    assert PEER in far["next_hop"]
    routes = answered(session, "show ip route")["vrfs"]["default"]["routes"]
    assert {via["nexthopAddr"] for via in routes["10.17.1.0/31"]["vias"]} == set(far["next_hop"])
    assert routes["10.255.1.1/32"] == {
        "routeType": "connected",
        "vias": [{"nexthopAddr": "", "interface": "Loopback0"}],
    }


def test_a_collector_reads_the_drops_of_queues(session: Cli, switch: VirtualSwitch) -> None:
    dropped = series(switch, "fabric_queue_dropped_packets_total")
    rows = table(session, "show interfaces counters queue")
    assert {row[0]: int(row[2]) for row in rows[1:]} == {short_name(port): count for port, count in dropped.items()}


def test_a_queue_without_ecn_is_seen_by_the_session(twin: Twin, switch: VirtualSwitch) -> None:
    before = switch.running()
    try:
        assert marking(twin) == frozenset({int(LOSSLESS)})
        switch.replace(re.sub(r"^ +random-detect ecn .*\n", "", before, flags=re.MULTILINE))
        assert marking(twin) == frozenset()
    finally:
        switch.replace(before)


def marking(twin: Twin) -> frozenset[int] | None:
    """Queues of RECEIVER_PORT that mark packets, as a session observes them."""
    endpoint = twin.endpoints.by_name()[LEAF]
    with EosSession(endpoint, read_credentials(endpoint)) as session:
        ports = {port.name: port for port in session.observe().interfaces}
    return ports[RECEIVER_PORT].ecn


def test_what_no_source_shows_is_refused(session: Cli) -> None:
    for command in ("show bfd peers", "show interfaces counters", "show ip interface brief | json"):
        assert shown(session, command).startswith("% Unavailable command (a virtual switch has it with")
