"""The collector's own metrics of its sinks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from railfab.telemetry.sinks.contract import Sink

PREFIX = "fabric_collector_sink"


def sink_samples(sinks: Iterable[Sink]) -> Iterator[tuple[str, dict[str, str], float]]:
    """Metric of the catalogue, labels and value; every sink has all of them from the start, except for reasons."""
    for outbox in (sink.outbox for sink in sinks):
        labels, counts = {"sink": outbox.name}, outbox.counts
        yield f"{PREFIX}_sent_samples_total", labels, float(counts.sent)
        yield f"{PREFIX}_dropped_samples_total", labels, float(counts.dropped)
        yield f"{PREFIX}_retries_total", labels, float(counts.retries)
        yield f"{PREFIX}_queue_bytes", labels, float(outbox.queue_bytes)
        yield f"{PREFIX}_last_success_timestamp_seconds", labels, counts.last_success_s
        for reason, failed in sorted(dict(counts.failed).items()):
            yield f"{PREFIX}_failed_samples_total", {**labels, "reason": reason}, float(failed)
