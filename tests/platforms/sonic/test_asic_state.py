"""PFC, ECN and DSCP of ports as ASIC_DB has them: what orchagent has had the chip do, whatever is configured."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from railfab.platforms.sonic.asic_state import asic_ports

PORT, QUEUE, PROFILE, DSCP_MAP, QUEUE_MAP = (f"oid:0x{kind}000000000014" for kind in ("1", "15", "13", "14", "1499"))
PORTS, QUEUES = str({"Ethernet0": PORT}), str({"Ethernet0:3": QUEUE})
KIND = "ASIC_STATE:SAI_OBJECT_TYPE"
PRIORITY_3 = {"SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL": "8"}
Objects = Mapping[tuple[str, str], Mapping[str, str]]


def mapped(kind: str, key: str, value: str, entries: Mapping[int, int]) -> dict[str, str]:
    listed = [
        {"key": {"color": "SAI_PACKET_COLOR_GREEN", key: each}, "value": {value: to}} for each, to in entries.items()
    ]
    shown = json.dumps({"count": len(listed), "list": listed})
    return {"SAI_QOS_MAP_ATTR_TYPE": f"SAI_QOS_MAP_TYPE_{kind}", "SAI_QOS_MAP_ATTR_MAP_TO_VALUE_LIST": shown}


PROGRAMMED: Objects = {
    ("PORT", PORT): {
        **PRIORITY_3,
        "SAI_PORT_ATTR_QOS_DSCP_TO_TC_MAP": DSCP_MAP,
        "SAI_PORT_ATTR_QOS_TC_TO_QUEUE_MAP": QUEUE_MAP,
    },
    ("QOS_MAP", DSCP_MAP): mapped("DSCP_TO_TC", "dscp", "tc", {26: 4, 48: 6}),
    ("QOS_MAP", QUEUE_MAP): mapped("TC_TO_QUEUE", "tc", "qidx", {4: 3, 6: 6}),
    ("QUEUE", QUEUE): {"SAI_QUEUE_ATTR_WRED_PROFILE_ID": PROFILE},
    ("WRED", PROFILE): {"SAI_WRED_ATTR_ECN_MARK_MODE": "SAI_ECN_MARK_MODE_ALL"},
}
"""A port whose class 4 of traffic has queue 3."""


def dump(objects: Objects) -> str:
    """The objects as sonic-db-dump prints them."""
    return json.dumps(
        {
            f"{KIND}_{kind}:{identifier}": {"type": "hash", "value": {"NULL": "NULL", **fields}}
            for (kind, identifier), fields in objects.items()
        }
    )


def test_a_port_does_what_the_chip_was_told() -> None:
    port = asic_ports(ports=PORTS, queues=QUEUES, asic=dump(PROGRAMMED))["Ethernet0"]
    assert port.pfc == port.ecn == {3}
    assert (port.dscp[26], port.dscp[48], port.dscp[0]) == (3, 6, 0)


def test_what_the_chip_was_not_told_it_does_not_do() -> None:
    bare = {**PROGRAMMED, ("PORT", PORT): {}, ("QUEUE", QUEUE): {"SAI_QUEUE_ATTR_WRED_PROFILE_ID": "oid:0x0"}}
    port = asic_ports(ports=PORTS, queues=QUEUES, asic=dump(bare))["Ethernet0"]
    assert (port.pfc, port.ecn, set(port.dscp.values())) == (frozenset(), frozenset(), {0})


def test_a_profile_that_drops_does_not_mark() -> None:
    drops = {**PROGRAMMED, ("WRED", PROFILE): {"SAI_WRED_ATTR_ECN_MARK_MODE": "SAI_ECN_MARK_MODE_NONE"}}
    assert asic_ports(ports=PORTS, queues=QUEUES, asic=dump(drops))["Ethernet0"].ecn == frozenset()


@pytest.mark.parametrize(("received", "sent", "pfc"), [("8", "8", {3}), ("255", "8", {3}), ("255", "0", set())])
def test_with_asymmetric_pfc_a_port_does_what_it_sends_and_obeys(received: str, sent: str, pfc: set[int]) -> None:
    name = "SAI_PORT_ATTR_PRIORITY_FLOW_CONTROL"
    fields = {f"{name}_RX": received, f"{name}_TX": sent, f"{name}_MODE": f"{name.replace('_ATTR', '')}_MODE_SEPARATE"}
    asymmetric = {**PROGRAMMED, ("PORT", PORT): fields}
    assert asic_ports(ports=PORTS, queues=QUEUES, asic=dump(asymmetric))["Ethernet0"].pfc == pfc


@pytest.mark.parametrize(
    "asic", ["", "Error: no such database", "[]", '{"ASIC_STATE:SAI_OBJECT_TYPE_PORT:oid:0x1": 1}']
)
def test_a_switch_that_answers_otherwise_reports_nothing(asic: str) -> None:
    assert asic_ports(ports=PORTS, queues=QUEUES, asic=asic) == {}
    assert asic_ports(ports="Error", queues=QUEUES, asic=dump(PROGRAMMED)) == {}
