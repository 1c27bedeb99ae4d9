"""The designs that documents are tried on: every committed intent that is quick to wire, and what they may grow to."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hypothesis import assume
from hypothesis import strategies as st

from railfab.documents.growth import growth
from railfab.errors import RailfabError
from railfab.intent import FabricIntent, load_intent
from railfab.topology import Topology, wire

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
LARGE = "gpu"
"""How the names of the intents begin that take seconds."""
NAMES = tuple(path.stem for path in sorted(FABRICS.glob("*.yml")) if not path.stem.startswith(LARGE))


@cache
def intent(name: str) -> FabricIntent:
    return load_intent(FABRICS / f"{name}.yml")


@cache
def topology(name: str) -> Topology:
    return wire(intent(name))


@st.composite
def grown(draw: st.DrawFn) -> tuple[FabricIntent, FabricIntent]:
    """A fabric, and the same with more hosts, segments and pods."""
    before = intent(draw(st.sampled_from(NAMES)))
    hosts, segments, pods = (draw(st.integers(room.now, min(room.room, room.now + 2))) for room in growth(before))
    after = sized(before, hosts=hosts, segments=segments, pods=pods)
    assume(wires(after))
    return before, after


def wires(intent: FabricIntent) -> bool:
    """Whether the other networks have leaves enough, too."""
    try:
        wire(intent)
    except RailfabError:
        return False
    return True


def sized(intent: FabricIntent, *, hosts: int, segments: int, pods: int) -> FabricIntent:
    backend = intent.backend
    rows = backend.segments.model_copy(update={"hosts": hosts, "count": segments})
    return intent.model_copy(update={"backend": backend.model_copy(update={"segments": rows, "pods": pods})})
