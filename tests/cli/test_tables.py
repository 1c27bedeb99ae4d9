"""Tables on stdout."""

from __future__ import annotations

from itertools import product

import pytest

from railfab.cli.common import print_table
from railfab.cli.tables import columns, laid_out
from railfab.text.folding import alike_as_one, folded, folded_sets, number_ranges


@pytest.fixture(autouse=True)
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    """A width that neither COLUMNS nor a terminal limits."""
    monkeypatch.delenv("COLUMNS", raising=False)


def test_numbers_stand_to_the_right_and_names_to_the_left(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("Cables", ("between", "count"), [("leaf to spine", "1,024"), ("host to leaf", 64)])
    assert capsys.readouterr().out == (
        "Cables\n"
        "between        count\n"
        "leaf to spine  1,024\n"
        "host to leaf      64\n"
        "\n"
    )  # fmt: skip


def test_a_row_is_one_line_whatever_its_cells_hold(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("", ("node", "detail", "note"), [("a", "exited\nby itself", None), ("日本", "[red]", "x" * 400)])
    heading, first, second, *rest = capsys.readouterr().out.splitlines()
    assert (heading, first) == ("node  detail            note", "a     exited by itself")
    assert second == "日本  [red]             " + "x" * 400
    assert rest == [""]


def test_a_table_without_rows_is_its_heading(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("Racks", ("rack", "kW"), [])
    assert capsys.readouterr().out == "Racks\nrack  kW\n\n"


ROWS = [
    ["design", "GPUs", "choose it for"],
    ["dual-mlag", "32", "one rack that must survive the failure of a switch"],
    ["multi-pod", "1,024", "full pods"],
]


def test_a_table_that_is_too_wide_wraps_its_texts_between_words() -> None:
    assert laid_out(ROWS, 40) == [
        "design      GPUs  choose it for",
        "dual-mlag     32  one rack that must",
        "                  survive the failure of",
        "                  a switch",
        "multi-pod  1,024  full pods",
    ]


def test_a_table_is_wrapped_down_to_its_longest_words_and_a_block_of_lines_one_column_below() -> None:
    """The longest words of its columns have 9, 5 and 7 columns, and two spaces are between them."""
    wrapped = laid_out(ROWS, 25)
    assert wrapped[0] == "design      GPUs  choose"
    assert max(map(len, wrapped)) <= 25
    assert laid_out(ROWS, 24)[0] == "design         dual-mlag"


def test_a_table_whose_words_are_too_wide_is_a_block_of_lines_per_row() -> None:
    assert laid_out(ROWS, 24) == [
        "design         dual-mlag",
        "GPUs           32",
        "choose it for  one rack",
        "               that must",
        "               survive",
        "               the",
        "               failure",
        "               of a",
        "               switch",
        "",
        "design         multi-pod",
        "GPUs           1,024",
        "choose it for  full pods",
    ]


@pytest.mark.parametrize("width", [None, 70, 1000])
def test_a_table_that_fits_is_a_line_per_row(width: int | None) -> None:
    assert laid_out(ROWS, width) == [
        "design      GPUs  choose it for",
        "dual-mlag     32  one rack that must survive the failure of a switch",
        "multi-pod  1,024  full pods",
    ]


@pytest.mark.parametrize(("stated", "width"), [("80", 80), ("12", 12), ("0", None), ("wide", None), ("", None)])
def test_columns_states_the_width_where_stdout_is_no_terminal(
    stated: str, width: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", stated)
    assert columns() == width


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["pod1-spine1"], "pod1-spine1"),
        ([f"pod1-seg{s}-leaf{leaf}" for s, leaf in product((1, 2), range(1, 5))], "pod1-seg[1-2]-leaf[1-4]"),
        (["super2", "super3", "super7"], "super[2-3,7]"),
        (["super10", "super9"], "super[9-10]"),
        ([f"leaf{n}" for n in (1, 3, 5, 7)], "leaf[1,3,5,7]"),
        ([f"leaf{n}" for n in (1, 3, 5, 7, 9)], "leaf1 and 4 more"),
        (["a1-b1", "a2-b2"], "a1-b1 and 1 more"),
        (["leaf1", "spine1"], "leaf1 and 1 more"),
        (["front", "front"], "front and 1 more"),
        ([f"leaf{n}" for n in range(1, 2000, 2)], "leaf1 and 999 more"),
    ],
)
def test_names_are_folded_to_ranges_where_they_are_all_of_a_product(names: list[str], text: str) -> None:
    assert folded(names) == text


def test_names_that_are_no_product_are_parted_by_their_first_numbers() -> None:
    names = ["pod1-leaf1", "pod1-leaf2", "pod1-leaf3", "pod2-leaf1", "super1", "super2"]
    assert list(folded_sets(names)) == ["pod1-leaf[1-3]", "pod2-leaf1", "super[1-2]"]
    scattered = [f"leaf{number}" for number in (1, 3, 5, 7, 9)]
    assert list(folded_sets(scattered)) == scattered
    assert list(folded_sets(["leaf1", "leaf1"])) == ["leaf1", "leaf1"]


def test_numbers_are_folded_to_ranges() -> None:
    assert number_ranges([1, 2, 3, 5, 8, 9]) == "1-3,5,8-9"


def test_lines_that_many_switches_have_alike_are_one() -> None:
    few = [(f"leaf{number}", f"leaf{number}: no answer from 10.0.0.{number}. Check it.") for number in range(1, 5)]
    assert list(alike_as_one(few)) == [line for _, line in few]
    many = [*few, ("leaf5", "leaf5: no answer from 10.0.0.5. Check it."), ("spine1", "spine1: refuses the login.")]
    assert list(alike_as_one(many)) == [
        "leaf[1-5]: no answer from 10.0.0.1. Check it. (as leaf1 says; 5 switches)",
        "spine1: refuses the login.",
    ]
