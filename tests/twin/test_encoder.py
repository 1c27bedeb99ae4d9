"""The twin encodes what the collector decodes: one telemetry map, two directions."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import pytest

from railfab.gnmi import messages, paths, values
from railfab.gnmi.bundles import proto_path
from railfab.metrics import Kind, metric
from railfab.platforms import TelemetryRule, platform
from railfab.platforms.srlinux.twin import wildcard
from railfab.telemetry.mapping import PathMap
from railfab.telemetry.notification import NotificationDecoder
from railfab.twin.encoder import Encoded, Encoder

SRLINUX = platform("srlinux")
LABELS = {
    "interface": "ethernet-1/1/1",
    "lane": "1",
    "queue": "roce",
    "priority": "3",
    "priority_group": "pfc-roce",
    "peer": "ethernet-1/9",
    "peer_device": "pod1-spine1",
    "peer_interface": "ethernet-1/3",
    "cast": "unicast",
    "afi_safi": "ipv4-unicast",
    "direction": "received",
}


@dataclass(frozen=True)
class Sample:
    metric: str
    labels: Mapping[str, str]
    value: float


def encoder() -> Encoder:
    return Encoder(SRLINUX.telemetry, partial(wildcard, "leaf1"))


def encode(writer: Encoder, samples: Sequence[Sample]) -> Encoded:
    series = [(sample.metric, sample.labels) for sample in samples]
    return writer.encode(series, np.array([sample.value for sample in samples]))


def values_of(found: Encoded) -> dict[str, object]:
    """Values by the text of their paths."""
    return {paths.to_text_elements(leaf.path): value for leaf, value in zip(*found, strict=True)}


def encoded(samples: Sequence[Sample]) -> dict[str, object]:
    return values_of(encode(encoder(), samples))


def decoded(samples: Sequence[Sample], encoding: int) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """What the collector makes of the leaves that the samples become."""
    notification = messages.Notification(timestamp=1)
    for leaf, value in zip(*encode(encoder(), samples), strict=True):
        notification.update.add(path=proto_path(leaf.path), val=values.encode(value, encoding))
    found = NotificationDecoder(PathMap(SRLINUX.telemetry)).decode(notification)
    assert not found.unmapped
    assert not found.undecodable
    return {(series.metric.name, series.labels): value for series, value in found.samples}


def sample_of(rule: TelemetryRule, **labels: str) -> Sample:
    """A sample that the rule carries."""
    names = [name for name in metric(rule.metric).labels if name not in ("fabric", "device")]
    value = 1.0 if rule.states is not None or metric(rule.metric).kind is Kind.INFO else 1234.0 * max(rule.scale, 1)
    if rule.states is not None and value not in rule.states.values():
        value = max(rule.states.values())
    known = {**LABELS, **rule.labels, **labels}
    if "[name=lag{interface:lag}]" in rule.path:
        known["interface"] = "lag1"
    return Sample(rule.metric, {name: known[name] for name in names}, value)


def lost(rule: TelemetryRule, sample: Sample) -> Sample:
    """The sample without the labels that the rule's path has no place for."""
    places = [rule.path, *(rule.from_leaf or {}).values()]
    stated = {name for text in places for name in re.findall(r"\{(\w+)", text)}
    carried = stated | rule.labels.keys()
    return replace(sample, labels={name: value for name, value in sample.labels.items() if name in carried})


@pytest.mark.parametrize("encoding", [values.JSON_IETF, values.PROTO])
def test_the_collector_reads_back_what_the_twin_wrote(encoding: int) -> None:
    for rule in SRLINUX.telemetry.rules:
        numbered = rule.path.find("peer-address={peer}") >= 0
        sample = sample_of(rule, peer="10.0.0.1") if numbered else sample_of(rule)
        expected = lost(rule, sample)
        read = decoded([sample], encoding)
        assert read.get((expected.metric, tuple(expected.labels.items()))) == sample.value, rule.path


def test_64_bit_counters_travel_as_strings_and_keep_every_digit() -> None:
    octets = Sample("fabric_interface_receive_bytes_total", {"interface": "e1"}, float(2**52 + 1))
    ((path, value),) = encoded([octets]).items()
    assert path == "/interface[name=e1]/statistics/in-octets"
    assert values.decode(values.encode(value, values.JSON_IETF)) == str(2**52 + 1)


def test_samples_that_differ_only_in_a_lost_label_are_added() -> None:
    drops = [
        Sample("fabric_pfc_dropped_packets_total", {"interface": "e1", "priority": priority}, count)
        for priority, count in (("3", 40.0), ("4", 2.0))
    ]
    assert encoded(drops) == {"/qos/interfaces/interface[interface-id=e1]/pfc/statistics/total-packet-pfc-discards": 42}


@pytest.mark.parametrize("order", [1, -1])
def test_the_state_that_tells_more_counts(order: int) -> None:
    peer = {"peer": "10.0.0.1"}
    samples = [Sample("fabric_bgp_session_up", peer, 0.0), Sample("fabric_bgp_session_state", peer, 3.0)]
    assert list(encoded(samples[::order]).values()) == ["active"]


def test_a_state_without_a_finer_one_is_still_told() -> None:
    assert list(encoded([Sample("fabric_bgp_session_up", {"peer": "10.0.0.1"}, 1.0)]).values()) == ["established"]


def test_a_leaf_that_no_sample_feeds_any_more_is_gone_and_comes_back() -> None:
    writer = encoder()
    up = [Sample("fabric_interface_oper_up", {"interface": name}, 1.0) for name in ("e1", "e2")]
    both = encode(writer, up)
    one = encode(writer, up[:1])
    assert values_of(one) == {"/interface[name=e1]/oper-state": "up"}
    again = encode(writer, up)
    assert values_of(again) == {"/interface[name=e1]/oper-state": "up", "/interface[name=e2]/oper-state": "up"}
    assert len({id(found.leaves) for found in (both, one, again)}) == 3


def test_new_values_keep_the_leaves_and_leave_published_values_as_they_are() -> None:
    writer = encoder()
    drops = [Sample("fabric_pfc_dropped_packets_total", {"interface": "e1", "priority": p}, 1.0) for p in "34"]
    up = Sample("fabric_interface_oper_up", {"interface": "e1"}, 1.0)
    first = encode(writer, [*drops, up])
    second = encode(writer, [drops[0], replace(drops[1], value=9.0), up])
    assert second.leaves is first.leaves
    assert (first.values, second.values) == ([2, "up"], [10, "up"])


def test_a_metric_that_the_platform_has_no_path_for_is_left_out() -> None:
    assert encoded([Sample("fabric_pfc_receive_pause_seconds_total", {"interface": "e1", "priority": "3"}, 1.0)]) == {}


def test_unnumbered_peers_are_keyed_by_a_link_local_address_in_the_ports_zone() -> None:
    (path,) = encoded([Sample("fabric_bgp_session_up", {"peer": "ethernet-1/9"}, 1.0)])
    key = dict(paths.elements(path)[3].keys)["peer-address"]
    address, _, zone = key.partition("%")
    assert address.startswith("fe80:")
    assert zone == "ethernet-1/9.0"
