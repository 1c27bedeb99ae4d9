"""JSON lines for Kafka and NATS: one device a message, and values that JSON has no number for."""

from __future__ import annotations

import json

from tests.telemetry.sinks.samples import BYTES, NOW_MS, batch

from railfab.telemetry.sinks.records import RecordEncoder


def test_a_message_holds_the_samples_of_one_device() -> None:
    first, second = RecordEncoder()(batch({1: (12.5, NOW_MS - 1), 2: (3.0, NOW_MS), 3: (1e16, NOW_MS)}))
    assert (first.device, first.samples, second.device, second.samples) == ("leaf2", 2, "leaf1", 1)
    assert first.body.splitlines()[0] == (
        b'{"metric":"fabric_interface_receive_bytes_total",'
        b'"labels":{"device":"leaf2","interface":"ethernet-1/1"},"value":12.5,"at_ms":1764000000000}'
    )
    assert [json.loads(line)["value"] for line in first.body.splitlines()] == [12.5, 1e16]


def test_what_is_no_number_in_json_is_a_text_and_an_ended_series_is_null() -> None:
    encode = RecordEncoder()
    values = {0: float("nan"), 2: float("inf"), 4: float("-inf")}
    (parcel,) = encode(batch({number: (value, NOW_MS) for number, value in values.items()}))
    assert [json.loads(line)["value"] for line in parcel.body.splitlines()] == ["NaN", "+Inf", "-Inf"]
    (parcel,) = encode(batch([], gone=[0], now_ms=NOW_MS + 5))
    assert json.loads(parcel.body) == {
        "metric": "fabric_interface_receive_bytes_total",
        "labels": {"device": "leaf1", "interface": "ethernet-1/0"},
        "value": None,
        "at_ms": NOW_MS + 5,
    }


def test_messages_are_bounded_and_end_with_a_line() -> None:
    parcels = list(RecordEncoder(most_bytes=1_000)(batch(range(0, 40, 2))))
    assert len(parcels) > 1
    assert all(len(parcel.body) <= 1_000 for parcel in parcels)
    lines = [json.loads(line) for parcel in parcels for line in parcel.body.splitlines()]
    assert [line["value"] for line in lines] == list(range(0, 40, 2))
    assert sum(parcel.samples for parcel in parcels) == 20


def test_a_label_with_quotes_and_letters_is_json_and_a_metric_without_device_is_sent_too() -> None:
    (parcel,) = RecordEncoder()(batch([1], describe=lambda _: (BYTES, (("name", 'a"b\n\u00e9'),))))
    assert parcel.device == ""
    assert json.loads(parcel.body)["labels"] == {"name": 'a"b\n\u00e9'}
