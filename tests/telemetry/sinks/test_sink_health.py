"""What the collector exposes of its sinks is what the catalogue says."""

from __future__ import annotations

from railfab.metrics import CATALOGUE
from railfab.telemetry.sinks.health import sink_samples
from railfab.telemetry.sinks.outbox import Outbox, Parcel


class Idle:
    """A sink that nothing was emitted to."""

    def __init__(self) -> None:
        self.outbox = Outbox("remote_write", 1_000)


def test_every_metric_of_a_sink_is_exposed_with_the_labels_of_the_catalogue() -> None:
    sink = Idle()
    for parcel in (Parcel(b"a", 3), Parcel(b"b", 4), Parcel(b"c", 5)):
        sink.outbox.put(parcel)
    sink.outbox.settle(sink.outbox.take(), "http_400")
    sink.outbox.settle(sink.outbox.take())
    sink.outbox.give_back(sink.outbox.take())
    found = {name.removeprefix("fabric_collector_sink_"): value for name, _, value in sink_samples([sink])}
    assert found.pop("last_success_timestamp_seconds") > 1_700_000_000
    assert found == {
        "sent_samples_total": 4,
        "failed_samples_total": 3,
        "dropped_samples_total": 0,
        "retries_total": 1,
        "queue_bytes": 201,
    }
    for name, labels, _ in sink_samples([sink]):
        assert ("fabric", *labels) == CATALOGUE[name].labels
    assert {name for name in CATALOGUE if "_sink_" in name} == {name for name, _, _ in sink_samples([sink])}
