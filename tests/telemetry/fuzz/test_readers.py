"""Readers of bytes from outside, on valid bytes and damaged ones; `make fuzz-guided` looks for others."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from tests.telemetry.fuzz import inputs
from tests.telemetry.fuzz.readers import READERS, seeds

DAMAGED = 300


@pytest.mark.parametrize("reader", READERS)
def test_valid_bytes_are_read_and_damaged_ones_are_read_or_refused(reader: str, tmp_path: Path) -> None:
    draw, valid, read = random.Random(reader), [*seeds(reader)], READERS[reader]
    assert reader == "receive" or [said for seed in valid for said in read(seed, tmp_path)] == []
    refused = [said for _ in range(DAMAGED) for said in read(inputs.damaged(draw, draw.choice(valid)), tmp_path)]
    assert refused


@pytest.mark.parametrize(
    ("reader", "found", "said"),
    [
        ("tap", bytes(11) + b"\1\1\0\xff", "the name of a target is not text"),
        ("hosts", b"lea\t\tf0: {h.2.1: 1}", r"lea\t\tf0: unknown key 'h.2.1'"),
        ("discovery", b'[{"targets": ["9\x7f:85593"]}]', r"9\x7f:85593: gnmi_port 85593 is not a port number"),
    ],
)
def test_what_guided_fuzzing_found_is_refused_with_readable_lines(
    reader: str, found: bytes, said: str, tmp_path: Path
) -> None:
    assert said in READERS[reader](found, tmp_path)[0]
