"""The twin encodes what the collector decodes: one telemetry map, two directions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial

import pytest
from pygnmi.spec.v080 import gnmi_pb2

from railfab.gnmi import paths, values
from railfab.gnmi.bundles import proto_path
from railfab.gnmi.target import Leaves
from railfab.metrics import Kind, metric
from railfab.platforms import TelemetryRule, platform
from railfab.telemetry.decode import Decoder
from railfab.telemetry.mapping import PathMap
from railfab.twin.encoder import Encoder
from railfab.twin.native import native

SRLINUX = platform("srlinux")
LABELS = {
    "interface": "ethernet-1/1/1",
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


def encoder(leaves: Leaves) -> Encoder:
    return Encoder(SRLINUX.telemetry, partial(native("srlinux", "leaf1").wildcard, "leaf1"), leaves)


def encoded(samples: Iterable[Sample]) -> dict[str, object]:
    leaves = Leaves()
    encoder(leaves).write(samples)
    return {leaf.path: leaf.value for leaf in leaves.select(())}


def decoded(samples: Iterable[Sample], encoding: int) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """What the collector makes of the leaves that the samples become."""
    leaves = Leaves()
    encoder(leaves).write(samples)
    notification = gnmi_pb2.Notification(timestamp=1)
    for leaf in leaves.select(()):
        notification.update.add(path=proto_path(leaf.steps), val=values.encode(leaf.value, encoding))
    found = Decoder(PathMap(SRLINUX.telemetry)).decode(notification)
    assert not found.unmapped
    assert not found.undecodable
    return {(series.metric.name, series.labels): value for series, value in found.samples}


def sample_of(rule: TelemetryRule, **labels: str) -> Sample:
    """A sample that the rule carries."""
    names = metric(rule.metric).labels[1:]
    value = 1.0 if rule.states is not None or metric(rule.metric).kind is Kind.INFO else 1234.0
    if rule.states is not None and value not in rule.states.values():
        value = max(rule.states.values())
    return Sample(rule.metric, {name: {**LABELS, **rule.labels, **labels}[name] for name in names}, value)


def lost(rule: TelemetryRule, sample: Sample) -> Sample:
    """The sample without the labels that the rule's path has no place for."""
    places = [rule.path, *(rule.from_leaf or {}).values()]
    carried = {name for name in sample.labels if name in rule.labels or any(f"{{{name}}}" in text for text in places)}
    return replace(sample, labels={name: value for name, value in sample.labels.items() if name in carried})


@pytest.mark.parametrize("encoding", [values.JSON_IETF, values.PROTO])
@pytest.mark.parametrize("rule", SRLINUX.telemetry.rules, ids=lambda rule: f"{rule.metric} {rule.path[-40:]}")
def test_the_collector_reads_back_what_the_twin_wrote(rule: TelemetryRule, encoding: int) -> None:
    numbered = rule.path.find("peer-address={peer}") >= 0
    sample = sample_of(rule, peer="10.0.0.1") if numbered else sample_of(rule)
    expected = lost(rule, sample)
    found = decoded([sample], encoding)
    assert found[expected.metric, tuple(expected.labels.items())] == sample.value


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
    leaves = Leaves()
    writer = encoder(leaves)
    up = [Sample("fabric_interface_oper_up", {"interface": name}, 1.0) for name in ("e1", "e2")]
    writer.write(up)
    before = leaves.generation
    writer.write(up[:1])
    assert [leaf.path for leaf in leaves.select(())] == ["/interface[name=e1]/oper-state"]
    assert leaves.generation > before
    writer.write(up)
    assert {leaf.path: leaf.value for leaf in leaves.select(())} == {
        "/interface[name=e1]/oper-state": "up",
        "/interface[name=e2]/oper-state": "up",
    }


def test_a_metric_that_the_platform_has_no_path_for_is_left_out() -> None:
    assert encoded([Sample("fabric_pfc_receive_pause_seconds_total", {"interface": "e1", "priority": "3"}, 1.0)]) == {}


def test_unnumbered_peers_are_keyed_by_a_link_local_address_in_the_ports_zone() -> None:
    (path,) = encoded([Sample("fabric_bgp_session_up", {"peer": "ethernet-1/9"}, 1.0)])
    key = dict(paths.elements(path)[3].keys)["peer-address"]
    address, _, zone = key.partition("%")
    assert address.startswith("fe80:")
    assert zone == "ethernet-1/9.0"
