"""Collective operations and their bus bandwidth; their algorithms are in railfab.workload.algorithms."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveKind:
    """An operation among the ranks of a group.

    bus_factor: bytes that cross the port of a rank for each byte of the array, by the number of ranks; that of
    nccl-tests, doc/PERFORMANCE.md, and the least that any algorithm sends. fixed: ranks that have a role of their own,
    and keep their places in every channel: none, the root, or all.
    """

    bus_factor: Callable[[int], float]
    fixed: Literal["none", "root", "all"] = "none"


def _all_but_one(ranks: int) -> float:
    return (ranks - 1) / ranks


def _whole(ranks: int) -> float:  # noqa: ARG001
    return 1.0


OPERATIONS: Mapping[str, CollectiveKind] = {
    "allreduce": CollectiveKind(bus_factor=lambda ranks: 2 * _all_but_one(ranks)),
    "allgather": CollectiveKind(bus_factor=_all_but_one),
    "reducescatter": CollectiveKind(bus_factor=_all_but_one),
    "alltoall": CollectiveKind(bus_factor=_all_but_one),
    "broadcast": CollectiveKind(bus_factor=_whole, fixed="root"),
    "sendrecv": CollectiveKind(bus_factor=_whole, fixed="all"),
}
"""Every operation, by the name that job files use."""
