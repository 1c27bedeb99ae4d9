"""Ports of a design that the images of its platforms do not have in a lab: one error for each platform and cause."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.errors import LabError
from railfab.platforms import LabFacts, platform
from railfab.text.folding import folded, folded_sets
from railfab.topology import Topology


def port_errors(topology: Topology) -> Iterator[LabError]:
    """Split cages where the image has none, and ports beyond those of the image."""
    for name in sorted({str(node.platform) for node in topology.switches()}):
        yield from _errors(topology, name, platform(name).lab)


def _errors(topology: Topology, name: str, lab: LabFacts) -> Iterator[LabError]:
    split: dict[str, list[str]] = {}
    beyond: dict[str, list[str]] = {}
    positions: dict[str, int] = {}
    for node in topology.switches():
        model = topology.model_of(node)
        for port, _, _ in topology.ports_of(node.name) if node.platform == name else ():
            if not port.cage:
                continue
            cage, wanted = model.interface(name, port.cage, None), lab.interfaces.lab(port.name)
            if wanted is None and port.lane is not None:
                split.setdefault(node.name, []).append(cage)
            shown = port.name if wanted is not None else cage
            place = lab.interfaces.position(wanted or lab.interfaces.lab(cage) or "")
            if lab.ports is not None and place is not None and place[0] > lab.ports:
                beyond.setdefault(node.name, []).append(shown)
                positions[shown] = place[0]
    if split:
        yield LabError(*_said(split, f"split, and {lab.kind} ({name}) splits no cage"), "Use a design without breakout")
    if beyond:
        last = max(positions, key=positions.__getitem__)
        problem = (
            f"{last} is no port of {lab.kind} ({name}), which has {lab.ports}, "
            f"{lab.interfaces.port(1)} to {lab.interfaces.port(lab.ports or 1)}"
        )
        remedy = "Use a switch model that has only these ports, under `switches` of the intent, or another platform"
        yield LabError(", ".join(folded_sets(list(beyond))), problem, remedy)


def _said(found: dict[str, list[str]], problem: str) -> tuple[str, str]:
    """The switches, and what is wrong with the cages that they have."""
    cages = list(dict.fromkeys(cage for switch in found.values() for cage in switch))
    verb = "is" if len(cages) == 1 else "are"
    return ", ".join(folded_sets(list(found))), f"{folded(cages)} {verb} {problem}"
