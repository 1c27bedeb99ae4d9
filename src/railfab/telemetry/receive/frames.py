"""Frames and header blocks of HTTP/2 as bytes, and the statuses of gRPC in them.

Sources: RFC 9113; RFC 7541; gRPC over HTTP2; gRPC, HTTP to gRPC Status Code Mapping.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import unquote_to_bytes

from railfab.gnmi.statuses import CODES, Status

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
INITIAL_WINDOW = 65_535
"""Window of a stream and of the connection before either side says another [bytes]."""
MAX_WINDOW = 2**31 - 1

DATA, HEADERS, PRIORITY, RST_STREAM, SETTINGS, PUSH_PROMISE, PING, GOAWAY, WINDOW_UPDATE, CONTINUATION = range(10)
ACK = END_STREAM = 0x1
END_HEADERS, PADDED, HAS_PRIORITY = 0x4, 0x8, 0x20
HEADER_TABLE_SIZE, ENABLE_PUSH, MAX_CONCURRENT_STREAMS, INITIAL_WINDOW_SIZE = 1, 2, 3, 4
NO_ERROR, PROTOCOL_ERROR, CANCEL, ENHANCE_YOUR_CALM = 0x0, 0x1, 0x8, 0xB
_ERRORS = (
    "NO_ERROR",
    "PROTOCOL_ERROR",
    "INTERNAL_ERROR",
    "FLOW_CONTROL_ERROR",
    "SETTINGS_TIMEOUT",
    "STREAM_CLOSED",
    "FRAME_SIZE_ERROR",
    "REFUSED_STREAM",
    "CANCEL",
    "COMPRESSION_ERROR",
    "CONNECT_ERROR",
    "ENHANCE_YOUR_CALM",
    "INADEQUATE_SECURITY",
    "HTTP_1_1_REQUIRED",
)
_RESETS = {7: "UNAVAILABLE", 8: "CANCELLED", 11: "RESOURCE_EXHAUSTED", 12: "PERMISSION_DENIED"}
"""gRPC's status for a stream that is reset, by HTTP/2's error; INTERNAL for the others."""
_HTTP_STATUSES = {
    "400": "INTERNAL",
    "401": "UNAUTHENTICATED",
    "403": "PERMISSION_DENIED",
    "404": "UNIMPLEMENTED",
    "429": "UNAVAILABLE",
    "502": "UNAVAILABLE",
    "503": "UNAVAILABLE",
    "504": "UNAVAILABLE",
}
"""gRPC's status for an answer that has none, by HTTP's; UNKNOWN for the others."""
MOST_MESSAGE = 1000
"""What is kept of a grpc-message [bytes]."""
_METADATA = re.compile(r"[\x20-\x7e]*")


def frame(kind: int, flags: int, stream: int, payload: bytes = b"") -> bytes:
    return struct.pack(">HBBBI", len(payload) >> 8, len(payload) & 0xFF, kind, flags, stream) + payload


def settings(values: Mapping[int, int]) -> bytes:
    return frame(SETTINGS, 0, 0, b"".join(struct.pack(">HI", *pair) for pair in values.items()))


def window_update(stream: int, size: int) -> bytes:
    return frame(WINDOW_UPDATE, 0, stream, struct.pack(">I", size))


def reset(stream: int, error: int) -> bytes:
    return frame(RST_STREAM, 0, stream, struct.pack(">I", error))


def goaway(error: int) -> bytes:
    return frame(GOAWAY, 0, 0, struct.pack(">II", 0, error))


def message(content: bytes) -> bytes:
    """A message of gRPC, not compressed."""
    return struct.pack(">BI", 0, len(content)) + content


def is_metadata(text: str) -> bool:
    """Whether gRPC's metadata can have this value."""
    return bool(_METADATA.fullmatch(text))


def header_block(headers: Iterable[tuple[str, str]]) -> bytes:
    """Headers as literals that nobody indexes (RFC 7541, 6.2.3), since they have credentials. hpack would log them."""
    return b"".join(b"\x10" + _literal(name) + _literal(value) for name, value in headers)


def _literal(text: str) -> bytes:
    """A string without Huffman coding: its length with a prefix of 7 bits (RFC 7541, 5.1), and its bytes."""
    raw = text.encode()
    if len(raw) < 127:
        return bytes((len(raw),)) + raw
    length, rest = bytearray(b"\x7f"), len(raw) - 127
    while rest > 127:
        length.append(rest & 127 | 128)
        rest >>= 7
    return bytes((*length, rest)) + raw


def unpadded(flags: int, payload: bytes) -> bytearray | None:
    """The header block of a HEADERS frame; None when its padding or priority exceed it."""
    padding = start = 0
    if flags & PADDED:
        padding, start = (payload[0], 1) if payload else (1, 0)
    start += 5 if flags & HAS_PRIORITY else 0
    return bytearray(payload[start : len(payload) - padding]) if start + padding <= len(payload) else None


def error_name(code: int) -> str:
    """HTTP/2's name of an error."""
    return _ERRORS[code] if code < len(_ERRORS) else f"error {code}"


def status_of_reset(code: int) -> Status:
    """gRPC's status for a stream that is reset with this error."""
    return Status(_RESETS.get(code, "INTERNAL"), f"the stream was reset with {error_name(code)}")


def status_of(headers: Sequence[tuple[bytes, bytes]]) -> Status:
    """The status in trailers, or in headers that end a stream."""
    found = dict(headers)
    number, http = found.get(b"grpc-status"), found.get(b":status", b"200")[:9].decode("ascii", "replace")
    if number is None:
        code, said = (_HTTP_STATUSES.get(http, "UNKNOWN"), f"HTTP status {http}") if http != "200" else ("UNKNOWN", "")
        return Status(code, said or "the stream ended without a status of gRPC")
    code = CODES[int(number)] if number.isdigit() and len(number) < 3 and int(number) < len(CODES) else "UNKNOWN"
    words = found.get(b"grpc-message", b"")[:MOST_MESSAGE]
    return Status(code, unquote_to_bytes(words).decode("utf-8", "replace") or None)
