"""Notifications as targets really send them: prefixes, subtrees, leaf-lists, odd time stamps, deletes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from railfab.gnmi import messages
from railfab.gnmi.paths import to_proto
from railfab.platforms import Confidence, TelemetryMap, TelemetryRule, platform
from railfab.telemetry.mapping import PathMap, compiled
from railfab.telemetry.notification import MOST_LABEL, Decoded, NotificationDecoder, normalised_ns

IN, OUT = "fabric_interface_receive_bytes_total", "fabric_interface_transmit_bytes_total"
STATISTICS = "/interface[name=ethernet-1/1]/statistics"
LLDP = "/system/lldp/interface[name=ethernet-1/1]/neighbor[id=02:00:00:00:00:01]"
NOW_NS = 1_795_000_000_000_000_000


@pytest.fixture
def decoder() -> NotificationDecoder:
    return NotificationDecoder(PathMap(platform("srlinux").telemetry))


def uint(number: int) -> messages.TypedValue:
    return messages.TypedValue(uint_val=number)


def text(value: str) -> messages.TypedValue:
    return messages.TypedValue(string_val=value)


def said(prefix: str = "/", deletes: tuple[str, ...] = (), **fields: object) -> messages.Notification:
    return messages.Notification(
        timestamp=NOW_NS, prefix=to_proto(prefix), delete=[to_proto(path) for path in deletes], **fields
    )


def updates(*pairs: tuple[str, messages.TypedValue]) -> list[messages.Update]:
    return [messages.Update(path=to_proto(path), val=value) for path, value in pairs]


def values(decoded: Decoded) -> dict[str, float]:
    return {series.metric.name: value for series, value in decoded.samples}


def test_the_common_part_of_a_path_may_stand_in_the_prefix(decoder: NotificationDecoder) -> None:
    whole = decoder.decode(said(update=updates((f"{STATISTICS}/in-octets", uint(5)))))
    prefixed = decoder.decode(said("/interface[name=ethernet-1/1]", update=updates(("/statistics/in-octets", uint(5)))))
    named = said(update=updates(("/srl_nokia-interfaces:interface[name=ethernet-1/1]/statistics/in-octets", uint(5))))
    assert whole.samples == prefixed.samples == decoder.decode(named).samples
    assert whole.samples[0][0].labels == (("interface", "ethernet-1/1"),)


def test_a_container_sent_as_json_is_taken_apart(decoder: NotificationDecoder) -> None:
    tree = {
        "srl_nokia-interfaces:interface": [
            {
                "name": "ethernet-1/1",
                "oper-state": "up",
                "statistics": {"in-octets": "18446744073709551615", "out-octets": "7", "news": "1"},
            }
        ]
    }
    value = messages.TypedValue(json_ietf_val=json.dumps(tree).encode())
    decoded = decoder.decode(said(update=[messages.Update(path=to_proto("/"), val=value)]))
    assert values(decoded) == {IN: float(2**64 - 1), OUT: 7.0, "fabric_interface_oper_up": 1.0}
    assert dict(decoded.unmapped) == {"/interface/statistics": 1}


def test_an_identity_in_a_key_may_have_the_prefix_of_its_module(decoder: NotificationDecoder) -> None:
    """As a path and as a leaf of a container; RFC 7951, section 6.8, wants it in JSON_IETF."""
    neighbor = "/network-instance[name=default]/protocols/bgp/neighbor[peer-address=10.0.0.1]"
    paths = [f"{neighbor}/afi-safi[afi-safi-name={name}]" for name in ("ipv4-unicast", "srl_nokia-common:ipv4-unicast")]
    found = [decoder.decode(said(update=updates((f"{path}/received-routes", uint(5))))).samples for path in paths]
    entry = {"afi-safi-name": "srl_nokia-common:ipv4-unicast", "received-routes": 5}
    value = messages.TypedValue(json_ietf_val=json.dumps({"afi-safi": [entry]}).encode())
    found.append(decoder.decode(said(update=[messages.Update(path=to_proto(neighbor), val=value)])).samples)
    assert [[(series.metric.name, number) for series, number in samples] for samples in found] == [
        [("fabric_bgp_prefixes", 5.0)]
    ] * 3
    assert found[0] == found[1] == found[2]


@pytest.mark.parametrize("kind", ["ascii_val", "bytes_val"])
def test_the_encodings_ascii_and_bytes_are_read_as_text(decoder: NotificationDecoder, kind: str) -> None:
    def text(value: str) -> messages.TypedValue:
        return messages.TypedValue(**{kind: value if kind == "ascii_val" else value.encode()})

    pairs = ((f"{STATISTICS}/in-octets", text("18446744073709551615")), ("/interface[name=e1]/oper-state", text("up")))
    decoded = decoder.decode(said(update=updates(*pairs)))
    assert values(decoded) == {IN: float(2**64 - 1), "fabric_interface_oper_up": 1.0}


@pytest.mark.parametrize(
    "broken",
    [
        messages.TypedValue(),
        messages.TypedValue(json_ietf_val=b"{"),
        messages.TypedValue(string_val="many"),
        messages.TypedValue(bytes_val=b"\x00\x01"),
        messages.TypedValue(double_val=float("nan")),
        messages.TypedValue(json_val=b"1" * 400),
        messages.TypedValue(json_val=b'{"a":' * 100_000 + b"1" + b"}" * 100_000),
        messages.TypedValue(json_val=b"null"),
        messages.TypedValue(leaflist_val=messages.ScalarArray(element=[uint(1), uint(2)])),
    ],
    ids=lambda value: value.WhichOneof("value") or "none",
)
def test_a_value_that_cannot_be_read_is_counted_and_costs_no_other(
    decoder: NotificationDecoder, broken: messages.TypedValue
) -> None:
    pairs = ((f"{STATISTICS}/in-octets", broken), (f"{STATISTICS}/out-octets", uint(7)))
    decoded = decoder.decode(said(update=updates(*pairs)))
    assert values(decoded) == {OUT: 7.0}
    assert (decoded.undecodable, decoded.updates) == (1, 2)


@pytest.mark.parametrize("length", [MOST_LABEL, MOST_LABEL + 1, 5_000_000])
def test_a_key_longer_than_a_label_may_be_is_counted_and_not_kept(decoder: NotificationDecoder, length: int) -> None:
    name = "e" * length
    counters = f"/interface[name={name}]/statistics"
    decoded = decoder.decode(said(update=updates((f"{counters}/in-octets", uint(1)), (f"{counters}/carrier", uint(1)))))
    if length == MOST_LABEL:
        assert [dict(series.labels)["interface"] for series, _ in decoded.samples] == [name]
    else:
        assert (decoded.samples, decoded.undecodable, decoded.unmapped) == ([], 2, {})
        assert decoder._by_steps == {}


def test_an_unknown_state_is_counted(decoder: NotificationDecoder) -> None:
    decoded = decoder.decode(said(update=updates(("/interface[name=ethernet-1/1]/oper-state", text("asleep")))))
    assert (decoded.samples, decoded.undecodable) == ([], 1)


def test_a_leaf_list_that_nobody_maps_costs_no_other(decoder: NotificationDecoder) -> None:
    list_ = messages.TypedValue(leaflist_val=messages.ScalarArray(element=[text("a"), text("b")]))
    pairs = (("/interface[name=ethernet-1/1]/tags", list_), (f"{STATISTICS}/out-octets", uint(7)))
    decoded = decoder.decode(said(update=updates(*pairs)))
    assert (values(decoded), dict(decoded.unmapped)) == ({OUT: 7.0}, {"/interface/tags": 1})


def test_a_delete_names_everything_below_it(decoder: NotificationDecoder) -> None:
    ports = ("ethernet-1/1", "ethernet-1/2")
    paths = [f"/interface[name={port}]/statistics/{leaf}" for port in ports for leaf in ("in-octets", "out-octets")]
    learnt = decoder.decode(said(update=updates(*((path, uint(1)) for path in paths))))
    first = {series for series, _ in learnt.samples if dict(series.labels)["interface"] == "ethernet-1/1"}
    assert set(decoder.decode(said(deletes=("/interface[name=ethernet-1/1]",))).removed) == first
    assert len(decoder.decode(said(deletes=("/interface[name=*]/statistics",))).removed) == 4
    assert len(decoder.decode(said(deletes=(paths[0],))).removed) == 1


def test_an_atomic_notification_replaces_what_is_below_its_prefix(decoder: NotificationDecoder) -> None:
    decoder.decode(said(update=updates((f"{STATISTICS}/in-octets", uint(1)), (f"{STATISTICS}/out-octets", uint(1)))))
    decoded = decoder.decode(said(STATISTICS, update=updates(("/in-octets", uint(2))), atomic=True))
    assert {series.metric.name for series in decoded.removed} == {IN, OUT}
    assert values(decoded) == {IN: 2.0}


def test_a_list_entry_is_a_series_once_its_labels_are_known(decoder: NotificationDecoder) -> None:
    half = decoder.decode(said(LLDP, update=updates(("/system-name", text("spine1")))))
    whole = decoder.decode(said(LLDP, update=updates(("/port-id", text("ethernet-1/5")))))
    assert half.samples == []
    assert [dict(series.labels) for series, _ in whole.samples] == [
        {"interface": "ethernet-1/1", "peer_device": "spine1", "peer_interface": "ethernet-1/5"}
    ]
    moved = decoder.decode(said(LLDP, update=updates(("/port-id", text("ethernet-1/6")))))
    assert moved.removed == [series for series, _ in whole.samples]
    gone = decoder.decode(said(deletes=(LLDP,)))
    assert gone.removed == [series for series, _ in moved.samples]
    again = decoder.decode(said(LLDP, update=updates(("/port-id", text("ethernet-1/6")))))
    assert again.samples == []


def test_an_entry_that_loses_a_leaf_loses_its_series(decoder: NotificationDecoder) -> None:
    both = updates(("/port-id", text("ethernet-1/5")), ("/system-name", text("spine1")))
    whole = decoder.decode(said(LLDP, update=both))
    gone = decoder.decode(said(deletes=(f"{LLDP}/port-id",)))
    assert gone.removed == [series for series, _ in whole.samples]
    back = decoder.decode(said(LLDP, update=both[:1]))
    assert back.samples == whole.samples


def test_paths_are_forgotten_beyond_the_bound(decoder: NotificationDecoder) -> None:
    small = NotificationDecoder(PathMap(platform("srlinux").telemetry), cache_paths=4)
    for port in range(20):
        decoded = small.decode(said(update=updates((f"/interface[name=e{port}]/statistics/in-octets", uint(port)))))
        assert values(decoded) == {IN: float(port)}
    assert len(small._by_steps) == 4


@given(st.integers(1_000_000_000, 4_000_000_000), st.sampled_from([1, 1_000, 1_000_000, 1_000_000_000]))
def test_time_stamps_in_other_units_mean_the_same_time(unix_s: int, per_s: int) -> None:
    assert normalised_ns(unix_s * per_s) == unix_s * 1_000_000_000


def test_a_time_stamp_of_zero_is_none() -> None:
    assert normalised_ns(0) is None


def test_a_rule_with_a_label_that_its_metric_lacks_is_a_bug() -> None:
    rule = TelemetryRule(
        path="/interface[name={port}]/x", metric=IN, encoding="uint64", confidence=Confidence.VERIFIED, labels={}
    )
    with pytest.raises(KeyError, match="has no label port"):
        compiled(rule)


@pytest.mark.parametrize(
    ("sent", "unix_s"),
    [
        (text("2026-11-20T10:13:20.5Z"), 1_795_169_600.5),
        (text("1795169600500000000"), 1_795_169_600.5),
        (uint(1_795_169_600_500_000_000), 1_795_169_600.5),
    ],
)
def test_a_time_is_read_from_a_date_and_from_nanoseconds(sent: messages.TypedValue, unix_s: float) -> None:
    """RFC 3339 of YANG's date-and-time, and OpenConfig's timeticks64."""
    rule = TelemetryRule(
        path="/interface[name={interface}]/last-change",
        metric="fabric_interface_last_change_timestamp_seconds",
        encoding="timestamp",
        confidence=Confidence.VERIFIED,
        labels={},
    )
    decoder = NotificationDecoder(PathMap(TelemetryMap(rules=(rule,), subscriptions=())))
    decoded = decoder.decode(said(update=updates(("/interface[name=e1]/last-change", sent))))
    assert values(decoded) == {rule.metric: unix_s}


def test_scale_and_fixed_labels_come_from_the_rule() -> None:
    rule = TelemetryRule(
        path="/optics[id={interface}]/mbps",
        metric="fabric_interface_speed_bytes_per_second",
        encoding="decimal",
        confidence=Confidence.VERIFIED,
        labels={},
        scale=125_000.0,
    )
    decoder = NotificationDecoder(PathMap(TelemetryMap(rules=(rule,), subscriptions=())))
    decoded = decoder.decode(said(update=updates(("/optics[id=swp1]/mbps", text("100000.0")))))
    assert values(decoded) == {"fabric_interface_speed_bytes_per_second": 12_500_000_000.0}


BOOTED_S = 1_790_000_000


@pytest.mark.parametrize(
    ("name", "path", "value"),
    [
        ("cumulus", "/system/processes/process[pid=1]/state/start-time", uint(BOOTED_S)),
        ("eos", "/system/state/boot-time", uint(BOOTED_S * 10**9)),
        ("junos", "/system/state/boot-time", uint(BOOTED_S * 10**9)),
        ("nxos", "/system/state/boot-time", uint(BOOTED_S * 10**9)),
        ("sonic", "/openconfig-system:system/state/boot-time", text(str(BOOTED_S * 10**9))),
        ("srlinux", "/system/information/last-booted", text("2026-09-21T14:13:20.000Z")),
    ],
)
def test_the_boot_time_of_each_platform_is_unix_time(name: str, path: str, value: messages.TypedValue) -> None:
    found = NotificationDecoder(PathMap(platform(name).telemetry)).decode(said(update=updates((path, value))))
    assert values(found) == {"fabric_device_boot_timestamp_seconds": BOOTED_S}
