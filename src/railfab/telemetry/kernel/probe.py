"""Hash tables of bytes with open addressing; equality is of the bytes, never of the hash alone."""

from __future__ import annotations

from typing import Any

from railfab.telemetry.kernel.columns import Array
from railfab.telemetry.kernel.jit import inlined, load64
from railfab.telemetry.kernel.wire import LOW_63

LOW_32 = 0xFFFFFFFF
_FACTOR = 0x1F3D5B79A4C6E8D3
"""An odd number: multiplying by it modulo 2**63 loses nothing."""


@inlined
def mixed(seed: int, buffer: Array, at: int, end: int) -> Any:
    """A hash of bytes, eight at a time, that goes on from a seed; 0 to 2**63 - 1."""
    result = seed
    while end - at >= 8:
        result = ((result ^ load64(buffer, at)) * _FACTOR) & LOW_63
        result ^= result >> 32
        at += 8
    while at < end:
        result = ((result ^ buffer[at]) * _FACTOR) & LOW_63
        at += 1
    return result ^ (result >> 29)


@inlined
def path_hash(buffer: Array, prefix: int, prefix_end: int, path: int, path_end: int) -> Any:
    """The hash of a prefix and a path, 0 to 2**32 - 1."""
    return mixed(mixed(prefix_end - prefix, buffer, prefix, prefix_end), buffer, path, path_end) & LOW_32


@inlined
def equal(a: Array, at: int, b: Array, start: int, size: int) -> Any:
    """Whether two ranges of this size hold the same bytes."""
    done = 0
    while size - done >= 8:
        if load64(a, at + done) != load64(b, start + done):
            return False
        done += 8
    while done < size:
        if a[at + done] != b[start + done]:
            return False
        done += 1
    return True
