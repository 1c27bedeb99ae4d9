"""One switch of each kind of a fabric, planned and admitted: enough to render a design of thousands of switches."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from railfab.device import plan
from railfab.fabric import Design
from railfab.fabric.design import external_text, render_text
from railfab.intent import FabricIntent, load_intent
from railfab.intent.document import Document
from railfab.platforms import admit, platform
from railfab.topology import Node, Topology, wire


def kinds(topology: Topology) -> dict[tuple[object, ...], Node]:
    """The first switch of each network, role, platform and model."""
    first: dict[tuple[object, ...], Node] = {}
    for node in topology.switches():
        first.setdefault((node.net, node.role, node.platform, node.model), node)
    return first


@contextmanager
def uncollected() -> Iterator[None]:
    """As the commands do: the objects of a large fabric all stay, and to look through them takes most of the time."""
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def at_equal_distances(most: int) -> Callable[[Topology], Iterable[Node]]:
    """At most so many switches of a fabric, the first one among them."""

    def chosen(topology: Topology) -> Iterable[Node]:
        switches = list(topology.switches())
        return switches[:: -(-len(switches) // most)]

    return chosen


@cache
def wired(path: Path) -> tuple[FabricIntent, Topology]:
    """An intent and its topology, which a process wires once and which no collection of garbage visits again."""
    intent = load_intent(path)
    with uncollected():
        topology = wire(intent)
        gc.freeze()
    return intent, topology


def sampled(intent: FabricIntent, topology: Topology, path: Path) -> Design:
    """A design that knows only these switches. Raises as `Design.models` does."""
    names = {node.name for node in kinds(topology).values()}
    found = Design(document=Document(path, {}), intent=intent, topology=topology)
    planned = plan(topology, intent, only=names)
    models = {name: admit(model, platform(model.platform)) for name, model in planned.items()}
    texts = {name: external_text(planned[name]) + render_text(model) for name, model in models.items()}
    vars(found).update(planned_models=planned, models=models, texts=texts)
    return found


def sampled_file(path: Path) -> Design:
    return sampled(*wired(path), path)
