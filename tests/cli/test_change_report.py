"""The exit code of a deploy, for scripts: all switches, some, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.cli.change_report import View, exit_code, print_outcomes, print_previews
from railfab.cli.common import Output
from railfab.cli.rollout_view import ResultLines
from railfab.deploy import Outcome, Preview
from railfab.fabric import design


@pytest.mark.parametrize(
    ("failed", "code", "total"), [(0, 0, "2 changed"), (1, 1, "1 changed, 1 failed"), (2, 2, "2 failed")]
)
def test_some_failed_is_1_and_all_failed_is_2(
    repository: Path, capsys: pytest.CaptureFixture[str], failed: int, code: int, total: str
) -> None:
    outcomes = [
        Outcome(
            name=name, changed=at >= failed, failed=at < failed, diff="", error="leaf: refused" if at < failed else None
        )
        for at, name in enumerate(("pod1-seg1-leaf1", "pod1-spine1"))
    ]
    fabric = design(repository / "labs" / "frr-pod" / "intent.yml")
    print_outcomes(fabric, outcomes, [], Output.TABLE)
    assert exit_code(outcomes) == code
    printed = capsys.readouterr()
    assert "2 of 6 switches: " in printed.out
    assert printed.out.strip().endswith(total)
    assert printed.err.count("railfab: leaf: refused") == failed


def preview(name: str, *lines: str) -> Preview:
    """A switch that would change in these lines."""
    diff = "\n".join(("--- running", "+++ candidate", "@@ -1 +1 @@", *lines))
    return Preview(name=name, text="", candidate="", diff=diff if lines else "")


def shown(repository: Path, capsys: pytest.CaptureFixture[str], previews: list[Preview], view: View) -> list[str]:
    fabric = design(repository / "inventory" / "fabrics" / "pod64.yml")
    print_previews(fabric, previews, Output.TABLE, view)
    return [line.rstrip() for line in capsys.readouterr().out.splitlines()]


def leaves(lines: list[str]) -> list[Preview]:
    names = ("pod1-seg1-leaf1", "pod1-seg1-leaf2", "pod1-seg2-leaf1", "pod1-seg2-leaf2")
    return [preview(name, line) for name, line in zip(names, lines, strict=True)]


@pytest.fixture(autouse=True)
def unlimited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.mark.parametrize("view", View)
def test_the_same_difference_is_shown_once_or_for_each_switch_or_counted(
    repository: Path, capsys: pytest.CaptureFixture[str], view: View
) -> None:
    lines = shown(repository, capsys, leaves(4 * ["+set / qos kmin 7"]), view)
    assert lines.count("+set / qos kmin 7") == {View.FOLDED: 1, View.FULL: 4, View.STAT: 0}[view]
    assert ("pod1-seg[1-2]-leaf[1-2]" in lines) is (view is View.FOLDED)
    assert ("pod1-seg2-leaf1" in lines) is (view is View.FULL)
    assert lines[-4:] == [
        "switch                   result        lines",
        "pod1-seg[1-2]-leaf[1-2]  would change  +1 -0",
        "",
        "4 of 8 switches: 4 would change",
    ]


def test_switches_that_differ_in_names_addresses_and_as_numbers_only_are_folded_and_it_is_said(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [f"+set / bgp as 420000100{n} peer 10.17.{n}.1/31 fd00:17:{n}::1 to pod1-spine{n}" for n in (1, 2, 3, 4)]
    lines = shown(repository, capsys, leaves(found), View.FOLDED)
    assert [line for line in lines if line.startswith("+set")] == found[:1]
    assert (
        "  pod1-seg1-leaf1 is shown; the others differ in their own names, addresses and AS numbers, and the "
        "ports at the other ends of their cables (--full shows each)"
    ) in lines


def test_the_leaves_of_a_fabric_are_one_difference_and_its_spines_another(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fabric = design(repository / "inventory" / "fabrics" / "pod64.yml")
    found = [preview(name, *(f"+{line}" for line in text.splitlines())) for name, text in fabric.texts.items()]
    print_previews(fabric, found, Output.TABLE)
    shown = capsys.readouterr().out.splitlines()
    assert [line for line in shown if line.startswith("pod1-")][:2] == ["pod1-seg[1-2]-leaf[1-2]", "pod1-spine[1-4]"]
    assert len(shown) < sum(len(fabric.texts[name].splitlines()) for name in ("pod1-seg1-leaf1", "pod1-spine1")) + 20


def test_another_port_of_the_switch_itself_is_another_difference(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [f"+set / interface ethernet-1/{port} mtu 9214" for port in (1, 2, 1, 1)]
    assert "pod1-seg1-leaf2" in shown(repository, capsys, leaves(found), View.FOLDED)


def test_another_threshold_is_another_difference(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = [f"+set / qos kmin {kmin}" for kmin in (7, 7, 8, 8)]
    lines = shown(repository, capsys, leaves(found), View.FOLDED)
    assert [line for line in lines if line.startswith(("+set", "pod1-seg1-leaf[", "pod1-seg2-leaf["))][:4] == [
        "pod1-seg1-leaf[1-2]",
        "+set / qos kmin 7",
        "pod1-seg2-leaf[1-2]",
        "+set / qos kmin 8",
    ]


def test_switches_with_the_same_result_are_one_row(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = ("pod1-seg1-leaf1", "pod1-spine1", "pod1-spine2", "pod1-spine4")
    lines = shown(repository, capsys, [preview(name) for name in names], View.FOLDED)
    assert [line.split() for line in lines[1:3]] == [
        ["pod1-seg1-leaf1", "no", "change"],
        ["pod1-spine[1-2,4]", "no", "change"],
    ]


def test_a_run_that_is_late_says_what_is_done_and_then_each_result_as_it_comes() -> None:
    said: list[str] = []
    lines = ResultLines(["leaf1", "leaf2", "spine1"], said.append)
    lines.on_outcome(Outcome(name="leaf1", changed=True, failed=False, diff="+a"))
    assert said == []
    lines.late()
    lines.on_outcome(Outcome(name="leaf2", changed=False, failed=False, diff=""))
    lines.on_outcome(Outcome(name="spine1", changed=False, failed=True, diff="", unsettled=True))
    assert said == ["leaf1: changed", "waiting for leaf2, spine1", "leaf2: no change", "spine1: failed, check it"]


def test_a_run_whose_switches_are_all_done_waits_for_none() -> None:
    """The timer may expire between the last result and the end of the run."""
    said: list[str] = []
    lines = ResultLines(["leaf1"], said.append)
    lines.on_outcome(Outcome(name="leaf1", changed=True, failed=False, diff="+a"))
    lines.late()
    assert said == []
