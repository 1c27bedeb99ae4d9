"""Conversion of gNMI's TypedValue to Python and back."""

from __future__ import annotations

import json
from decimal import Decimal
from functools import lru_cache
from typing import Any

from railfab.bounded_json import load_json
from railfab.errors import RailfabError
from railfab.gnmi import messages

JSON = messages.Encoding.JSON
PROTO = messages.Encoding.PROTO
ASCII = messages.Encoding.ASCII
JSON_IETF = messages.Encoding.JSON_IETF
ENCODINGS = (JSON_IETF, JSON, PROTO)
"""The encodings that `encode` knows, the preferred one first."""

MOST_FRACTION_DIGITS = 400
"""From which on 64 bits of digits are 0 as a float. decimal64 has 18 (RFC 7950, section 9.3.4), the message 32 bits."""

JSON_SCALARS = tuple(bytes((byte,)) for byte in b'"-0123456789tfn')
"""The first bytes of JSON that is no container."""
MOST_SHARED, SHARED_VALUES = 64, 1 << 12
"""Longest scalar that is kept [bytes], and the number of them."""

_PLAIN = frozenset(
    ("string_val", "int_val", "uint_val", "bool_val", "float_val", "double_val", "bytes_val", "ascii_val")
)


class GnmiValueError(RailfabError):
    """A value that cannot be decoded, or not be sent in the requested encoding."""


class Uint64(int):
    """An integer of a 64-bit YANG type: a string in JSON_IETF (RFC 7951, section 6.1), a number elsewhere."""

    __slots__ = ()


def decode(value: messages.TypedValue) -> Any:
    """The Python value: str, int, bool, float (decimal64 too), bytes, or what a JSON value holds; list for a leaf-list.

    Raises GnmiValueError for a value that is absent, broken or of a kind without a Python form (Any, proto_bytes).
    """
    kind = value.WhichOneof("value")
    if kind in _PLAIN:
        return getattr(value, kind)
    if kind in ("json_val", "json_ietf_val"):
        return _from_json(getattr(value, kind))
    if kind == "decimal_val":
        decimal = value.decimal_val
        return float(Decimal(decimal.digits).scaleb(-min(decimal.precision, MOST_FRACTION_DIGITS)))
    if kind == "leaflist_val":
        return [decode(element) for element in value.leaflist_val.element]
    raise GnmiValueError(
        "gNMI value", f"kind {kind or 'none'} has no plain form", "Ask the target for another encoding"
    )


def encode(value: Any, encoding: int) -> messages.TypedValue:
    """A Python value as a TypedValue: JSON text for JSON_IETF and JSON, a typed leaf for PROTO.

    Uint64 and Decimal become strings in JSON_IETF. Raises GnmiValueError for
    another encoding and for a container in PROTO.
    """
    if encoding == JSON_IETF:
        return messages.TypedValue(json_ietf_val=_to_json(ietf(value)))
    if encoding == JSON:
        return messages.TypedValue(json_val=_to_json(plain(value)))
    if encoding == PROTO:
        return _typed(value)
    raise GnmiValueError("gNMI value", f"encoding {encoding} is not known", "Use JSON_IETF, JSON or PROTO")


def ietf(value: Any) -> Any:
    """The value with 64-bit integers and decimals as strings (RFC 7951)."""
    if isinstance(value, dict):
        return {key: ietf(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [ietf(child) for child in value]
    if isinstance(value, Uint64):
        return str(int(value))
    return format(value, "f") if isinstance(value, Decimal) else value


def plain(value: Any) -> Any:
    """The value with decimals as numbers."""
    if isinstance(value, dict):
        return {key: plain(child) for key, child in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(child) for child in value]
    return float(value) if isinstance(value, Decimal) else value


def _typed(value: Any) -> messages.TypedValue:
    if isinstance(value, bool):
        return messages.TypedValue(bool_val=value)
    if isinstance(value, int):
        return messages.TypedValue(uint_val=value) if value >= 0 else messages.TypedValue(int_val=value)
    if isinstance(value, (float, Decimal)):
        return messages.TypedValue(double_val=float(value))
    if isinstance(value, str):
        return messages.TypedValue(string_val=value)
    if isinstance(value, bytes):
        return messages.TypedValue(bytes_val=value)
    if isinstance(value, (list, tuple)):
        scalars = messages.ScalarArray(element=[_typed(element) for element in value])
        return messages.TypedValue(leaflist_val=scalars)
    raise GnmiValueError("gNMI value", f"a {type(value).__name__} is no leaf", "Use JSON_IETF for containers")


def _to_json(value: Any) -> bytes:
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()


def _from_json(text: bytes) -> Any:
    """The value of a JSON text. Short scalars, such as `"up"`, are read once and not once a port."""
    is_short = len(text) <= MOST_SHARED and text[:1] in JSON_SCALARS
    return _scalar(text) if is_short else _value(text)


@lru_cache(maxsize=SHARED_VALUES)
def _scalar(text: bytes) -> Any:
    return _value(text)


def _value(text: bytes) -> Any:
    try:
        return load_json(text)
    except ValueError as error:
        raise GnmiValueError("gNMI value", f"is not JSON ({error})", "Check what was sent") from None
