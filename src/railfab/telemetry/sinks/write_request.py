"""The body of a Prometheus remote write request, in protobuf's wire format.

    WriteRequest { repeated TimeSeries timeseries = 1; repeated MetricMetadata metadata = 3; }
    TimeSeries { repeated Label labels = 1; repeated Sample samples = 2; }
    Label { string name = 1; string value = 2; }
    Sample { double value = 1; int64 timestamp = 2; }
    MetricMetadata { MetricType type = 1; string metric_family_name = 2; string help = 4; string unit = 5; }

Source: Prometheus Remote-Write 1.0 specification, "Protocol", and for metadata, which it leaves out as experimental,
Prometheus' prompb/types.proto. Labels are encoded once for each series, and all samples
of a request at a time: messages of a protobuf library cost an object for each sample and label.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from railfab.metrics import Kind, Metric
from railfab.telemetry.sinks.contract import Labels

TIME_BYTES = 6
"""Bytes of a time as varint; fewer are padded, as any decoder takes it. 42 bits of milliseconds last until 2109."""
SAMPLE = b"\x12\x10\x09" + bytes(8) + b"\x10" + bytes(TIME_BYTES)
"""A Sample in its TimeSeries: tag, length 16, double value, int64 timestamp."""
VALUE_AT, TIME_AT = 3, 12
KINDS = {Kind.COUNTER: 1, Kind.GAUGE: 2, Kind.HISTOGRAM: 3, Kind.INFO: 6}
"""MetricType of a metric's kind."""


def series_head(metric: Metric, labels: Labels) -> bytes:
    """A TimeSeries up to its one sample: tag, length, and labels sorted by name; empty ones are left out."""
    named = sorted((("__name__", metric.name), *((name, value) for name, value in labels if value)))
    body = b"".join([_label(name, value) for name, value in named])
    return b"\x0a" + _varint(len(body) + len(SAMPLE)) + body


def metadata_request(metrics: Iterable[Metric]) -> bytes:
    """The WriteRequest that says kind, unit and help of metrics; the name is the full one, as Prometheus sends it."""
    return b"".join(_field(_metadata(metric), 3) for metric in metrics)


def _metadata(metric: Metric) -> bytes:
    kind = b"\x08" + _varint(KINDS[metric.kind])
    return kind + _text(metric.name, 2) + _text(metric.help, 4) + (_text(metric.unit, 5) if metric.unit else b"")


def write_request(heads: Sequence[bytes], values: NDArray[np.float64], at_ms: NDArray[np.int64]) -> bytes:
    """The WriteRequest of one sample for each series; at_ms from 0 to 2**42."""
    samples = np.empty((len(heads), len(SAMPLE)), np.uint8)
    samples[:] = np.frombuffer(SAMPLE, np.uint8)
    samples[:, VALUE_AT : VALUE_AT + 8] = values.astype("<f8", copy=False).view(np.uint8).reshape(-1, 8)
    for place in range(TIME_BYTES):
        more = 0x80 if place < TIME_BYTES - 1 else 0
        samples[:, TIME_AT + place] = (at_ms >> 7 * place) & 0x7F | more
    parts: list[bytes] = [b""] * (2 * len(heads))
    parts[::2] = heads
    parts[1::2] = samples.view(f"V{len(SAMPLE)}").ravel().tolist()
    return b"".join(parts)


@lru_cache(16_384)
def _label(name: str, value: str) -> bytes:
    """A Label in its TimeSeries; devices, interfaces and metrics have many series."""
    return _field(_text(name, 1) + _text(value, 2), 1)


def _text(text: str, number: int) -> bytes:
    return _field(text.encode(errors="replace"), number)


def _field(body: bytes, number: int) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(body)) + body


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)
