"""Every committed design is planned, documented and drawn as it was, byte for byte."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from tests.sampled import sampled
from tests.topology.design_goldens import GOLDEN, PICTURES, committed, golden
from tests.topology.test_designs import NOTES

from railfab.intent.starters import designs

ANEW = "changed on purpose? Look at the difference, then: python -m tests.topology.design_goldens"
MOST_BYTES = 1_000_000
LARGEST = {"gpu32768", "gpu131072"}
"""Take longer than all others together; tests/fabric renders them."""


@pytest.fixture(autouse=True)
def no_collector() -> Iterator[None]:
    """As `railfab plan` does: the objects of a large fabric stay, and looking through them takes most of the time."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.parametrize("name", sampled(list(designs()), few=set(designs()) - LARGEST))
def test_a_design_is_planned_and_drawn_as_committed(name: str) -> None:
    documents, picture = golden(name)
    assert ("## Findings\n\nNone." in documents["summary.md"]) is (name not in NOTES)
    assert documents == committed(name), ANEW
    assert picture == (PICTURES / f"{name}.svg").read_text(), ANEW


def test_nothing_is_kept_of_designs_that_are_gone_and_not_too_much_of_others() -> None:
    assert {path.name for path in GOLDEN.iterdir()} == set(designs())
    assert {path.stem for path in PICTURES.iterdir()} == set(designs())
    assert sum(path.stat().st_size for path in GOLDEN.rglob("*") if path.is_file()) < MOST_BYTES
