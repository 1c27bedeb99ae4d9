"""Memory, file descriptors and threads of a process, and whether its memory grows."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import numpy as np

PAGE_MB = os.sysconf("SC_PAGE_SIZE") / 1e6
WARM_UP = 1 / 3
"""Share of a run in which memory may grow: caches fill, and the allocator comes to know the largest messages."""
BLOCK_S = 60.0
"""Figures of this time are averaged before a line is fitted, since neighbouring ones depend on each other [s]."""
NEEDED_BLOCKS = 10
"""With fewer averages after the warm-up the fit says nothing."""
MOST_MB_PER_MIN = 0.1
"""Growth that counts as none: 1 MB in 10 minutes."""
MOST_MORE = 8
"""File descriptors and threads that a run may end with beyond the most of its warm-up: calls that are in progress."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """A process at a moment. at_s: since the beginning of the run. rss_mb: resident set [1e6 bytes].

    used_mb: what its allocators have handed out [1e6 bytes]; None where it is not known.
    """

    at_s: float
    rss_mb: float
    fds: int
    threads: int
    used_mb: float | None = None


def figures(pid: int, at_s: float, heap: Path | None = None) -> Figures:
    """The figures of a process now. heap: the file that heap/sitecustomize.py writes."""
    process = Path(f"/proc/{pid}")
    rss_mb = int((process / "statm").read_text().split()[1]) * PAGE_MB
    fds, threads = (len(list((process / name).iterdir())) for name in ("fd", "task"))
    used_mb = int(heap.read_text()) / 1e6 if heap is not None else None
    return Figures(at_s=at_s, rss_mb=rss_mb, fds=fds, threads=threads, used_mb=used_mb)


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Slope of a line fitted to memory after the warm-up, and twice its standard error (95 %) [MB a minute]."""

    mb_per_min: float
    plus_minus: float

    @property
    def is_none(self) -> bool:
        """Whether memory surely grows by less than MOST_MB_PER_MIN."""
        return self.mb_per_min + self.plus_minus < MOST_MB_PER_MIN

    @property
    def is_sure(self) -> bool:
        """Whether memory surely grows by more than MOST_MB_PER_MIN."""
        return self.mb_per_min - self.plus_minus > MOST_MB_PER_MIN


def growth(run: Sequence[Figures], memory: Callable[[Figures], float] = lambda at: at.rss_mb) -> Growth | None:
    """The growth of memory after the warm-up; None for a run that is too short to tell."""
    blocks: dict[int, list[Figures]] = {}
    for one in after_warm_up(run):
        blocks.setdefault(int(one.at_s // BLOCK_S), []).append(one)
    if len(blocks) < NEEDED_BLOCKS:
        return None
    minutes = np.array([mean(one.at_s for one in block) for block in blocks.values()]) / 60
    means_mb = np.array([mean(map(memory, block)) for block in blocks.values()])
    apart = minutes - minutes.mean()
    slope = float(apart @ means_mb / (apart @ apart))
    left = means_mb - means_mb.mean() - slope * apart
    error = float(np.sqrt(left @ left / (len(blocks) - 2) / (apart @ apart)))
    return Growth(mb_per_min=slope, plus_minus=2 * error)


def used_growth(run: Sequence[Figures]) -> Growth | None:
    """The growth of memory in use after the warm-up; None where it is not known."""
    known = [at for at in run if at.used_mb is not None]
    return growth(known, lambda at: at.used_mb or 0.0)


def after_warm_up(run: Sequence[Figures]) -> list[Figures]:
    """The figures of the rest of a run."""
    return [one for one in run if one.at_s >= WARM_UP * run[-1].at_s]


def grown(run: Sequence[Figures]) -> list[str]:
    """What of a process grew during a run though it should not; nothing of a run that is too short to tell.

    Memory in use surely does not grow. Where that is known, the resident set may: the allocator comes to keep more
    free memory; only growth that is sure is a problem.
    """
    resident, used = growth(run), used_growth(run)
    if resident is None:
        return []
    problems = []
    if resident.is_sure or (used is None and not resident.is_none):
        problems.append(f"memory grows by {resident.mb_per_min:.2f} MB a minute, +-{resident.plus_minus:.2f}")
    if used is not None and not used.is_none:
        problems.append(f"memory in use grows by {used.mb_per_min:.2f} MB a minute, +-{used.plus_minus:.2f}")
    warm = [one for one in run if one.at_s < WARM_UP * run[-1].at_s]
    for name in ("fds", "threads"):
        most, last = max(getattr(one, name) for one in warm), getattr(run[-1], name)
        if last > most + MOST_MORE:
            problems.append(f"{name} grew from {most} to {last}")
    return problems
