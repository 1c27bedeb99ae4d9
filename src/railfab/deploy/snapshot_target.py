"""A snapshot as the target of a rollback: the configurations to which switches return, and what stands against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from railfab.deploy.drain import drained_now
from railfab.deploy.snapshot import SUFFIX, FabricSnapshot, read_snapshot, whole_configurations
from railfab.errors import RailfabError, raise_all
from railfab.fabric import Design, limited, session_endpoints
from railfab.text.counted import listed
from railfab.topology import Node


@dataclass(frozen=True, slots=True)
class SnapshotTarget:
    """texts: the configuration of each switch. left_alone: why the snapshot has none of a switch, by its name."""

    texts: Mapping[str, str]
    left_alone: Mapping[str, str]


def is_snapshot(to: str) -> bool:
    """Whether a target is a snapshot: no ID of a deploy is a path."""
    return bool(to) and (Path(to).exists() or Path(to).suffix == SUFFIX or "/" in to)


def snapshot_target(
    fabric: Design, path: Path, on: str | None, state: Path, limit: str | None = None
) -> SnapshotTarget:
    """The configurations of the selected switches in a snapshot.

    Raises RailfabError, or Problems, where it is none of this fabric, and for a switch that was drained then and is not
    now: its configuration has the drain, and no rollback drains.
    """
    snapshot = read_snapshot(path, fabric.intent.fabric)
    chosen = limited(fabric.topology, limit)
    raise_all([*_other_platforms(snapshot, chosen)])
    if limit is None and (gone := sorted(snapshot.switches.keys() - fabric.models.keys())):
        remedy = "Use the intent of then, or name the other switches: --limit"
        raise RailfabError(str(path), f"has {listed(gone)}, which this intent lacks", remedy)
    texts = whole_configurations(path, snapshot, {node.name for node in chosen})
    _refuse_drains(fabric, on, state, [name for name in texts if snapshot.switches[name].drained])
    lacking = [node.name for node in chosen if node.name not in texts]
    return SnapshotTarget(
        texts, {name: snapshot.unread.get(name, "the snapshot was taken without it") for name in lacking}
    )


def _refuse_drains(fabric: Design, on: str | None, state: Path, drained: Sequence[str]) -> None:
    """Raise RailfabError, or Problems, for switches that were drained then and are not now."""
    if not drained:
        return
    now = drained_now(fabric, session_endpoints(fabric, on, state, among=drained))
    problem = "was drained by railfab drain when the snapshot was taken, and its configuration has the drain"
    remedy = "Drain it first with railfab drain, or leave it out with --limit"
    raise_all([RailfabError(name, problem, remedy) for name in drained if name not in now])


def _other_platforms(snapshot: FabricSnapshot, nodes: Iterable[Node]) -> Iterator[RailfabError]:
    for node in nodes:
        switch = snapshot.switches.get(node.name)
        if switch is not None and switch.platform != node.platform:
            problem = f"ran {switch.platform} when the snapshot was taken, and the intent says {node.platform}"
            yield RailfabError(node.name, problem, "Leave it out with --limit")
