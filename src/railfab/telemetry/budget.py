"""The series that all targets of a process may have together: what bounds its memory."""

from __future__ import annotations

from dataclasses import dataclass

BYTES_PER_SERIES = 512
"""Text of a series: its name and labels, and its path as the target writes it. Longer ones count as several series.
Those of a fabric have about 220 bytes."""


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
