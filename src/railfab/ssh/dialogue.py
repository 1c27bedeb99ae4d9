"""The interface between an SSH session and the CLI that answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Output of a CLI: lines, and then its prompt. status: of an exec request. closes: the session ends."""

    output: str = ""
    prompt: str = ""
    status: int = 0
    closes: bool = False


class Cli(Protocol):
    """A CLI as one session has it, with the state of that session: its mode, its candidate."""

    def greeting(self) -> Reply:
        """Output at the begin of a session."""
        ...

    def answer(self, line: str) -> Reply:
        """Answer a line; called in a worker thread, one line at a time."""
        ...


NewCli: TypeAlias = Callable[[], Cli]
"""Makes the CLI of a new session."""
