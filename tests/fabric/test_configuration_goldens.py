"""The configurations of every committed fabric are rendered as committed, byte for byte."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fabric.configuration_goldens import (
    GOLDEN,
    committed,
    golden,
    intents,
    remove_stale,
    sampled,
    write,
)
from tests.fabric.thinned import thinned, uplinks_of

from railfab.device import Port

ANEW = "changed on purpose? Look at the difference, then: python -m tests.fabric.configuration_goldens"
MOST_BYTES = 1_000_000


@pytest.mark.parametrize("name", intents())
def test_a_leaf_and_a_spine_are_rendered_as_committed(name: str) -> None:
    assert golden(name) == committed(name), ANEW


def test_the_configurations_of_every_intent_are_committed_and_no_others() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(intents())
    assert sum(path.stat().st_size for path in GOLDEN.rglob("*") if path.is_file()) < MOST_BYTES


def test_writing_removes_the_files_and_fabrics_that_are_no_more(tmp_path: Path) -> None:
    write(tmp_path, {"kept": {"old.cfg": ""}, "gone": {"leaf.cfg": ""}})
    write(tmp_path, {"kept": {"leaf.cfg": "text"}})
    remove_stale(tmp_path, {"kept"})
    assert [str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")] == ["kept", "kept/leaf.cfg"]


@pytest.mark.parametrize("name", ["routed", "mixed-eos-spine", "mixed-sonic-leaf", "dual-plane"])
def test_a_leaf_keeps_a_port_to_a_host_and_one_to_a_spine_with_its_session(name: str) -> None:
    fabric = sampled(name)
    leaf = thinned(next(model for model in fabric.models.values() if "leaf" in model.name), fabric.topology)
    uplinks = uplinks_of(leaf.name, fabric.topology)
    ports = {one.name for one in leaf.interfaces if isinstance(one, Port)}
    assert (len(ports & uplinks), len(ports - uplinks), len(leaf.neighbors)) == (1, 1, 1)
