"""The list of commits that `show system commit` prints, newest first."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from railfab.platforms.session import ChangeName
from railfab.platforms.shared.change_tokens import change_of_token

_ENTRY = re.compile(
    r"^(?P<number>\d+) +(?P<date>\S+ \S+ \S+) by (?P<user>\S+) via (?P<via>\S+)"
    r"(?P<timed> commit confirmed)?(?:, rollback in (?P<minutes>\d+)mins?)?\s*$"
)
_PENDING = "rollback pending"


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedCommit:
    """One commit. is_timed: whether it was to be confirmed; is_pending: whether it still is, within minutes_left.

    change: that its comment names; None without one.
    """

    date: str
    user: str
    is_timed: bool
    is_pending: bool
    minutes_left: int
    change: ChangeName | None = None


def commits_of(text: str) -> list[ListedCommit]:
    """The commits of a list."""
    commits: list[ListedCommit] = []
    for line in text.splitlines():
        if match := _ENTRY.match(line):
            minutes = match["minutes"]
            commits.append(
                ListedCommit(
                    date=match["date"],
                    user=match["user"],
                    is_timed=match["timed"] is not None,
                    is_pending=minutes is not None,
                    minutes_left=int(minutes or 0),
                )
            )
        elif commits and line.startswith(" "):
            commits[-1] = _with_comment(commits[-1], line.strip())
    return commits


def _with_comment(commit: ListedCommit, comment: str) -> ListedCommit:
    if comment == _PENDING:
        return replace(commit, is_pending=True)
    return replace(commit, change=change_of_token(comment) or commit.change)
