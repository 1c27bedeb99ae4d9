"""The configurations of every committed fabric are rendered as committed, byte for byte."""

from __future__ import annotations

import pytest
from tests.fabric.configuration_goldens import GOLDEN, committed, golden, rendered

ANEW = "changed on purpose? Look at the difference, then: python -m tests.fabric.configuration_goldens"
MOST_BYTES = 600_000


@pytest.mark.parametrize("name", [path.name for path in sorted(GOLDEN.iterdir())])
def test_a_leaf_and_a_spine_are_rendered_as_committed(name: str) -> None:
    assert golden(name) == committed(name), ANEW


def test_every_fabric_that_can_be_rendered_is_committed_and_no_other() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(rendered())
    assert sum(path.stat().st_size for path in GOLDEN.rglob("*") if path.is_file()) < MOST_BYTES
