"""Sizes in jobs: decimal units are powers of ten, binary ones of two."""

import pytest

from railfab.intent import Collective


@pytest.mark.parametrize(
    ("written", "size"),
    [
        (1, 1),
        ("1kB", 1_000),
        ("2.5 MB", 2_500_000),
        ("3GB", 3_000_000_000),
        ("1KiB", 1_024),
        ("64MiB", 67_108_864),
        ("1GiB", 1_073_741_824),
    ],
)
def test_a_size_is_converted_to_bytes(written: object, size: int) -> None:
    assert Collective.model_validate({"op": "allreduce", "bytes": written}).bytes == size
