"""Labels in the elements of a path, as SONiC's databases have them, decoded and encoded."""

from __future__ import annotations

import json
from collections.abc import Mapping

import numpy as np

from railfab.gnmi import messages
from railfab.gnmi.paths import elements, to_proto, to_text_elements
from railfab.platforms import Confidence, SubscriptionMode, TelemetryMap, TelemetryRule, TelemetrySubscription
from railfab.telemetry.mapping import PathMap
from railfab.telemetry.notification import Decoded, NotificationDecoder
from railfab.twin.encoder import Encoder


def rule(path: str, metric: str, **fields: object) -> TelemetryRule:
    found = {"labels": {}, "encoding": "uint64", "confidence": Confidence.DOCUMENTED, **fields}
    return TelemetryRule(path=path, metric=metric, **found)  # type: ignore[arg-type]


SONIC = TelemetryMap(
    rules=(
        rule("/COUNTERS/{interface}/SAI_PORT_STAT_IF_IN_OCTETS", "fabric_interface_receive_bytes_total"),
        rule("/COUNTERS/{interface}/SAI_PORT_STAT_PFC_{priority}_RX_PKTS", "fabric_pfc_receive_frames_total"),
        rule("/COUNTERS/{interface}/Queues/*:{queue}/SAI_QUEUE_STAT_BYTES", "fabric_queue_transmit_bytes_total"),
        rule(
            "/LLDP_ENTRY_TABLE/{interface}/present",
            "fabric_lldp_neighbor_info",
            encoding="string",
            from_leaf={"lldp_rem_sys_name": "{peer_device}", "lldp_rem_port_id": "{peer_interface}"},
        ),
    ),
    subscriptions=(
        TelemetrySubscription(path="/COUNTERS/Ethernet*", mode=SubscriptionMode.SAMPLE, target="COUNTERS_DB"),
    ),
)
"""In the manner of SONiC's COUNTERS_DB over gNMI: names of ports and queues are elements, not keys."""


def decoded(updates: Mapping[str, object]) -> Decoded:
    """As a target sends it: a JSON value at each of these paths."""
    notification = messages.Notification(timestamp=1)
    for path, value in updates.items():
        notification.update.add(path=to_proto(path), val=messages.TypedValue(json_ietf_val=json.dumps(value).encode()))
    return NotificationDecoder(PathMap(SONIC)).decode(notification)


def samples(found: Decoded) -> dict[tuple[str, ...], float]:
    return {(series.metric.name, *(value for _, value in series.labels)): value for series, value in found.samples}


def test_labels_come_from_elements_of_the_path() -> None:
    found = decoded({"/COUNTERS/Ethernet4/SAI_PORT_STAT_IF_IN_OCTETS": "7"})
    assert samples(found) == {("fabric_interface_receive_bytes_total", "Ethernet4"): 7.0}
    assert not found.unmapped


def test_labels_come_from_members_of_a_json_object() -> None:
    """The member `Ethernet4:3` is a queue: a YANG module's prefix is followed by a letter."""
    port = {
        "SAI_PORT_STAT_IF_IN_OCTETS": "7",
        "SAI_PORT_STAT_PFC_3_RX_PKTS": "5",
        "SAI_PORT_STAT_UNKNOWN": "1",
        "Queues": {"Ethernet4:3": {"SAI_QUEUE_STAT_BYTES": "9"}},
    }
    found = decoded({"/COUNTERS/Ethernet4": port})
    assert samples(found) == {
        ("fabric_interface_receive_bytes_total", "Ethernet4"): 7.0,
        ("fabric_pfc_receive_frames_total", "Ethernet4", "3"): 5.0,
        ("fabric_queue_transmit_bytes_total", "Ethernet4", "3"): 9.0,
    }
    assert dict(found.unmapped) == {"/COUNTERS/Ethernet4": 1}


def test_a_path_element_with_a_colon_keeps_it() -> None:
    found = decoded({"/COUNTERS/Ethernet4/Queues/Ethernet4:3/SAI_QUEUE_STAT_BYTES": "9"})
    assert samples(found) == {("fabric_queue_transmit_bytes_total", "Ethernet4", "3"): 9.0}


def test_labels_of_elements_and_of_sibling_leaves_meet() -> None:
    entry = {"present": "1", "lldp_rem_sys_name": "pod1-spine1", "lldp_rem_port_id": "Ethernet8"}
    found = decoded({"/LLDP_ENTRY_TABLE/Ethernet4": entry})
    assert samples(found) == {("fabric_lldp_neighbor_info", "Ethernet4", "pod1-spine1", "Ethernet8"): 1.0}


def test_the_twin_writes_what_the_collector_reads() -> None:
    series = [
        ("fabric_interface_receive_bytes_total", {"interface": "Ethernet4"}),
        ("fabric_pfc_receive_frames_total", {"interface": "Ethernet4", "priority": "3"}),
        ("fabric_queue_transmit_bytes_total", {"interface": "Ethernet4", "queue": "3"}),
    ]
    encoder = Encoder(SONIC, lambda name, pattern, labels: labels["interface"] if name == "*:{queue}" else None)
    encoded = encoder.encode(series, np.array([7.0, 5.0, 9.0]))
    paths = [to_text_elements(leaf.path) for leaf in encoded.leaves]
    assert paths == [
        "/COUNTERS/Ethernet4/SAI_PORT_STAT_IF_IN_OCTETS",
        "/COUNTERS/Ethernet4/SAI_PORT_STAT_PFC_3_RX_PKTS",
        "/COUNTERS/Ethernet4/Queues/Ethernet4:3/SAI_QUEUE_STAT_BYTES",
    ]
    found = decoded({path: str(value) for path, value in zip(paths, encoded.values, strict=True)})
    assert list(samples(found).values()) == [7.0, 5.0, 9.0]


def test_a_deleted_interface_takes_its_series_along() -> None:
    decoder = NotificationDecoder(PathMap(SONIC))
    notification = messages.Notification(timestamp=1)
    value = messages.TypedValue(uint_val=1)
    notification.update.add(path=to_proto("/COUNTERS/Ethernet4/SAI_PORT_STAT_IF_IN_OCTETS"), val=value)
    decoder.decode(notification)
    (gone,) = decoder.forget(elements("/COUNTERS/Ethernet4"))
    assert dict(gone.labels) == {"interface": "Ethernet4"}


def test_a_priority_in_a_name_is_a_number() -> None:
    """Frames that ended a pause are another counter, not frames of a priority `3_ON2OFF`."""
    found = decoded({"/COUNTERS/Ethernet4/SAI_PORT_STAT_PFC_3_ON2OFF_RX_PKTS": "7"})
    assert samples(found) == {}
    assert found.unmapped
