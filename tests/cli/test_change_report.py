"""The exit code of a deploy, for scripts: all switches, some, or none."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.cli.change_report import exit_code, print_outcomes
from railfab.cli.common import Output
from railfab.deploy import Outcome
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
    print_outcomes(fabric, outcomes, {outcome.name: () for outcome in outcomes}, Output.TABLE)
    assert exit_code(outcomes) == code
    printed = capsys.readouterr()
    assert "2 of 6 switches: " in printed.out
    assert printed.out.strip().endswith(total)
    assert printed.err.count("railfab: leaf: refused") == failed
