"""A prefix of the names of switches and hosts changes the names, and nothing but the names."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.topology.fabric_intents import fabric

from railfab.fabric import Design, design
from railfab.fabric.audit import configuration_findings
from railfab.intent import FabricIntent
from railfab.intent.document import Document
from railfab.topology import Topology, wire

FABRICS = sorted((Path(__file__).parents[2] / "inventory" / "fabrics").glob("*.yml"))
SMALL = ("pod64.yml", "dual-mlag.yml", "dual-esi.yml", "dual-plane.yml", "multi-pod.yml", "cluster.yml")
PREFIX = "dc1-"


def prefixed(intent: FabricIntent, prefix: str = PREFIX) -> FabricIntent:
    return FabricIntent.model_validate({**intent.model_dump(exclude_unset=True), "names": {"prefix": prefix}})


def without_prefix(text: str) -> str:
    return text.replace(PREFIX, "")


@pytest.mark.parametrize("path", [path for path in FABRICS if path.name in SMALL], ids=lambda path: path.stem)
def test_a_fabric_with_a_prefix_is_the_same_with_other_names(path: Path) -> None:
    plain = design(path)
    named = Design(document=plain.document, intent=prefixed(plain.intent), topology=wire(prefixed(plain.intent)))
    assert [node.name for node in named.topology.nodes] == [f"{PREFIX}{node.name}" for node in plain.topology.nodes]
    assert repr(named.topology).count(PREFIX) == places(plain.topology)
    assert without_prefix(repr(named.topology)) == repr(plain.topology)
    first = next(iter(plain.texts))
    assert without_prefix(named.texts[PREFIX + first]) == plain.texts[first]
    assert f"{PREFIX}{first}" in named.texts[PREFIX + first]
    assert [without_prefix(found.line) for found in named.findings] == [found.line for found in plain.findings]


def places(topology: Topology) -> int:
    """The number of places in which a topology has the name of a node."""
    bonds = sum(1 + len(bond.switches) for bond in topology.bonds)
    return len(topology.nodes) + 2 * len(topology.links) + len(topology.gateways) + len(topology.summaries) + bonds


def test_configurations_of_a_fabric_with_a_prefix_agree_with_its_intent() -> None:
    intent = prefixed(fabric())
    named = Design(document=Document(Path("f.yml"), {}), intent=intent, topology=wire(intent))
    assert configuration_findings(named, {name: f"{text}\n" for name, text in named.texts.items()}) == ()


def test_a_drained_switch_is_written_with_its_prefix() -> None:
    intent = replace_drain(prefixed(fabric()), f"{PREFIX}pod1-spine1")
    named = Design(document=Document(Path("f.yml"), {}), intent=intent, topology=wire(intent))
    assert [name for name, model in named.models.items() if model.drain] == [f"{PREFIX}pod1-spine1"]
    wrong = replace_drain(prefixed(fabric()), "pod1-spine1")
    found = Design(document=Document(Path("f.yml"), {}), intent=wrong, topology=wire(wrong)).findings
    assert f"Use a name such as '{PREFIX}pod1-spine1'" in " ".join(one.line for one in found)


def replace_drain(intent: FabricIntent, name: str) -> FabricIntent:
    return intent.model_copy(update={"drain": (name,)})


def test_the_longest_names_are_host_names() -> None:
    """RFC 1123: 63 characters; SR Linux, SONiC and EOS take as many."""
    longest = wire(prefixed(fabric(backend__planes=2), "a-prefix-of-20-char-"))
    assert max(len(node.name) for node in longest.nodes) <= 63
