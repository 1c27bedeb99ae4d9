"""Arrays that end where memory ends: behind them, or before them, is a page that the process may not touch."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from railfab.telemetry import decode, growth, lines, store, table
from railfab.telemetry.receive import inflow

_PROT_NONE = 0
_LIBC = ctypes.CDLL(None, use_errno=True)
_OURS = (decode, growth, inflow, lines, store, table)


class Guarded:
    """numpy, whose new arrays are guarded. before: at their begin instead of their end."""

    def __init__(self, *, before: bool = False) -> None:
        self._before = before

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def zeros(self, shape: int | tuple[int, ...], dtype: Any = np.float64) -> Any:
        """Zeros, as the system gives new memory."""
        kind = np.dtype(dtype)
        size = int(np.prod(shape)) * kind.itemsize
        if not size:
            return np.zeros(shape, kind)
        pages = -(-size // mmap.PAGESIZE)
        memory = mmap.mmap(-1, (pages + 1) * mmap.PAGESIZE)
        _forbid(memory, 0 if self._before else pages)
        start = mmap.PAGESIZE if self._before else pages * mmap.PAGESIZE - size
        return np.frombuffer(memory, kind, size // kind.itemsize, start).reshape(shape)

    empty = zeros

    def of(self, content: bytes | np.ndarray) -> Any:
        """A copy."""
        found = np.frombuffer(content, np.uint8) if isinstance(content, bytes) else content
        copy = self.zeros(found.shape, found.dtype)
        copy[...] = found
        return copy


def _forbid(memory: mmap.mmap, page: int) -> None:
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + page * mmap.PAGESIZE
    if _LIBC.mprotect(ctypes.c_void_p(address), mmap.PAGESIZE, _PROT_NONE):
        raise OSError(ctypes.get_errno(), "mprotect")


@contextmanager
def all_guarded(*, before: bool) -> Iterator[Guarded]:
    """Have the modules of the collector that call compiled code make guarded arrays only."""
    guarded = Guarded(before=before)
    patches = [patch.object(module, "np", guarded) for module in _OURS]
    for each in patches:
        each.start()
    try:
        yield guarded
    finally:
        for each in patches:
            each.stop()
