"""Memory, file descriptors and threads of a process, and whether its memory grows."""

from __future__ import annotations

import os
from collections.abc import Sequence
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
    """A process at a moment. at_s: since the beginning of the run. rss_mb: resident set [1e6 bytes]."""

    at_s: float
    rss_mb: float
    fds: int
    threads: int


def figures(pid: int, at_s: float) -> Figures:
    """The figures of a process now."""
    process = Path(f"/proc/{pid}")
    rss_mb = int((process / "statm").read_text().split()[1]) * PAGE_MB
    fds, threads = (len(list((process / name).iterdir())) for name in ("fd", "task"))
    return Figures(at_s=at_s, rss_mb=rss_mb, fds=fds, threads=threads)


@dataclass(frozen=True, slots=True, kw_only=True)
class Growth:
    """Slope of a line fitted to memory after the warm-up, and twice its standard error (95 %) [MB a minute]."""

    mb_per_min: float
    plus_minus: float

    @property
    def is_none(self) -> bool:
        """Whether memory surely grows by less than MOST_MB_PER_MIN."""
        return self.mb_per_min + self.plus_minus < MOST_MB_PER_MIN


def growth(run: Sequence[Figures]) -> Growth | None:
    """The growth of memory after the warm-up; None for a run that is too short to tell."""
    blocks: dict[int, list[Figures]] = {}
    for one in after_warm_up(run):
        blocks.setdefault(int(one.at_s // BLOCK_S), []).append(one)
    if len(blocks) < NEEDED_BLOCKS:
        return None
    minutes = np.array([mean(one.at_s for one in block) for block in blocks.values()]) / 60
    rss_mb = np.array([mean(one.rss_mb for one in block) for block in blocks.values()])
    apart = minutes - minutes.mean()
    slope = float(apart @ rss_mb / (apart @ apart))
    left = rss_mb - rss_mb.mean() - slope * apart
    error = float(np.sqrt(left @ left / (len(blocks) - 2) / (apart @ apart)))
    return Growth(mb_per_min=slope, plus_minus=2 * error)


def after_warm_up(run: Sequence[Figures]) -> list[Figures]:
    """The figures of the rest of a run."""
    return [one for one in run if one.at_s >= WARM_UP * run[-1].at_s]


def grown(run: Sequence[Figures]) -> list[str]:
    """What of a process grew during a run though it should not; nothing of a run that is too short to tell."""
    found = growth(run)
    if found is None:
        return []
    problems = []
    if not found.is_none:
        problems.append(f"memory grows by {found.mb_per_min:.2f} MB a minute, +-{found.plus_minus:.2f}")
    warm = [one for one in run if one.at_s < WARM_UP * run[-1].at_s]
    for name in ("fds", "threads"):
        most, last = max(getattr(one, name) for one in warm), getattr(run[-1], name)
        if last > most + MOST_MORE:
            problems.append(f"{name} grew from {most} to {last}")
    return problems
