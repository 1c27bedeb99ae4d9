"""Samples of matrices: what `make test` leaves out is marked, and runs only where -m names the mark."""

from __future__ import annotations

import pytest
from tests.sampled import sampled


@pytest.mark.parametrize("case", sampled(["sample", "rest"], few=["sample"]))
def test_a_case_outside_the_sample_runs_only_where_the_mark_is_named(case: str, pytestconfig: pytest.Config) -> None:
    assert case == "sample" or "matrix" in pytestconfig.getoption("markexpr")


def test_every_case_is_in_the_matrix_or_in_the_sample() -> None:
    cases = sampled([("a", 1), ("a", 2), ("b", 1)], few=[("a", 2)])
    assert [case.values for case in cases] == [("a", 1), ("a", 2), ("b", 1)]
    assert [bool(case.marks) for case in cases] == [True, False, True]


def test_cases_of_a_mapping_have_its_keys_as_names() -> None:
    cases = sampled({"one": ("a", 1), "two": ("b", 2)}, few=["two"])
    assert [(case.id, case.values, bool(case.marks)) for case in cases] == [
        ("one", ("a", 1), True),
        ("two", ("b", 2), False),
    ]


def test_a_sample_is_a_part_of_the_cases() -> None:
    with pytest.raises(AssertionError):
        sampled([1, 2], few=[3])
