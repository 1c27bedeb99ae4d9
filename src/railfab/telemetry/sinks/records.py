"""Samples as JSON lines, for Kafka and NATS.

A message holds samples of one device, one a line, in the order of their times for each series:

    {"metric":"fabric_interface_oper_up","labels":{"device":"leaf1","fabric":"pod64","interface":"ethernet-1/1"},"value":1.0,"at_ms":1764000000000}
    {"metric":"fabric_interface_oper_up","labels":{"device":"leaf1","fabric":"pod64","interface":"ethernet-1/2"},"value":null,"at_ms":1764000000000}

metric and labels: as in the catalogue (railfab.metrics). at_ms: Unix time [ms]. value: a number; "NaN", "+Inf" or
"-Inf", for which JSON has no number; null where the series has ended.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from railfab.metrics import Metric
from railfab.telemetry.sinks.contract import Labels, SampleBatch
from railfab.telemetry.sinks.due import STALE_BITS, DueSamples
from railfab.telemetry.sinks.outbox import Parcel

MOST_BYTES = 256 * 1024
"""Of a message; brokers take 1 MB unless they are configured otherwise."""
NOT_JSON = {"nan": b'"NaN"', "inf": b'"+Inf"', "-inf": b'"-Inf"'}


def series_record(metric: Metric, labels: Labels) -> tuple[str, bytes]:
    """The device of a series, and its lines up to the value."""
    text = json.dumps({"metric": metric.name, "labels": dict(labels)}, separators=(",", ":"), ensure_ascii=False)
    return dict(labels).get("device", ""), f'{text[:-1]},"value":'.encode(errors="replace")


class RecordEncoder:
    """Batches as messages of one device each, of at most most_bytes."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._due = DueSamples(series_record)
        self._most_bytes = most_bytes

    def __call__(self, batch: SampleBatch) -> Iterator[Parcel]:
        due = self._due.take(batch)
        ended = due.values.view(np.uint64) == STALE_BITS
        lines: dict[str, list[bytes]] = {}
        columns = (due.series, due.values.tolist(), ended.tolist(), due.at_ms.tolist())
        for (device, head), value, is_end, at_ms in zip(*columns, strict=True):
            line = b'%b%b,"at_ms":%d}\n' % (head, b"null" if is_end else _number(value), at_ms)
            lines.setdefault(device, []).append(line)
        for device, found in lines.items():
            yield from self._parcels(device, found)

    def _parcels(self, device: str, lines: list[bytes]) -> Iterator[Parcel]:
        first, size = 0, 0
        for place, line in enumerate(lines):
            if size and size + len(line) > self._most_bytes:
                yield Parcel(b"".join(lines[first:place]), place - first, device)
                first, size = place, 0
            size += len(line)
        yield Parcel(b"".join(lines[first:]), len(lines) - first, device)


def _number(value: float) -> bytes:
    text = repr(value)
    return NOT_JSON[text] if text in NOT_JSON else text.encode()
