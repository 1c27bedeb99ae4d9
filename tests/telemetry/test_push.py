"""Batches for sinks: each series with a number of its own, described, and told when it has gone."""

from __future__ import annotations

import time

from tests.telemetry.sinks.samples import eventually

from railfab.telemetry import Collector
from railfab.telemetry.push import Pusher
from railfab.telemetry.sinks.contract import Labels, SampleBatch

PORT = "fabric_interface_receive_bytes_total"


class Kept:
    """Keeps what it is given, described."""

    def __init__(self) -> None:
        self.batches: list[SampleBatch] = []
        self.series: dict[int, tuple[str, Labels]] = {}

    def emit(self, batch: SampleBatch) -> None:
        self.batches.append(batch)
        for number in batch.ids.tolist():
            metric, labels = batch.describe(number)
            assert self.series.setdefault(number, (metric.name, labels)) == (metric.name, labels)


def test_a_batch_is_what_a_scrape_has(running: Collector) -> None:
    sink = Kept()
    eventually(lambda: b"_rate_max{" in running.exposition.render(openmetrics=False))
    Pusher(running.exposition, [sink]).push(time.time_ns())
    [batch] = sink.batches
    assert len(set(batch.ids.tolist())) == len(batch.ids) == len(batch.values) == len(batch.at_ms)
    pushed = {(name, labels) for name, labels in sink.series.values() if not name.endswith("_rate_max")}
    now = running.snapshot()
    assert pushed == {(name, tuple(sorted(labels.items()))) for name, labels, _ in now}
    assert any(name.endswith("_rate_max") for name, _ in sink.series.values())
    assert abs(batch.at_ms - batch.now_ms).max() < 60_000


def test_metrics_that_are_of_no_target_have_the_shard_where_there_are_several(running: Collector) -> None:
    """The same series from two collectors would be out of order for what stores them."""
    sink = Kept()
    Pusher(running.exposition, [sink], shard="1.0").push(time.time_ns())
    others = [(name, dict(labels)) for name, labels in sink.series.values() if "device" not in dict(labels)]
    assert ("fabric_collector_lag_seconds", {"fabric": "pod64", "shard": "1.0"}) in others
    assert all(labels["shard"] == "1.0" for _, labels in others)
    assert not any("shard" in dict(labels) for _, labels in sink.series.values() if "device" in dict(labels))


def test_a_label_of_the_site_is_added_to_all_series_that_have_none_of_that_name(running: Collector) -> None:
    sink, plain = Kept(), Kept()
    Pusher(running.exposition, [plain]).push(time.time_ns())
    Pusher(running.exposition, [sink], labels=(("replica", "a"), ("subscription", "b"))).push(time.time_ns())
    with_labels = {
        (name, tuple(sorted({"replica": "a", "subscription": "b", **dict(labels)}.items())))
        for name, labels in plain.series.values()
    }
    assert set(sink.series.values()) == with_labels
    assert {dict(labels)["subscription"] for _, labels in sink.series.values()} > {"b"}


def test_series_keep_their_numbers_and_those_that_end_are_named(running: Collector) -> None:
    sink, pusher = Kept(), None
    pusher = Pusher(running.exposition, [sink])
    pusher.push(time.time_ns())
    pusher.push(time.time_ns())
    first, second = sink.batches
    assert set(first.ids.tolist()) <= set(second.ids.tolist()) | set(second.gone.tolist())
    for session in running.fleet.sessions:
        session.store.down(session.now_s(), grace=False)
    pusher.push(time.time_ns())
    gone = {sink.series[number][0] for number in sink.batches[-1].gone.tolist()}
    assert PORT in gone
    assert not any(name.startswith("fabric_collector_session") for name in gone)
