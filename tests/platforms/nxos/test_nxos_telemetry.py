"""Queues of Cisco's native model, as a switch sends them: a port by its short name, a queue by its class map."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from railfab.gnmi import messages
from railfab.gnmi.paths import to_proto
from railfab.platforms import platform
from railfab.telemetry.mapping import PathMap
from railfab.telemetry.notification import Decoded, NotificationDecoder

PORTS = "device:/System/ipqos-items/queuing-items/policy-items/out-items/intf-items"


def decoded(class_map: str, counters: Mapping[str, str]) -> Decoded:
    """The counters of a class map on the first port, in the container that is subscribed to."""
    entry = {"cmapName": class_map, "statType": "none", **counters}
    ports = {"If-list": [{"name": "eth1/1", "queCmap-items": {"QueuingStats-list": [entry]}}]}
    notification = messages.Notification(timestamp=1)
    value = messages.TypedValue(json_val=json.dumps(ports).encode())
    notification.update.add(path=to_proto(PORTS), val=value)
    return NotificationDecoder(PathMap(platform("nxos").telemetry)).decode(notification)


@pytest.mark.parametrize(
    ("class_map", "number"), [("c-out-8q-q3", "3"), ("c-out-8q-q-default", "0"), ("c-out-8q-q7", "6")]
)
def test_a_class_map_is_the_queue_that_the_design_has_in_its_group(class_map: str, number: str) -> None:
    samples = decoded(class_map, {"txBytes": "7", "randEcnMarkedPackets": "5", "pfcTxPpp": "2"}).samples
    assert {(series.metric.name, *(text for _, text in series.labels)): value for series, value in samples} == {
        ("fabric_queue_transmit_bytes_total", "Ethernet1/1", number): 7.0,
        ("fabric_queue_ecn_marked_packets_total", "Ethernet1/1", number): 5.0,
        ("fabric_pfc_transmit_frames_total", "Ethernet1/1", number): 2.0,
    }


@pytest.mark.parametrize("class_map", ["c-out-q3", "storage", "c-out-8q-q33"])
def test_a_class_map_that_is_no_queue_of_the_design_is_unmapped(class_map: str) -> None:
    found = decoded(class_map, {"txBytes": "7"})
    assert not found.samples
    assert found.unmapped
