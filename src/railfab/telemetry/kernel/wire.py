"""Protobuf's wire format: tags, varints, lengths; each is checked against its end.

Source: protobuf.dev, "Encoding". Where a function returns a next position of -1, the bytes are malformed, or written in
a way that no gNMI target writes them; protobuf itself then decides.
"""

from __future__ import annotations

from typing import Any

from railfab.telemetry.kernel.columns import Array
from railfab.telemetry.kernel.jit import inlined

LOW_63 = 0x7FFFFFFFFFFFFFFF


@inlined
def varint(buffer: Array, at: int, end: int) -> Any:
    """The varint at a position as a signed 64-bit integer, and the position behind it."""
    if at >= end:
        return 0, -1
    byte = buffer[at]
    at += 1
    if byte < 128:
        return byte + 0, at
    value = byte & 127
    shift = 7
    while at < end and shift < 63:
        byte = buffer[at]
        at += 1
        value |= (byte & 127) << shift
        if byte < 128:
            return value, at
        shift += 7
    if at >= end or buffer[at] > 1:
        return 0, -1
    if buffer[at] == 1:
        value = value - LOW_63 - 1
    return value, at + 1


@inlined
def length(buffer: Array, at: int, end: int) -> Any:
    """The start and the end of what a length delimits; a start of -1 where it does not fit."""
    size, start = varint(buffer, at, end)
    if start < 0 or size < 0 or size > end - start:
        return -1, -1
    return start, start + size


@inlined
def skipped(buffer: Array, wire: int, at: int, end: int) -> Any:
    """The position behind a field of this wire type."""
    if wire == 0:
        _, at = varint(buffer, at, end)
        return at
    if wire == 2:
        _, at = length(buffer, at, end)
        return at
    if wire == 1:
        return at + 8 if end - at >= 8 else -1
    if wire == 5:
        return at + 4 if end - at >= 4 else -1
    return -1
