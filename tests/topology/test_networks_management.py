"""Management leaves in pairs, and one leaf for everything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.topology.fabric_intents import fabric

from railfab.errors import TopologyError
from railfab.fabric import Design, design
from railfab.findings import DesignCode, Severity
from railfab.intent import load_intent
from railfab.topology import Topology, wire

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"


def leaf_of(cluster: Topology, node: str, port: str = "mgmt0") -> str:
    """The management leaf that a port of a node is cabled to."""
    (found,) = (peer.node for own, peer, _ in cluster.ports_of(node) if own.name == port)
    return found


def with_management(folder: Path, **changes: Any) -> Design:
    """The cluster with other keys of its management; None leaves one out."""
    document = yaml.safe_load((FABRICS / "cluster.yml").read_text())
    kept = {key: value for key, value in (document["management"] | changes).items() if value is not None}
    path = folder / "cluster.yml"
    path.write_text(yaml.safe_dump(document | {"management": kept}))
    return design(path)


def test_no_failure_of_a_leaf_ends_all_access_to_a_host_or_to_two_switches_of_a_pair() -> None:
    cluster = wire(load_intent(FABRICS / "cluster.yml"))
    for host in cluster.hosts():
        assert (leaf_of(cluster, host.name), leaf_of(cluster, host.name, "bmc")) == ("mgmt-leaf1", "mgmt-leaf2")
    for pair in ("pod1-seg1-leaf", "pod1-spine", "front-leaf", "front-spine", "store-leaf", "store-spine"):
        assert {leaf_of(cluster, f"{pair}{index}") for index in (1, 2)} == {"mgmt-leaf1", "mgmt-leaf2"}
    assert design(FABRICS / "cluster.yml").findings == ()


def test_pairs_need_an_even_number_of_leaves() -> None:
    spines = {"count": 1, "rate_gbps": 10, "model": "7215-ixs-a1"}
    management = {"pairs": True, "leaves": {"count": 3, "model": "7215-ixs-a1"}, "spines": spines}
    with pytest.raises(TopologyError) as refused:
        wire(fabric(management=management))
    assert str(refused.value) == (
        "management.leaves.count: management.pairs needs pairs of leaves, and leaves.count is 3. Use 2 or 4."
    )


def test_one_management_leaf_for_everything_is_a_finding_whose_remedy_plans(tmp_path: Path) -> None:
    one = with_management(tmp_path, leaves={"count": 1, "model": "7215-ixs-a1"}, spines=None, pairs=None)
    (found,) = (found for found in one.findings if found.code is DesignCode.ONE_MANAGEMENT_LEAF)
    assert found.severity is Severity.WARNING
    assert found.remedy == (
        "Set management.leaves.count: 2, management.pairs: true and "
        "management.spines: {count: 2, rate_gbps: 10, model: 7215-ixs-a1}"
    )
    spines = {"count": 2, "rate_gbps": 10, "model": "7215-ixs-a1"}
    two = with_management(tmp_path, leaves={"count": 2, "model": "7215-ixs-a1"}, spines=spines, pairs=True)
    assert two.findings == ()


def test_management_without_leaves_has_no_network_and_no_finding_about_one(tmp_path: Path) -> None:
    found = with_management(tmp_path, leaves=None, spines=None, pairs=None)
    assert not [node for node in found.topology.nodes if node.name.startswith("mgmt-")]
    assert found.findings == ()
    assert all(model.management is not None for model in found.planned_models.values())
