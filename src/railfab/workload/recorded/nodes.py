"""Nodes of the traces of ranks, and the operations that several of them make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from railfab.errors import IntentError
from railfab.text.counted import listed

SENDRECV = "sendrecv"
Part = tuple[int, int]
"""A node: rank, and position in its trace."""


class NodeKind(StrEnum):
    """Work of a node. MARK: takes no time, and others wait for it."""

    COMPUTE = "compute"
    COLLECTIVE = "collective"
    SEND = "send"
    RECEIVE = "receive"
    MARK = "mark"


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceNode:
    """A node of the trace of a rank. after: nodes that it waits for, by position in the trace. seconds: of computation.

    on_host: the processor computes, not the GPU. group: process group of a collective, empty for that of all ranks.
    peer, tag: of a transfer. size_bytes: 0 where nothing is sent.
    """

    number: int
    name: str
    kind: NodeKind
    after: tuple[int, ...] = ()
    seconds: float = 0.0
    on_host: bool = False
    op: str = ""
    size_bytes: int = 0
    group: str = ""
    peer: int = -1
    tag: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class JointOperation:
    """An operation of several ranks. parts: its nodes; of a transfer the one that sends first."""

    group: str
    op: str
    size_bytes: int
    parts: tuple[Part, ...]


Traces = Sequence[Sequence[TraceNode]]
"""The nodes of every rank."""


def place_of(path: Path, rank: int, node: TraceNode) -> str:
    """The place of a node, for errors."""
    return f"{path}: rank {rank}: node {node.number} ({node.name})"


def pair(source: int, target: int) -> str:
    """The name of the group of two ranks of which one sends to the other."""
    return f"{source}>{target}"


def is_pair(group: str) -> bool:
    """Tell whether a group is that of a sender and its receiver."""
    return ">" in group


def check_order(where: str, trace: Sequence[TraceNode]) -> None:
    """Raise IntentError for nodes of a trace that wait for each other in a circle."""
    waits = [set(node.after) for node in trace]
    after: list[list[int]] = [[] for _ in trace]
    for place, before in enumerate(waits):
        for first in before:
            after[first].append(place)
    free = [place for place, before in enumerate(waits) if not before]
    left = [len(before) for before in waits]
    for place in free:
        for later in after[place]:
            left[later] -= 1
            if not left[later]:
                free.append(later)
    if len(free) < len(trace):
        circle = [str(trace[place].number) for place in _circle(waits, left)]
        problem = f"the nodes {listed(circle)} wait for each other"
        raise IntentError(where, problem, "Record or convert the trace again; dependencies have no circle")


def _circle(waits: Sequence[set[int]], left: Sequence[int]) -> list[int]:
    """The nodes of a circle, in the order in which they wait."""
    place = next(place for place, count in enumerate(left) if count)
    path: list[int] = []
    while place not in path:
        path.append(place)
        place = next(before for before in sorted(waits[place]) if left[before])
    return path[path.index(place) :]
