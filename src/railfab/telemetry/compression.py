"""gzip of an exposition: by isal where it is installed, which takes a quarter of the time, else by zlib."""

from __future__ import annotations

try:
    from isal.igzip import compress
except ModuleNotFoundError:
    from gzip import compress  # type: ignore[assignment]

LEVEL = 1


def compressed(text: bytes) -> bytes:
    """The text as gzip."""
    return compress(text, LEVEL)
