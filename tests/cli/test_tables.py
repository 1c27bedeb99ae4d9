"""Tables on stdout."""

from __future__ import annotations

import pytest

from railfab.cli.common import print_table


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
