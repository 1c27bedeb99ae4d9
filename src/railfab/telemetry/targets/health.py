"""The collector's own metrics of where it knows its targets from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from railfab.telemetry.targets.loader import Loader

PREFIX = "fabric_collector_discovery"


def loader_samples(loaders: Iterable[Loader]) -> Iterator[tuple[str, dict[str, str], float]]:
    """Metric of the catalogue, labels and value; every source has all of them from the start, except for reasons."""
    for loader in loaders:
        labels, health = {"source": loader.source.name}, loader.health
        yield f"{PREFIX}_targets", labels, float(health.targets)
        yield f"{PREFIX}_polls_total", labels, float(health.polls)
        yield f"{PREFIX}_last_success_timestamp_seconds", labels, health.last_success_s
        for reason, failures in sorted(dict(health.failures).items()):
            yield f"{PREFIX}_failures_total", {**labels, "reason": reason}, float(failures)
