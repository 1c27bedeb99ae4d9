"""A snapshot as the target of a rollback."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from railfab.cli.echo import echo_line
from railfab.errors import RailfabError, raise_all
from railfab.fabric import Design, limited, session_endpoints
from railfab.text.counted import listed

if TYPE_CHECKING:
    from railfab.deploy import FabricSnapshot
    from railfab.topology import Node


def is_snapshot(to: str) -> bool:
    """Whether a target is a snapshot: no ID of a deploy is a path."""
    return Path(to).exists() or Path(to).suffix == ".json" or "/" in to


def snapshot_texts(fabric: Design, path: Path, on: str | None, state: Path, limit: str | None) -> dict[str, str]:
    """The configuration of each selected switch in a snapshot; names those that it lacks.

    Raises RailfabError, or Problems, where it is no snapshot of this fabric, and where a switch was drained then.
    """
    from railfab.deploy import read_snapshot, whole_configurations

    snapshot = read_snapshot(path, fabric.intent.fabric)
    chosen = limited(fabric.topology, limit)
    raise_all([*_other_platforms(snapshot, chosen)])
    texts = whole_configurations(path, snapshot, {node.name for node in chosen})
    for node in chosen:
        if node.name not in texts:
            why = snapshot.unread.get(node.name, "the snapshot was taken without it")
            echo_line(f"{node.name}: is left as it is: {why}", err=True)
    if limit is None and (gone := sorted(snapshot.switches.keys() - fabric.models.keys())):
        remedy = "Use the intent of then, or name the other switches: --limit"
        raise RailfabError(str(path), f"has {listed(gone)}, which this intent lacks", remedy)
    _refuse_drains(fabric, on, state, [name for name in texts if snapshot.switches[name].drained])
    return texts


def _refuse_drains(fabric: Design, on: str | None, state: Path, drained: Sequence[str]) -> None:
    """Raise RailfabError, or Problems, for switches that were drained then and are not now: no rollback drains."""
    from railfab.deploy import drained_now

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
