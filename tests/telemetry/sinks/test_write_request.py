"""The body of a remote write request is what protobuf's own library reads and writes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.telemetry.sinks.samples import BYTES, NOW_MS, WriteRequest

from railfab.telemetry.sinks.due import STALE_BITS
from railfab.telemetry.sinks.write_request import series_head, write_request

Name = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,8}", fullmatch=True).filter(lambda name: name != "__name__")
Text = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
Labelled = st.dictionaries(Name, Text, max_size=4)


@settings(max_examples=examples(30))
@given(st.lists(st.tuples(Labelled, st.integers(0, 2**64 - 1), st.integers(0, 2**42 - 1)), max_size=4))
def test_the_library_reads_what_was_written(samples: list[tuple[dict[str, str], int, int]]) -> None:
    heads = [series_head(BYTES, tuple(sorted(found.items()))) for found, _, _ in samples]
    bits = np.array([value for _, value, _ in samples], np.uint64)
    times = np.array([at_ms for _, _, at_ms in samples], np.int64)
    read = WriteRequest.FromString(write_request(heads, bits.view(np.float64), times))
    assert len(read.timeseries) == len(samples)
    for series, (labelled, value, at_ms) in zip(read.timeseries, samples, strict=True):
        full = {"__name__": BYTES.name, **{name: text for name, text in labelled.items() if text}}
        assert [(label.name, label.value) for label in series.labels] == sorted(full.items())
        (sample,) = series.samples
        assert sample.timestamp == at_ms
        assert np.float64(sample.value).view(np.uint64) == value or np.isnan(sample.value)


def test_the_bytes_are_those_of_the_library() -> None:
    request = WriteRequest()
    series = request.timeseries.add()
    for name, value in (("__name__", BYTES.name), ("device", "leaf1")):
        series.labels.add(name=name, value=value)
    series.samples.add(value=12.5, timestamp=NOW_MS)
    heads = [series_head(BYTES, (("device", "leaf1"), ("rail", "")))]
    assert write_request(heads, np.array([12.5]), np.array([NOW_MS])) == request.SerializeToString()


def test_a_stale_marker_keeps_its_bits() -> None:
    value = np.array([STALE_BITS], np.uint64).view(np.float64)
    body = write_request([series_head(BYTES, ())], value, np.array([NOW_MS]))
    assert (0x7FF0000000000002).to_bytes(8, "little") in body
