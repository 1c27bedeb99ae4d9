"""Readers of bytes from outside, on valid bytes and damaged ones; `make fuzz-guided` looks for others."""

from __future__ import annotations

import random

import pytest
from tests.telemetry.fuzz import inputs
from tests.telemetry.fuzz.readers import READERS, seeds

DAMAGED = 300


@pytest.mark.parametrize("reader", READERS)
def test_valid_and_damaged_bytes_are_read_or_refused(reader: str) -> None:
    draw, valid = random.Random(reader), [*seeds(reader)]
    for seed in valid:
        READERS[reader](seed)
    for _ in range(DAMAGED):
        READERS[reader](inputs.damaged(draw, draw.choice(valid)))


@pytest.mark.parametrize(
    ("reader", "found"),
    [
        ("tap", bytes(11) + b"\1\1\0\xff"),
        ("hosts", b"lea\t\tf0: {h.2.1: 1}"),
        ("discovery", b'[{"targets": ["9\x7f:85593"]}]'),
    ],
)
def test_what_guided_fuzzing_found_is_refused_with_one_line(reader: str, found: bytes) -> None:
    READERS[reader](found)
