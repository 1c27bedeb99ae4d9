"""Which of n collectors streams from a target: rendezvous hashing, without a leader and without a lock service.

Each shard has a weight for each target, and the r largest own it. So a further shard takes targets from the others and
moves none between them. Source: Thaler and Ravishankar, Using Name-Based Mappings to Increase Hit Rates (1998).
"""

from __future__ import annotations

import hashlib
import heapq
import re
from dataclasses import dataclass

from railfab.errors import RailfabError

MOST_SHARDS = 4096
OPTION = "--shard"


@dataclass(frozen=True, slots=True)
class Shard:
    """One of several collectors. index: from 0. replicas: how many shards stream from each target."""

    index: int
    count: int
    replicas: int = 1

    def owns(self, name: str) -> bool:
        """Whether this shard streams from the target of that name."""
        return self.index in owners(name, self.count, self.replicas)


def owners(name: str, count: int, replicas: int = 1) -> tuple[int, ...]:
    """The shards that stream from a target, the one with the largest weight first; all of them for many replicas."""
    return tuple(heapq.nlargest(replicas, range(count), key=lambda shard: (_weight(shard, name), shard)))


def parse_shard(text: str, replicas: int = 1) -> Shard:
    """The shard in `i/n`, with i from 0 to n - 1, as ordinals of a StatefulSet are. Raises RailfabError."""
    where = f"{OPTION} {text}"
    found = re.fullmatch(r"([0-9]{1,9})/([0-9]{1,9})", text.strip(), re.ASCII)
    if found is None:
        raise RailfabError(where, "is not of the form i/n", "Write for example 0/3 for the first of three")
    index, count = int(found[1]), int(found[2])
    if not 1 <= count <= MOST_SHARDS:
        raise RailfabError(where, f"{count} is no number of shards", f"Use 1 to {MOST_SHARDS}")
    if index >= count:
        problem = f"there is no shard {index} of {count}; they are numbered from 0"
        raise RailfabError(where, problem, f"Use 0/{count} to {count - 1}/{count}")
    if not 1 <= replicas <= count:
        problem = f"{replicas} replicas of {count} shards are not possible"
        raise RailfabError(where, problem, f"Use 1 to {count} replicas")
    return Shard(index, count, replicas)


def _weight(shard: int, name: str) -> bytes:
    return hashlib.blake2b(f"{shard}/{name}".encode(), digest_size=8).digest()
