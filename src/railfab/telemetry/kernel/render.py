"""From columns to lines of Prometheus' text format: `name{labels} value`."""

from __future__ import annotations

from math import copysign
from typing import Any

from railfab.telemetry.kernel.columns import Array, Groups, LongNumbers
from railfab.telemetry.kernel.jit import called, compiled, copy, from_start, inlined, prefetch

_EXACT = 9_007_199_254_740_992.0
_MOST_PLACES = 9
_AHEAD = 8


@inlined
def _places(value: float) -> Any:
    """Decimal places with which a number is written exactly; -1 where more are needed, or an exponent."""
    if value == 0.0:
        return 0 if copysign(1.0, value) > 0 else -1
    magnitude = abs(value)
    if magnitude < _EXACT and magnitude == float(int(magnitude)):
        return 0
    power = 10.0
    for places in range(1, _MOST_PLACES + 1):
        scaled = magnitude * power
        if scaled >= _EXACT:
            return -1
        if scaled == float(int(scaled)) and scaled / power == magnitude:
            return places
        power *= 10.0
    return -1


@inlined
def _write_number(value: float, places: int, out: Array, at: int) -> Any:
    """Write a number with these places; the position behind it."""
    if value < 0:
        out[at] = 0x2D
        at += 1
        value = -value
    power = 1.0
    for _ in range(places):
        power *= 10.0
    rest = int(value * power)
    digits = 1
    most = 10
    while most <= rest:
        most *= 10
        digits += 1
    digits = max(digits, places + 1)
    end = at + digits + (1 if places else 0)
    position = end - 1
    for index in range(digits):
        if places and index == places:
            out[position] = 0x2E
            position -= 1
        out[position] = 0x30 + rest % 10
        rest //= 10
        position -= 1
    return end


@compiled
def long_numbers(live: Array, values: Array, found: Array) -> Any:
    """List the rows whose values Python has to write; return how many."""
    live, values = from_start(live), from_start(values)
    count = 0
    for row in range(len(live)):
        if live[row] and _places(values[row]) < 0:
            found[count] = row
            count += 1
    return count


@compiled
def render(
    groups: Groups, start: Array, length: Array, text: Array, live: Array, values: Array, long: LongNumbers,
    out: Array, ends: Array,
) -> Any:  # fmt: skip
    """Write the living rows, family by family; `ends` gets the position behind each family. Return the last one.

    start, length, text: of each row's line before its value. live: uint8. values: float64.
    """
    text, out, start, length = from_start(text), from_start(out), from_start(start), from_start(length)
    live, values, order, written = from_start(live), from_start(values), from_start(groups.order), from_start(long.at)
    has_long = len(written) > 0
    last = len(order) - 1
    at = 0
    for group in range(len(groups.begin) - 1):
        head, head_end, cut = groups.head[group], groups.head[group + 1], groups.cut[group]
        for place in range(groups.begin[group], groups.begin[group + 1]):
            row = order[place]
            coming = start[order[min(place + _AHEAD, last)]]
            prefetch(text, coming)
            prefetch(text, coming + 64)
            if not live[row]:
                continue
            if head_end > head:
                at = copy(groups.text, head, head_end - head, out, at)
            at = copy(text, start[row] + cut, length[row] - cut, out, at)
            if has_long and written[row]:
                at = _write_text(long.text, written[row] - 1, out, at)
            else:
                at = _write_number(values[row], _places(values[row]), out, at)
            out[at] = 0x0A
            at += 1
        ends[group] = at
    return at


@called
def _write_text(text: Array, start: int, out: Array, at: int) -> Any:
    """Copy up to a zero; the position behind it."""
    while text[start]:
        out[at] = text[start]
        at += 1
        start += 1
    return at
