"""The number in a gNMI TypedValue, as Python would read it from protobuf, or that Python has to.

Field numbers: github.com/openconfig/gnmi, proto/gnmi/gnmi.proto, message TypedValue.
"""

from __future__ import annotations

from math import ldexp
from typing import Any

from railfab.telemetry.kernel.columns import Array
from railfab.telemetry.kernel.jit import called, inlined, load64
from railfab.telemetry.kernel.wire import LOW_63, length, varint

_EXACT = 9_007_199_254_740_992
"""2**53: integers up to here are exact as float64."""
_MOST_DIGITS = 22
"""10**22 is the largest power of ten that float64 has exactly: a quotient of two exact numbers is correctly rounded
(W. D. Clinger, "How to Read Floating Point Numbers Accurately", PLDI 1990)."""


@inlined
def number(buffer: Array, at: int, end: int) -> Any:
    """Whether a TypedValue is a finite number that is decoded here, and the number."""
    if at >= end:
        return False, 0.0
    tag = buffer[at]
    at += 1
    if tag == 0x18 or tag == 0x10:  # uint_val, int_val
        value, at = varint(buffer, at, end)
        if at != end:
            return False, 0.0
        if value >= 0 or tag == 0x10:
            return True, float(value)
        return True, float(((value >> 1) & LOW_63) | (value & 1)) * 2.0  # the last bit decides how halves are rounded
    if tag == 0x20:  # bool_val
        value, at = varint(buffer, at, end)
        return at == end, 0.0 if value == 0 else 1.0
    return _others(buffer, tag, at, end)


@called
def _others(buffer: Array, tag: int, at: int, end: int) -> Any:
    """The kinds of number that are less frequent."""
    if tag == 0x71:  # double_val
        return (False, 0.0) if end - at != 8 else _double(load64(buffer, at))
    if tag == 0x35:  # float_val
        if end - at != 4:
            return False, 0.0
        return _float(buffer[at] | buffer[at + 1] << 8 | buffer[at + 2] << 16 | buffer[at + 3] << 24)
    if tag in (0x0A, 0x2A, 0x52, 0x5A, 0x62):  # string_val, bytes_val, json_val, json_ietf_val, ascii_val
        start, stop = length(buffer, at, end)
        if start < 0 or stop != end:
            return False, 0.0
        if tag in (0x52, 0x5A):
            return _json(buffer, start, stop)
        return _decimal(buffer, start, stop, True)
    if tag == 0x3A:  # decimal_val
        start, stop = length(buffer, at, end)
        return (False, 0.0) if start < 0 or stop != end else _decimal64(buffer, start, stop)
    return False, 0.0


@called
def _double(bits: int) -> Any:
    exponent, fraction = (bits >> 52) & 0x7FF, bits & 0xFFFFFFFFFFFFF
    if exponent == 0x7FF:
        return False, 0.0
    magnitude = ldexp(float(fraction), -1074) if exponent == 0 else ldexp(float(fraction + (1 << 52)), exponent - 1075)
    return True, -magnitude if (bits >> 63) & 1 else magnitude


@called
def _float(bits: int) -> Any:
    exponent, fraction = (bits >> 23) & 0xFF, bits & 0x7FFFFF
    if exponent == 0xFF:
        return False, 0.0
    magnitude = ldexp(float(fraction), -149) if exponent == 0 else ldexp(float(fraction + (1 << 23)), exponent - 150)
    return True, -magnitude if (bits >> 31) & 1 else magnitude


@called
def _json(buffer: Array, at: int, end: int) -> Any:
    """A JSON number, or one in quotes, as 64-bit integers and decimals are in JSON_IETF (RFC 7951, section 6.1)."""
    if end - at > 2 and buffer[at] == 0x22 and buffer[end - 1] == 0x22:
        return _decimal(buffer, at + 1, end - 1, True)
    return _decimal(buffer, at, end, False)


@called
def _decimal(buffer: Array, at: int, end: int, zeros: bool) -> Any:
    """A decimal number without exponent. zeros: whether it may begin with zeros, as text may and JSON may not."""
    negative = at < end and buffer[at] == 0x2D
    if negative:
        at += 1
    first, digits, places, point = at, 0, 0, -1
    mantissa = 0
    while at < end:
        byte = buffer[at]
        if byte == 0x2E and point < 0 and at > first and at + 1 < end:
            point = at
        elif 0x30 <= byte <= 0x39 and mantissa <= _EXACT // 10 - 1:
            mantissa = mantissa * 10 + (byte - 0x30)
            digits += 1
            places += point >= 0
        else:
            return False, 0.0
        at += 1
    whole = (point if point >= 0 else end) - first
    if digits == 0 or places > _MOST_DIGITS or (mantissa == 0 and negative):
        return False, 0.0
    if not zeros and whole > 1 and buffer[first] == 0x30:
        return False, 0.0
    value = float(mantissa)
    if places:
        value /= 10.0**places
    return True, -value if negative else value


@called
def _decimal64(buffer: Array, at: int, end: int) -> Any:
    """A Decimal64: digits and precision, in their order, each once."""
    digits = precision = 0
    if at < end and buffer[at] == 0x08:
        digits, at = varint(buffer, at + 1, end)
    if 0 <= at < end and buffer[at] == 0x10:
        precision, at = varint(buffer, at + 1, end)
    if at != end or not -_EXACT <= digits <= _EXACT or not 0 <= precision <= _MOST_DIGITS or digits == 0:
        return False, 0.0
    return True, float(digits) / 10.0**precision
