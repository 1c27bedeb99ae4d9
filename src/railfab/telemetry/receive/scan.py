"""The compiled part of receiving: HTTP/2 frames to the messages inside, without the bytes of both framings.

One call takes what was read from a connection. The payload of DATA frames is appended to the region of its stream in a
store, and the bounds of all messages that are complete are written. Any other frame is collected whole and returned to
the caller, who calls again. Every length is checked against its end; nothing is allocated here.

Sources: RFC 9113, sections 4.1 and 6.1; gRPC over HTTP2, Length-Prefixed-Message.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from railfab.compiled import Kernel, inlined
from railfab.compiled.interpreted import on_memoryviews
from railfab.compiled.intrinsics import copy, from_start

FRAME_HEADER = 9
MAX_FRAME = 16_384
"""Largest payload of a frame that we accept [bytes], the initial SETTINGS_MAX_FRAME_SIZE."""
MESSAGE_HEADER = 5

AT, HAVE, NEED, LEFT, PADDING, FLAGS, SLOT, DISCARDED, STREAMS = range(9)
"""Layout of the state: place in what was read; bytes in `control`, and how many make it whole; bytes left of a DATA
frame, its padding (-1: its length comes next), flags and stream (-1: none that is open); bytes of DATA for no open
stream; then a row for each stream."""
ID, START, END, FILLED, NEXT, RECEIVED, FIRST, LAST, ROW = range(9)
"""Layout of a row: stream identifier (-1: ended); region in the store; end of what is filled; begin of the first
message that is incomplete; bytes received that count for flow control; bounds of its messages, from and up to."""

DONE, CONTROL, ENDED, SPACE, FRAME_SIZE, PROTOCOL, COMPRESSED, TOO_LARGE = range(8)
"""Results: all was taken; a frame is in `control`; a stream ended by a DATA frame; the region of a stream is full (call
again after making space); a frame larger than MAX_FRAME; DATA without stream or with too much padding; a compressed
message; a message larger than the maximum, in one stream or several. `SLOT` says which stream ended, or is full."""

_DATA, _END_STREAM, _PADDED = 0, 1, 8
_KERNEL = Kernel(Path(__file__), interpreted=on_memoryviews)


@inlined
def _rewind(state: Any, store: Any) -> None:
    """Move the begin of an incomplete message of each stream to the start of its region."""
    for row in range(STREAMS, len(state), ROW):
        start, begin, filled = state[row + START], state[row + NEXT], state[row + FILLED]
        if begin > start:
            copy(store, begin, filled - begin, store, start)
            state[row + NEXT], state[row + FILLED] = start, start + filled - begin


@inlined
def _open_frame(state: Any, control: Any) -> int:
    """Read the header of a frame, which is in `control`; DONE, or what is wrong with it."""
    length = control[0] << 16 | control[1] << 8 | control[2]
    if length > MAX_FRAME:
        return FRAME_SIZE
    if control[3] != _DATA:
        state[NEED] = FRAME_HEADER + length
        return DONE
    stream = (control[5] & 127) << 24 | control[6] << 16 | control[7] << 8 | control[8]
    flags = control[4]
    if stream == 0 or (flags & _PADDED and length == 0):
        return PROTOCOL
    state[HAVE], state[LEFT], state[FLAGS], state[SLOT] = 0, length, flags, -1
    state[PADDING] = -1 if flags & _PADDED else 0
    for row in range(STREAMS, len(state), ROW):
        if state[row + ID] == stream:
            state[SLOT] = (row - STREAMS) // ROW
    return DONE


@inlined
def _take_payload(incoming: Any, end: int, state: Any, store: Any) -> int:
    """Take what there is of the payload of a DATA frame; DONE, SPACE or PROTOCOL."""
    at = state[AT]
    if state[PADDING] < 0:
        state[PADDING], count = incoming[at], 1
        if state[PADDING] >= state[LEFT]:
            return PROTOCOL
        body = 0
    else:
        body = state[LEFT] - state[PADDING]
        count = min(body if body > 0 else state[LEFT], end - at)
    row = STREAMS + state[SLOT] * ROW
    if state[SLOT] < 0:
        state[DISCARDED] += count
    else:
        if body > 0:
            count = min(count, state[row + END] - state[row + FILLED])
            copy(incoming, at, count, store, state[row + FILLED])
            state[row + FILLED] += count
        state[row + RECEIVED] += count
    state[AT] = at + count
    state[LEFT] -= count
    if body <= 0 and state[PADDING] > state[LEFT]:
        state[PADDING] = state[LEFT]
    return DONE if count > 0 else SPACE


@inlined
def _find_messages(state: Any, store: Any, bounds: Any, max_message: int) -> int:
    """Write the bounds of the complete messages of each stream; DONE, COMPRESSED or TOO_LARGE."""
    found, result = 0, DONE
    for row in range(STREAMS, len(state), ROW):
        begin, filled = state[row + NEXT], state[row + FILLED]
        state[row + FIRST] = found
        while filled - begin >= MESSAGE_HEADER:
            length = store[begin + 1] << 24 | store[begin + 2] << 16 | store[begin + 3] << 8 | store[begin + 4]
            if store[begin] or length > max_message:
                result = COMPRESSED if store[begin] or result == COMPRESSED else TOO_LARGE
                break
            if filled - begin - MESSAGE_HEADER < length:
                break
            bounds[2 * found] = begin + MESSAGE_HEADER
            begin += MESSAGE_HEADER + length
            bounds[2 * found + 1] = begin
            found += 1
        state[row + NEXT], state[row + LAST] = begin, found
    return result


@_KERNEL.compiled
def scan(incoming: Any, end: int, control: Any, state: Any, store: Any, bounds: Any, max_message: int) -> int:
    """Take the bytes up to `end` from state[AT] on, as one of the results above says.

    incoming, control, store: uint8; control has space for a frame. state: int64, as above. bounds: int64, start and end
    of each message in the store, one after the other, valid after DONE; it has space for end / 5 + streams messages.
    """
    incoming, control, store = from_start(incoming), from_start(control), from_start(store)
    state, bounds = from_start(state), from_start(bounds)
    if state[AT] == 0:
        _rewind(state, store)
    while state[AT] < end:
        if state[LEFT] > 0:
            result = _take_payload(incoming, end, state, store)
            if result != DONE:
                return result
        else:
            count = min(state[NEED] - state[HAVE], end - state[AT])
            copy(incoming, state[AT], count, control, state[HAVE])
            state[AT] += count
            state[HAVE] += count
            if state[HAVE] < state[NEED]:
                break
            if state[NEED] == FRAME_HEADER:
                result = _open_frame(state, control)
                if result != DONE:
                    return result
            if state[HAVE] == state[NEED]:
                state[HAVE], state[NEED] = 0, FRAME_HEADER
                return CONTROL
            if state[HAVE] > 0:
                continue
        if state[LEFT] == 0 and state[FLAGS] & _END_STREAM:
            state[FLAGS] = 0
            return ENDED
    return _find_messages(state, store, bounds, max_message)
