"""Parsing of recorded output of FRR and Linux."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from ipaddress import ip_address
from pathlib import Path

import pytest
from tests.platforms.frr.switches import LEAF, RICH, text

from railfab.device import Family, ObservedBgpSession, ObservedFamily, ObservedInterface
from railfab.endpoints import Credentials, Endpoint, read_credentials
from railfab.errors import DeviceError, EndpointError, Unreachable
from railfab.platforms import platform
from railfab.platforms.frr.names import interface_name
from railfab.platforms.frr.reload_output import pending, refusal, with_new_definitions, with_sorted_prefix_lists
from railfab.platforms.frr.session import FrrSession, unified
from railfab.platforms.shared import frr_state

FRR = platform("frr")
observed_state = partial(frr_state.observed_state, interface_name=interface_name)
STAMP = "2026-11-21 13:06:25,954  INFO: "
HEAD = f'{STAMP}Called via "Namespace(test=True)"\n{STAMP}Loading Config object from file CAND.conf\n'

# Recorded from frr-reload.py of FRR 8.4.4.
CHANGES = f"""{HEAD}
Lines To Delete
===============
router bgp 65101
 no neighbor 10.0.0.0 peer-group SPINES

Lines To Add
============
router bgp 65101
 neighbor 10.0.0.2 peer-group SPINES
router bgp 65101
 address-family ipv4 unicast
  network 10.255.0.9/32 
"""  # noqa: W291
BAD_FILE = (
    "2026-11-21 13:06:27,083 \x1b[91m  ERROR\x1b[0m: vtysh failed to process new configuration: "
    "vtysh (mark file) exited with status 2:\nb'line 12: % Unknown command:  neighbor 10.0.0.2 bogus\\n\\n'\n"
)
FAILED = """% Configure the peer-group first
line 2: Failure to communicate[13] to bgpd, line:  neighbor 10.0.0.7 peer-group NOPE

2026-11-21 14:28:46,164 \x1b[91mWARNING\x1b[0m: frr-reload.py failed due to
vtysh (exec file) exited with status 13
"""


def test_changes_of_a_dry_run_are_prefixed_by_their_sections() -> None:
    assert pending(CHANGES) == (
        "- router bgp 65101: no neighbor 10.0.0.0 peer-group SPINES",
        "+ router bgp 65101: neighbor 10.0.0.2 peer-group SPINES",
        "+ router bgp 65101: address-family ipv4 unicast: network 10.255.0.9/32",
    )


def test_a_dry_run_without_changes_has_none() -> None:
    assert pending(HEAD) == ()


def test_an_empty_interface_or_bfd_section_is_no_change() -> None:
    idle = "\nLines To Delete\n===============\nno bfd\n\nLines To Add\n============\ninterface swp9\n"
    assert pending(HEAD + idle) == ()
    assert pending(HEAD + idle + " description to a host\n") == ("+ interface swp9: description to a host",)
    assert pending(HEAD + idle.replace("no bfd", "bfd\n no profile X")) == ("- bfd: no profile X",)


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (BAD_FILE, "line 12: % Unknown command: neighbor 10.0.0.2 bogus"),
        (FAILED, "`neighbor 10.0.0.7 peer-group NOPE`: % Configure the peer-group first"),
        ("% Something else\n", "% Something else"),
        (f"{STAMP}Filename NOFILE.conf does not exist\n", "INFO: Filename NOFILE.conf does not exist"),
        ("", "no reason given"),
    ],
    ids=["bad file", "refused when applied", "complaint", "log", "nothing"],
)
def test_a_failure_is_reported_with_frrs_error_text(message: str, why: str) -> None:
    assert refusal(message) == why


def test_prefix_lists_and_route_maps_are_sorted_by_name() -> None:
    lists = [
        "ip prefix-list B seq 5 deny any\n",
        "ip prefix-list A seq 5 deny any\n",
        "ip prefix-list B seq 10 deny any\n",
    ]
    shown = with_sorted_prefix_lists("".join(["hostname x\n!\n", *lists, "!\nend\n"]))
    assert shown == "".join(["hostname x\n!\n", lists[1], lists[0], lists[2], "!\nend\n"])
    maps = ["route-map B permit 10\nexit\n!\n", "route-map B permit 20\nexit\n!\n", "route-map A permit 10\nexit\n!\n"]
    shown = with_sorted_prefix_lists("".join(["hostname x\n!\n", *maps, "end\n"]))
    assert shown == "".join(["hostname x\n!\n", maps[2], *maps[:2], "end\n"])


LINKS = [
    {"ifname": "lo", "flags": ["LOOPBACK", "UP", "LOWER_UP"], "operstate": "UNKNOWN", "mtu": 65536, "addr_info": []},
    {"ifname": "swp1", "flags": ["BROADCAST", "UP", "LOWER_UP"], "operstate": "UP", "mtu": 9000, "addr_info": []},
    {"ifname": "swp2", "flags": ["NO-CARRIER", "BROADCAST", "UP"], "operstate": "LOWERLAYERDOWN", "mtu": 1500},
    {
        "ifname": "swp3",
        "flags": ["UP"],
        "operstate": "UNKNOWN",
        "mtu": 9000,
        "addr_info": [
            {"family": "inet", "local": "10.16.9.0", "prefixlen": 31, "scope": "global"},
            {"family": "inet6", "local": "fd00:9::", "prefixlen": 127, "scope": "global"},
            {"family": "inet6", "local": "fe80::1", "prefixlen": 64, "scope": "link"},
        ],
    },
]
PEERS = {
    "vrfId": 0,
    "vrfName": "default",
    "swp1": {"bgpState": "Established", "remoteAs": 65001, "hostname": "spine1", "peerBfdInfo": {"status": "Up"}},
    "10.16.9.1": {"bgpState": "Active", "remoteAs": 65002, "peerBfdInfo": {"status": "Down"}},
    "fd00:9::1": {
        "bgpState": "Established",
        "remoteAs": 65002,
        "addressFamilyInfo": {
            "ipv6Unicast": {"acceptedPrefixCounter": 0, "sentPrefixCounter": 5},
            "ipv4Unicast": {"acceptedPrefixCounter": 3, "sentPrefixCounter": 4},
        },
    },
    "10.9.9.9": {"bgpState": "Idle", "remoteAs": 65003},
    "totalPeers": 3,
}
VRF_PEERS = {"vrfId": 7, "vrfName": "management", "swp1": {"bgpState": "Established", "remoteAs": 65001}}


def test_new_route_maps_and_lists_are_added_to_what_runs_and_nothing_else() -> None:
    running, candidate = text(LEAF), text(replace(RICH, name=LEAF.name))
    defined = with_new_definitions(running, candidate)
    added = "".join(section for section in defined.split("!\n") if section not in running.split("!\n"))
    names = ("ip prefix-list", "ipv6 prefix-list", "bgp as-path", "bgp community-list", "route-map")
    kept = [line for line in candidate.splitlines() if line.startswith(names)]
    assert [line for line in added.splitlines() if not line.startswith((" ", "exit"))] == kept
    assert defined.endswith("!\nend\n")
    assert FRR.parse(defined).bgp == FRR.parse(running).bgp
    assert FRR.parse(defined).interfaces == FRR.parse(running).interfaces
    assert with_new_definitions(candidate, candidate) == candidate
    assert with_new_definitions(defined, candidate) == defined


def test_a_port_that_is_shut_down_is_down_although_its_driver_reports_no_link_state() -> None:
    """A dummy or a tunnel has operstate UNKNOWN, up or not."""
    shut = [link | {"flags": ["BROADCAST"]} if link["ifname"] == "swp3" else link for link in LINKS]
    seen = observed_state("leaf1", neighbors="{}", addresses=json.dumps(shut))
    assert {port.name: port.oper_up for port in seen.interfaces} == {"swp1": True, "swp2": False, "swp3": False}


def test_links_and_sessions_are_parsed() -> None:
    peers = {"default": PEERS, "management": VRF_PEERS}
    seen = observed_state("leaf1", neighbors=json.dumps(peers), addresses=json.dumps(LINKS))
    assert seen.interfaces == (
        ObservedInterface(name="swp1", oper_up=True, enabled=True, mtu_bytes=9000),
        ObservedInterface(name="swp2", oper_up=False, enabled=True, mtu_bytes=1500),
        ObservedInterface(name="swp3", oper_up=True, enabled=True, mtu_bytes=9000),
    )
    assert seen.sessions == (
        ObservedBgpSession(
            peer="swp1",
            state="established",
            interface="swp1",
            remote_as=65001,
            neighbor_device="spine1",
            bfd_up=True,
        ),
        ObservedBgpSession(
            peer=ip_address("10.16.9.1"), state="active", interface="swp3", remote_as=65002, bfd_up=False
        ),
        ObservedBgpSession(
            peer=ip_address("fd00:9::1"),
            state="established",
            interface="swp3",
            remote_as=65002,
            families=(
                ObservedFamily(family=Family.IPV4, received=3, sent=4),
                ObservedFamily(family=Family.IPV6, received=0, sent=5),
            ),
        ),
        ObservedBgpSession(peer=ip_address("10.9.9.9"), state="idle", remote_as=65003),
        ObservedBgpSession(
            peer="swp1", network_instance="management", state="established", interface="swp1", remote_as=65001
        ),
    )


def test_virtual_interfaces_have_the_names_of_the_model() -> None:
    links = [LINKS[1] | {"ifname": name} for name in ("lo1", "bond2", "vlan10")]
    peers = {"default": {"vrfName": "default", "bond2": {"bgpState": "Active"}}}
    seen = observed_state("leaf1", neighbors=json.dumps(peers), addresses=json.dumps(links))
    assert [port.name for port in seen.interfaces] == ["loopback1", "lag2", "vlan10"]
    assert seen.sessions == (ObservedBgpSession(peer="lag2", state="active", interface="lag2"),)


def test_resolved_addresses_are_those_that_a_neighbour_has_answered_for() -> None:
    """Recorded from `ip -j neigh show` of iproute2: 169.254.0.1 is FRR's own entry of an unnumbered session."""
    resolved = """[{"dst":"10.17.0.1","dev":"swp1","lladdr":"02:00:00:00:00:01","state":["STALE"]},
      {"dst":"10.17.0.5","dev":"swp1","state":["FAILED"]},
      {"dst":"169.254.0.1","dev":"swp1","lladdr":"02:00:00:00:00:02","state":["PERMANENT"]},
      {"dst":"fe80::1","dev":"swp1","lladdr":"02:00:00:00:00:01","state":["REACHABLE"]}]"""
    addresses = '[{"ifname": "swp1", "flags": ["UP"], "operstate": "UP", "mtu": 9000}]'
    (port,) = observed_state("leaf1", neighbors="{}", addresses=addresses, resolved=resolved).interfaces
    assert port.resolved_addresses == {ip_address("10.17.0.1"), ip_address("fe80::1")}


def test_addresses_in_a_vlan_are_those_of_the_port_on_which_the_bridge_has_learned_their_macs() -> None:
    """Recorded from `bridge -j fdb show` of iproute2: a MAC address of a port itself, one of EVPN, and static ones."""
    resolved = json.dumps(
        [
            {"dst": f"10.0.1.{number}", "dev": "vlan101", "lladdr": f"02:00:00:00:00:0{number}", "state": ["STALE"]}
            for number in range(1, 7)
        ]
    )
    bridged = """[{"mac":"02:00:00:00:00:01","ifname":"swp1","flags":[],"master":"vlan101","state":""},
      {"mac":"02:00:00:00:00:02","ifname":"swp1","flags":[],"master":"vlan102","state":""},
      {"mac":"02:00:00:00:00:03","ifname":"swp1","flags":[],"master":"vlan101","state":"permanent"},
      {"mac":"02:00:00:00:00:04","ifname":"swp1","flags":["extern_learn"],"master":"vlan101","state":""},
      {"mac":"02:00:00:00:00:05","ifname":"swp1","flags":[],"master":"vlan101","state":"static"},
      {"mac":"02:00:00:00:00:06","ifname":"swp1","flags":["self"],"state":"permanent"}]"""
    addresses = json.dumps([{"ifname": "swp1", "flags": ["UP"], "operstate": "UP", "mtu": 9000}])
    (port,) = observed_state(
        "leaf1", neighbors="{}", addresses=addresses, resolved=resolved, bridged=bridged
    ).interfaces
    assert port.resolved_addresses == {ip_address("10.0.1.1")}


@pytest.mark.parametrize(
    ("hashing", "has_port"),
    [
        ("0\n7\n", False),
        ("1\n7\n", True),
        ("2\n7\n", False),
        ("3\n55\n", True),
        ("3\n0x0037\n", True),
        ("3\n7\n", False),
        ("1\n", True),  # kernels before 5.14 have no fields
        ("", None),
    ],
)
def test_the_hash_of_the_kernel_has_the_source_port_or_not(hashing: str, has_port: bool | None) -> None:
    seen = observed_state("leaf1", neighbors="{}", addresses="[]", hashing=hashing)
    assert seen.hashes_source_port is has_port


@pytest.mark.parametrize(
    ("shown", "vnis"),
    [
        (
            '{"10100": {"vni": 10100, "type": "L2", "vxlanIf": "vni10100"}, "5001": {"vni": 5001, "type": "L3"}}',
            {10100},
        ),
        ("{\n}\n", set()),
        ("", None),
    ],
)
def test_the_vnis_are_those_of_vlans(shown: str, vnis: set[int] | None) -> None:
    assert observed_state("leaf1", neighbors="{}", addresses="[]", vnis=shown).vnis == vnis


def test_a_difference_shows_no_secret() -> None:
    changes = ("no enable password hidden",)
    assert unified("enable password hidden\n", "hostname a\n", changes).splitlines()[3:] == [
        "-enable password ...",
        "+hostname a",
    ]
    assert unified("hostname a\n", "hostname a\n", changes) == "no enable password ..."


def test_a_switch_without_bgp_has_no_sessions() -> None:
    assert observed_state("leaf1", neighbors="% BGP instance not found\n", addresses="[]").sessions == ()


def test_output_that_is_not_json_is_a_one_line_error() -> None:
    with pytest.raises(DeviceError) as refused:
        observed_state("leaf1", neighbors="{}", addresses="sh: ip: not found\n")
    message = "leaf1: `ip -j addr show` returns 'sh: ip: not found' instead of JSON. Check that FRR is running."
    assert str(refused.value) == message


def test_a_session_that_is_not_open_is_unreachable() -> None:
    endpoint = Endpoint(name="leaf1", platform="frr", host="192.0.2.1")
    with pytest.raises(Unreachable) as refused:
        FrrSession(endpoint, Credentials("admin", "x")).running()
    assert str(refused.value) == "leaf1: is not connected. Open the session again."


def test_a_key_file_replaces_the_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    endpoint = Endpoint(name="leaf1", platform="frr", host="192.0.2.1", credentials="env:RFT")
    monkeypatch.setenv("RFT_USERNAME", "admin")
    with pytest.raises(EndpointError) as refused:
        read_credentials(endpoint)
    assert str(refused.value) == "leaf1: the environment lacks RFT_PASSWORD. Export what is missing."
    monkeypatch.setenv("RFT_KEY_FILE", "/keys/id")
    assert read_credentials(endpoint) == Credentials("admin", "", "/keys/id")
    (tmp_path / "login.yml").write_text("username: admin\npassword: x\nkey_file: /keys/id\n")
    both = replace(endpoint, credentials=str(tmp_path / "login.yml"))
    assert read_credentials(both) == Credentials("admin", "x", "/keys/id")


RECORDED = """
leaf1# show bogus
% Unknown command: show bogus
leaf1# show
% Command incomplete: show
leaf1# conf
leaf1(config)# router bgp 65101
leaf1(config-router)# neighbor 10.0.0.7 peer-group NOPE
% Configure the peer-group first
leaf1(config-router-af)# exit-address-family
leaf1(config-bfd-profile)# end
leaf1# disable
leaf1> enable
"""
"""Lines of vtysh on a pseudo-terminal, FRR 8.4.4."""


def test_the_dialect_matches_recorded_prompts_and_errors() -> None:
    modes = [re.compile(FRR.dialect.prompts[mode]) for mode in ("user", "enable", "config")]
    complaints = [re.compile(pattern) for pattern in FRR.dialect.errors]
    for line in RECORDED.strip().splitlines():
        if line.startswith("%"):
            assert any(pattern.match(line) for pattern in complaints), line
            continue
        prompt = re.match(r"\S+ ", line)
        assert prompt is not None
        assert sum(bool(pattern.match(prompt[0])) for pattern in modes) == 1, line


def test_a_container_keeps_the_front_panel_s_names_and_boots_unprivileged() -> None:
    assert [FRR.lab.interfaces.lab(name) for name in ("swp1", "swp16", "eth1")] == ["swp1", "swp16", None]
    assert FRR.lab.privileged is False


def test_the_platform_needs_no_transport_until_it_is_used() -> None:
    import subprocess
    import sys

    script = "import sys, railfab.platforms.frr; sys.exit(any(m in sys.modules for m in ('netmiko', 'paramiko')))"
    assert subprocess.run([sys.executable, "-c", script], timeout=60).returncode == 0
