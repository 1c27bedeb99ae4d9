"""The lines of several targets, family by family, in memory that is written again."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from railfab.telemetry.lines import SampleLines

PART_BYTES = 8 << 20
"""Families whose lines together take no more are written at once; of a larger one, the lines of one target."""

Lines = Iterator[memoryview]


def families(names: Sequence[str], pages: Sequence[SampleLines]) -> Iterator[tuple[str, Lines]]:
    """Each of these families and its lines, of one target after the other.

    Lines are valid until the next ones are asked for, since they are written only then, to the same memory: a million
    series are 150 MB, which would have to be cleared by the kernel and read again from outside the caches.
    """
    sizes: Counter[str] = Counter()
    for page in pages:
        sizes.update(page.sizes)
    out = _Out()
    for portion in _portions(names, sizes):
        if len(portion) == 1:
            yield portion[0], _one_by_one(portion[0], pages, out)
        else:
            yield from _together(portion, pages, out.of(sum(sizes[name] for name in portion)))


class _Out:
    """Memory that only grows."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, np.uint8)

    def of(self, size: int) -> NDArray[np.uint8]:
        """At least so many bytes."""
        if len(self._bytes) < size:
            self._bytes = np.empty(size, np.uint8)
        return self._bytes


def _portions(names: Sequence[str], sizes: Counter[str]) -> Iterator[list[str]]:
    """Names one behind the other, whose lines together take PART_BYTES at most; a single one may take more."""
    portion: list[str] = []
    total = 0
    for name in names:
        if portion and total + sizes[name] > PART_BYTES:
            yield portion
            portion, total = [], 0
        portion.append(name)
        total += sizes[name]
    if portion:
        yield portion


def _one_by_one(name: str, pages: Sequence[SampleLines], out: _Out) -> Lines:
    for page in pages:
        yield from page.write((name,), out.of(page.size((name,)))).values()


def _together(
    names: Sequence[str], pages: Sequence[SampleLines], out: NDArray[np.uint8]
) -> Iterator[tuple[str, Lines]]:
    found: dict[str, list[memoryview]] = {name: [] for name in names}
    at = 0
    for page in pages:
        for name, lines in page.write(names, out[at:]).items():
            found[name].append(lines)
        at += page.size(names)
    for name, written in found.items():
        yield name, iter(written)
