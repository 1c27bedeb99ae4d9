"""The order of a change on one switch, whatever its platform: commit, read back, confirm; or roll back."""

from __future__ import annotations

import difflib
from types import TracebackType
from typing import Self

import pytest

from railfab.deploy.tasks import commit
from railfab.device import Observed
from railfab.errors import CommitRefused

BEFORE, AFTER = "hostname leaf1\nmtu 1500\n", "hostname leaf1\nmtu 9000\n"


class Switch:
    """A switch in memory with one session. does_not_take: a line that it accepts and does not keep."""

    def __init__(self, *, does_not_take: str = "") -> None:
        self.running, self.saved = BEFORE, BEFORE
        self.steps: list[str] = []
        self._ignored = does_not_take

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def load(self) -> str:
        return self.running

    def diff(self, text: str) -> str:
        self.steps.append("diff")
        return "\n".join(difflib.unified_diff(self.running.splitlines(), text.splitlines(), lineterm=""))

    def commit(self, text: str, *, confirm_within_s: int) -> None:
        self.steps.append(f"commit, to be confirmed within {confirm_within_s} s")
        self.running = "".join(line for line in text.splitlines(True) if line.strip() != self._ignored)

    def confirm(self) -> None:
        self.steps.append("confirm")
        self.saved = self.running

    def rollback(self) -> None:
        self.steps.append("rollback")
        self.running = self.saved

    def observe(self) -> Observed:
        return Observed()


def test_a_change_is_read_back_and_then_confirmed() -> None:
    switch = Switch()
    commit(switch, "leaf1", AFTER, 120)
    assert switch.steps == ["commit, to be confirmed within 120 s", "diff", "confirm"]
    assert switch.running == switch.saved == AFTER


def test_a_change_that_is_not_taken_whole_is_rolled_back_and_names_a_line_that_is_missing() -> None:
    switch = Switch(does_not_take="mtu 9000")
    with pytest.raises(CommitRefused) as refused:
        commit(switch, "leaf1", AFTER, 120)
    assert str(refused.value).startswith("leaf1: ")
    assert "(+mtu 9000) and was rolled back" in str(refused.value)
    assert switch.steps[-1] == "rollback"
    assert switch.running == switch.saved == BEFORE
