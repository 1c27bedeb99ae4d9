"""The interface between an SSH session and the CLI that answers it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeAlias

END_OF_TEXT = "\x04"
"""Ctrl-D, which ends a text that a command reads from the terminal."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """Output of a CLI: lines, and then its prompt. status: of an exec request. closes: the session ends.

    errors: standard error of an exec request. takes_text: the lines that follow are a text that ends with END_OF_TEXT.
    line_break: echo of the line break after the next command, where that is not empty.
    """

    output: str = ""
    prompt: str = ""
    status: int = 0
    closes: bool = False
    errors: str = ""
    takes_text: bool = False
    line_break: str = "\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class CliUser:
    """The user of a session. writes: whether it may change the configuration. address: from which it is connected."""

    name: str
    writes: bool = True
    address: str = ""


ReadInput: TypeAlias = Callable[[], str]
"""Reads the standard input of an exec request to its end."""


class Cli(Protocol):
    """A CLI as one session has it, with the state of that session: its mode, its candidate."""

    def greeting(self) -> Reply:
        """Output at the begin of a session."""
        ...

    def answer(self, line: str, more: bool = False, /) -> Reply:
        """Answer a line of a shell; called in a worker thread, one line at a time.

        more: whether a line has arrived after it, so that its effect may wait for that line's.
        """
        ...

    def execute(self, command: str, read_input: ReadInput) -> Reply:
        """Answer an exec request; called in a worker thread, in a session of its own."""
        ...

    def closed(self) -> None:
        """Discard what ends with the session; called when the client has gone."""
        ...


NewCli: TypeAlias = Callable[[CliUser], Cli]
"""Makes the CLI of a new session."""


def execute_lines(cli: Cli, command: str) -> Reply:
    """Answer an exec request line by line, as a CLI does that has no shell below it."""
    output, reply = "", Reply()
    lines = command.splitlines()
    for place, line in enumerate(lines, start=1):
        reply = cli.answer(line, place < len(lines))
        output += reply.output
        if reply.closes:
            break
    return Reply(output=output, status=reply.status, closes=True)
