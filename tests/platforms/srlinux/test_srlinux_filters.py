"""The first entry of a filter that matches a packet of the fabric decides about it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from railfab.platforms.srlinux.filters import filtering, present_path

PEER, LOCAL = "100.64.0.0", "100.64.0.1/31"
RENDERED: Mapping[str, Any] = {
    "interface": [
        {"name": "ethernet-1/1", "subinterface": [{"index": 0, "ipv4": {"address": [{"ip-prefix": LOCAL}]}}]}
    ],
    "network-instance": [{"name": "default", "protocols": {"bgp": {"neighbor": [{"peer-address": PEER}]}}}],
}
ACCEPT: Mapping[str, Any] = {"action": {"accept": {}}}
DROP: Mapping[str, Any] = {"action": {"drop": {}}}
POLICE: Mapping[str, Any] = {"action": {"accept": {"rate-limit": {"policer": "slow"}}}}


def decided(*entries: Mapping[str, Any], family: str = "ipv4") -> Mapping[int, set[str]]:
    """Packets about which each entry of a filter of all ports decides, by its place; `decided(...)` keeps the order."""
    numbered = [{"sequence-id": 10 * place, **entry} for place, entry in enumerate(entries, start=1)]
    tree = {"acl": {"acl-filter": [{"name": "system", "type": family, "entry": numbered[::-1]}]}}
    decisions = filtering(tree, dict(RENDERED)).decisions
    return {int(keys[-1]): set(names) for (_, keys), names in decisions.items() if keys[-1] != "None"}


def ipv4(action: Mapping[str, Any], protocol: object = None, **conditions: Any) -> Mapping[str, Any]:
    """An entry; conditions: `destination_port=...` is of the transport, and `ip` those of IPv4 besides the protocol."""
    layer = {"protocol": protocol} if protocol is not None else {}
    transport = {name.replace("_", "-"): value for name, value in conditions.items() if name != "ip"}
    return {"match": {"ipv4": {**layer, **conditions.get("ip", {})}, "transport": transport}, **action}


ALL = {"bgp", "bfd", "bfd-echo", "roce"}


@pytest.mark.parametrize(
    ("entry", "packets"),
    [
        (DROP, ALL),
        (ipv4(DROP, "tcp"), {"bgp"}),
        (ipv4(DROP, 6), {"bgp"}),
        (ipv4(DROP, "17"), ALL - {"bgp"}),
        (ipv4(DROP, "icmp"), set()),
        (ipv4(DROP, "udp", destination_port={"operator": "eq", "value": 4791}), {"roce"}),
        (ipv4(DROP, "udp", destination_port={"value": "bfd-echo"}), {"bfd-echo"}),
        (ipv4(DROP, "udp", destination_port={"value": "ntp"}), set()),
        (ipv4(DROP, "udp", destination_port={"operator": "ge", "value": 4784}), {"bfd", "roce"}),
        (ipv4(DROP, "udp", destination_port={"operator": "le", "value": 3784}), {"bfd"}),
        (ipv4(DROP, "udp", destination_port={"range": {"start": 4785, "end": 5000}}), {"roce"}),
        (ipv4(DROP, "udp", destination_port={"range": {"end": 3783}}), set()),
        (ipv4(DROP, "udp", destination_port={"operator": "ge", "value": "ntp"}), ALL - {"bgp"}),
        (ipv4(ACCEPT, "udp", destination_port={"operator": "ge", "value": "ntp"}), set()),
        (ipv4(DROP, "tcp", source_port={"value": 179}), {"bgp"}),
        (ipv4(DROP, ip={"fragment": True}), set()),
        (ipv4(DROP, ip={"dscp-set": [48]}), ALL),
        (ipv4(ACCEPT, ip={"dscp-set": [48]}), set()),
        (ipv4(DROP, "tcp", tcp_flags="syn"), {"bgp"}),
        (ipv4(ACCEPT, "tcp", tcp_flags="ack"), set()),
        (ipv4(DROP, ip={"source-ip": {"prefix": "192.0.2.0/24"}}), {"roce"}),
        (ipv4(DROP, ip={"source-ip": {"prefix": f"{PEER}/32"}}), ALL),
        (ipv4(ACCEPT, ip={"source-ip": {"prefix": f"{PEER}/32"}}), ALL - {"roce"}),
        (ipv4(DROP, ip={"source-ip": {"address": PEER, "mask": "255.255.255.255"}}), ALL),
        (ipv4(DROP, ip={"destination-ip": {"prefix": "198.51.100.0/24"}}), {"roce"}),
        (ipv4(POLICE, ip={"destination-ip": {"prefix": LOCAL}}), ALL),
        ({"match": {"network-instance": "mgmt"}, **DROP}, set()),
        ({"match": {"protocol": "tcp", "destination-port": {"operator": "eq", "value": 179}}, **DROP}, {"bgp"}),
    ],
)
def test_an_entry_decides_about_what_it_matches(entry: Mapping[str, Any], packets: set[str]) -> None:
    assert decided(entry).get(10, set()) == packets


def test_an_entry_decides_about_nothing_that_an_earlier_one_has_decided() -> None:
    accepts = [ipv4(ACCEPT, "tcp", destination_port={"value": 179}), ipv4(ACCEPT, "udp")]
    assert decided(*accepts, DROP) == {10: {"bgp"}, 20: ALL - {"bgp"}, 30: {"bgp"}}
    assert decided(*accepts, ipv4(ACCEPT, "tcp", source_port={"value": 179}), DROP).get(40) is None
    assert decided(DROP, *accepts) == {10: ALL}


@pytest.mark.parametrize(
    ("match", "packets"),
    [
        ({"ipv6": {"next-header": "icmp6"}}, {"neighbor-discovery"}),
        ({"ipv6": {"next-header": 58, "icmp6": {"type": "neighbor-solicit"}}}, {"neighbor-discovery"}),
        ({"ipv6": {"next-header": "icmp6", "icmp6": {"type": "echo-request"}}}, set()),
        ({"ipv6": {"source-ip": {"prefix": "fe80::/10"}}}, (ALL - {"roce"}) | {"neighbor-discovery", "roce"}),
    ],
)
def test_ipv6_has_neighbor_discovery(match: Mapping[str, Any], packets: set[str]) -> None:
    assert decided({"match": match, **DROP}, family="ipv6").get(10, set()) == packets


def test_frames_are_those_of_lldp_and_of_ip() -> None:
    assert decided({"match": {"l2": {"ethertype": "0x88cc"}}, **DROP}, family="mac") == {10: {"lldp"}}
    assert decided(DROP, family="mac") == {10: {"lldp", "roce", "bgp", "neighbor-discovery"}}


def test_a_setting_of_an_older_release_has_the_path_of_the_present_one() -> None:
    for old in ("/acl/cpm-filter/ipv4-filter", "/acl/ipv6-filter", "/acl/system-filter/ipv4-filter"):
        assert present_path(f"{old}/entry/action/drop/log") == "/acl/acl-filter/entry/action/drop/log"
    assert present_path("/acl/interface/input/acl-filter") == "/acl/interface/input/acl-filter"
