"""Which nodes of the traces of ranks are parts of one operation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from railfab.errors import IntentError
from railfab.text.counted import counted
from railfab.workload.recorded.nodes import SENDRECV, JointOperation, NodeKind, Part, Traces, pair, place_of

REMEDY = "Record all ranks over the same steps"


def matches(traces: Traces, path: Path) -> Mapping[Part, JointOperation]:
    """The operation of every communication. path: of the traces, for errors.

    Raises IntentError for an operation of which a part is missing, or another one.
    """
    operations = (*_collectives(traces, path), *_transfers(traces, path))
    return {part: operation for operation in operations for part in operation.parts}


def _collectives(traces: Traces, path: Path) -> Iterator[JointOperation]:
    """The k-th collective of a group on every rank is one operation; nodes are in the order of their numbers."""
    calls: dict[str, dict[int, list[Part]]] = {}
    for rank, trace in enumerate(traces):
        for _, place in sorted((node.number, place) for place, node in enumerate(trace)):
            if trace[place].kind is NodeKind.COLLECTIVE:
                calls.setdefault(trace[place].group, {}).setdefault(rank, []).append((rank, place))
    if "" in calls:
        calls[""] = {rank: calls[""].get(rank, []) for rank in range(len(traces))}
    for group, by_rank in calls.items():
        _check_counts(path, group, by_rank)
        for parts in zip(*by_rank.values(), strict=True):
            _check_operation(traces, path, parts)
            first = traces[parts[0][0]][parts[0][1]]
            largest = max(traces[rank][place].size_bytes for rank, place in parts)
            pieces = len(parts) if first.op == "allgather" else 1  # a trace has what a rank gives
            yield JointOperation(group=group, op=first.op, size_bytes=pieces * largest, parts=parts)


def _check_counts(path: Path, group: str, by_rank: Mapping[int, Sequence[Part]]) -> None:
    counts = {rank: len(parts) for rank, parts in by_rank.items()}
    least, most = min(counts, key=lambda rank: counts[rank]), max(counts, key=lambda rank: counts[rank])
    if counts[least] != counts[most]:
        name = f"group {group}" if group else "the group of all"
        calls = f"{counted(counts[most], 'collective')} of {name}"
        raise IntentError(str(path), f"rank {most} has {calls}, and rank {least} has {counts[least]}", REMEDY)


def _check_operation(traces: Traces, path: Path, parts: Sequence[Part]) -> None:
    first = traces[parts[0][0]][parts[0][1]]
    for rank, place in parts[1:]:
        node = traces[rank][place]
        if node.op != first.op:
            place_there = f"node {first.number} ({first.name})"
            problem = f"rank {parts[0][0]} has another operation in its place, {place_there}"
            raise IntentError(place_of(path, rank, node), problem, REMEDY)


def _transfers(traces: Traces, path: Path) -> Iterator[JointOperation]:
    """The k-th transfer from a rank to another with a tag is the k-th that this receives."""
    ends: dict[tuple[int, int, int], tuple[list[Part], list[Part]]] = {}
    for rank, trace in enumerate(traces):
        for place, node in enumerate(trace):
            if node.kind is NodeKind.SEND:
                ends.setdefault((rank, node.peer, node.tag), ([], []))[0].append((rank, place))
            if node.kind is NodeKind.RECEIVE:
                ends.setdefault((node.peer, rank, node.tag), ([], []))[1].append((rank, place))
    for (source, target, tag), (sent, received) in ends.items():
        if len(sent) != len(received):
            times = f"{counted(len(sent), 'time')} to rank {target}, which receives {counted(len(received), 'time')}"
            raise IntentError(str(path), f"with tag {tag} rank {source} sends {times}", REMEDY)
        for parts in zip(sent, received, strict=True):
            size_bytes = traces[source][parts[0][1]].size_bytes
            yield JointOperation(group=pair(source, target), op=SENDRECV, size_bytes=size_bytes, parts=parts)
