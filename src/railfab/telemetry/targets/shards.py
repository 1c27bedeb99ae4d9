"""Which of n collectors streams from a target: rendezvous hashing, without a leader and without a lock service.

Each shard has a weight for each target, and the largest owns it. So a further shard takes targets from the others and
moves none between them. Source: Thaler and Ravishankar, Using Name-Based Mappings to Increase Hit Rates (1998).
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

from railfab.errors import RailfabError

MOST_SHARDS = 4096
OPTION = "--shard"
PROCESS_OPTION = "--process"


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several collectors. index: from 0.

    within: of what these are shards, so that the processes of a collector share its targets evenly: with the weights of
    the collectors, all targets of one would be those of one process.
    """

    index: int
    count: int
    within: str = ""

    def owns(self, name: str) -> bool:
        """Whether this shard streams from the target of that name."""
        return self.index == owner(name, self.count, self.within)

    def __str__(self) -> str:
        return f"{self.index}/{self.count}"


def owner(name: str, count: int, within: str = "") -> int:
    """The shard that streams from a target: the one with the largest weight."""
    return max(range(count), key=lambda shard: (_weight(f"{within}{shard}/{name}"), shard))


@dataclass(frozen=True, slots=True)
class Share:
    """What one process streams: those targets of its collector that are its own. None: of one that is not shared."""

    collector: Shard | None = None
    process: Shard | None = None

    def owns(self, name: str) -> bool:
        """Whether this process streams from the target of that name."""
        return all(shard.owns(name) for shard in self._shards)

    @property
    def label(self) -> str:
        """The label `shard`: `1`, `1.0` for the first process of the collector 1, or empty."""
        return ".".join(str(shard.index) for shard in self._shards)

    @property
    def _shards(self) -> list[Shard]:
        return [shard for shard in (self.collector, self.process) if shard is not None]


WHOLE = Share()
"""Every target."""


def parse_share(shard: str | None, process: str | None) -> Share:
    """The share of `--shard i/n` and `--process j/m`. Raises RailfabError."""
    return Share(
        parse_shard(shard) if shard is not None else None,
        process_shard(*_parsed(process, PROCESS_OPTION)) if process is not None else None,
    )


def process_shard(index: int, count: int) -> Shard:
    """The share of one of the processes of a collector."""
    return Shard(index, count, within="process ")


def parse_shard(text: str) -> Shard:
    """The shard in `i/n`, with i from 0 to n - 1, as ordinals of a StatefulSet are. Raises RailfabError."""
    return Shard(*_parsed(text, OPTION))


def _parsed(text: str, option: str) -> tuple[int, int]:
    where = f"{option} {text}"
    found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text.strip(), re.ASCII)
    if found is None:
        raise RailfabError(where, "is not of the form i/n", "Write for example 0/3 for the first of three")
    index, count = int(found[1]), int(found[2])
    if not 1 <= count <= MOST_SHARDS:
        raise RailfabError(where, f"{count} is no number of shards", f"Use 1 to {MOST_SHARDS}")
    if index >= count:
        problem = f"there is no shard {index} of {count}; they are numbered from 0"
        raise RailfabError(where, problem, f"Use 0/{count} to {count - 1}/{count}")
    return index, count


def _weight(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=8).digest()
