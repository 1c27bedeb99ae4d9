"""Bytes like those that targets send, and what is wrong with some of them."""

from __future__ import annotations

import random
from collections.abc import Sequence

from tests.telemetry.receive.peers import HELLO, answer, trailers

from railfab.gnmi import messages
from railfab.gnmi.paths import to_proto
from railfab.telemetry.receive import frames
from railfab.telemetry.receive.frames import frame

LARGE = (127, 128, 1 << 31, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
"""Numbers that are a length somewhere, and too much, or negative, in one of the types between."""


def varint(number: int) -> bytes:
    parts = bytearray()
    while number > 127:
        parts.append(number & 127 | 128)
        number >>= 7
    return bytes((*parts, number))


def response(draw: random.Random) -> bytes:
    """A SubscribeResponse."""
    if draw.random() < 0.05:
        return messages.SubscribeResponse(sync_response=True).SerializeToString()
    port = f"/interface[name=e{draw.randrange(30)}{'x' * draw.choice((0, 0, 7, 90))}]"
    leaves = ("statistics/in-octets", "statistics/out-octets", "oper-state", "other/leaf", "name")
    paths = [f"/{draw.choice(leaves)}" for _ in range(draw.randrange(6))]
    found = messages.Notification(
        timestamp=draw.choice((0, 1, 1_795_000_000, draw.getrandbits(63), -1)), prefix=to_proto(port)
    )
    for path in paths:
        found.update.append(messages.Update(path=to_proto(path), val=value(draw)))
    if draw.random() < 0.1:
        found.delete.append(to_proto("/statistics"))
    found.atomic = draw.random() < 0.05
    return messages.SubscribeResponse(update=found).SerializeToString()


def value(draw: random.Random) -> messages.TypedValue:
    text = draw.choice(("", "up", "down", "7", "-0", "1e400", "0.5", "9" * 30, "NaN", "x" * 70))
    kinds = (
        {"uint_val": draw.choice((0, 7, (1 << 64) - 1))},
        {"int_val": draw.choice((-1, -(1 << 63)))},
        {"double_val": draw.choice((0.5, 1e308, float("inf"), float("nan"), 5e-324, -0.0))},
        {"float_val": 0.25},
        {"string_val": text},
        {"json_val": text.encode()},
        {"json_ietf_val": f'"{text}"'.encode()},
        {"json_val": b'{"in-octets": "5", "deep": [{"name": "a", "leaf": 1e3}]}'},
        {"decimal_val": messages.Decimal64(digits=draw.choice((0, 1 << 62, -7)), precision=draw.randrange(40))},
        {"bytes_val": b"x"},
        {},
    )
    return messages.TypedValue(**draw.choice(kinds))


def connection(draw: random.Random, contents: Sequence[bytes]) -> bytes:
    """What a server sends on a connection with two streams."""
    parts = [HELLO] * (draw.random() < 0.98) + [answer(1), answer(3)]
    for content in contents:
        whole, stream = frames.message(content), draw.choice((1, 1, 1, 3, 5))
        step, padding = draw.choice((max(len(whole) // 20, 1), 16_000)), draw.choice((0, 0, 1, 255))
        for at in range(0, len(whole), step):
            part = whole[at : at + step]
            padded = bytes((padding,)) + part + bytes(padding)
            parts.append(frame(frames.DATA, frames.PADDED, stream, padded) if padding else frame(0, 0, stream, part))
        if draw.random() < 0.1:
            parts.append(
                frame(draw.choice((2, 3, 4, 6, 8, 250)), 0, draw.choice((0, 1, 3)), bytes(draw.choice((4, 8))))
            )
    return b"".join((*parts, trailers(draw.choice((1, 3)), 0)))


def damaged(draw: random.Random, content: bytes) -> bytes:
    """The same with a few faults, most near the end: other bytes, missing or doubled ones, lengths that are wrong."""
    broken = bytearray(content)
    for _ in range(draw.choice((0, 1, 1, 2, 5))):
        size = len(broken)
        at = max(size - draw.randrange(1, 40), 0) if draw.random() < 0.6 else draw.randrange(size + 1)
        fault = draw.randrange(6)
        if fault == 0:
            broken[at : at + 1] = bytes((draw.randrange(256),))
        elif fault == 1:
            del broken[at : at + draw.choice((1, 2, 9))]
        elif fault == 2:
            broken[at:at] = broken[at : at + draw.randrange(1, 20)]
        elif fault == 3:
            broken[at : at + 1] = varint(draw.choice(LARGE) + draw.randrange(-3, 3) & (1 << 64) - 1)
        elif fault == 4:
            broken[at : at + 1] = bytes(byte + draw.choice((-1, 1, 2, 8)) & 255 for byte in broken[at : at + 1])
        else:
            del broken[at:]
    return bytes(broken)
