"""Tests that wait begin first, and those that compute give way to them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.order import COMPUTING, WAITING, computes, rank
from tests.priority import GIVES_WAY, OF_THE_RUN, can_return, give_way

TESTS = Path(__file__).parent


def test_what_waits_longest_begins_first() -> None:
    files = [TESTS / folder / "test_any.py" for folder in ("device", "cli", "twin", "faults")]
    assert sorted(files, key=rank) == [*files[:1:-1], *files[:2]]
    assert [computes(file) for file in files] == [True, False, False, False]


def test_every_folder_of_tests_is_there() -> None:
    assert not [name for name in (*WAITING, *COMPUTING) if not (TESTS / name).exists()]


@pytest.mark.skipif(not can_return(), reason="needs a process that may raise its priority, as root may")
def test_a_test_that_computes_has_given_way_and_what_waits_after_it_has_not() -> None:
    assert os.getpriority(os.PRIO_PROCESS, 0) == min(19, OF_THE_RUN + GIVES_WAY)
    give_way(computes=False)
    assert os.getpriority(os.PRIO_PROCESS, 0) == OF_THE_RUN
