"""The series that all targets of a process may have together: what bounds its memory."""

from __future__ import annotations

from dataclasses import dataclass

BYTES_PER_SERIES = 512
"""Text of a series: its name and labels, and its path as the target writes it. Longer ones count as several series.
Those of a fabric have about 220 bytes."""


LEAST_MOST = 1_000_000
"""Series that a process may have, however few targets it has."""
SERIES_PER_TARGET = 12_000
"""Series of a target for which there is room by default: switches with 64 ports have 8,000 to 9,000."""


def most_series(targets: int) -> int:
    """The series that a process with so many targets may have by default."""
    return max(LEAST_MOST, SERIES_PER_TARGET * targets)


@dataclass(slots=True)
class SeriesBudget:
    """most: series of all targets. used: by those that share it. Written by the collector's loop alone."""

    most: int
    used: int = 0

    def has_room(self, charged: int, size: int) -> bool:
        """Whether a target that is charged so much may have this size; never once a message has passed the bound."""
        return self.used - charged + size <= self.most

    def charge(self, charged: int, size: int) -> int:
        """Charge a target its size in place of what it was charged; return the size."""
        self.used += size - charged
        return size


def table_size(series: int, paths: int, text_bytes: int) -> int:
    """The size of a table in series: of rows, of paths, or of text, where that takes more memory."""
    return max(series, paths, text_bytes // BYTES_PER_SERIES)
