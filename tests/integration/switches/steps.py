"""A switch of a twin that calls the test after each step of a deploy, before its answer is sent.

A step is a command that changes something on the switch: of a CLI, a verb in the `dialect.yml` of its platform and each
block of a pasted text; of a shell, a request that writes or removes a file; of gNMI, a Set. So a deploy can be stopped
at moments that do not depend on the load of the machine, and neither its code nor the switch's is another.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from railfab.gnmi.target import Commit, Edit
from railfab.platforms import platform
from railfab.ssh import END_OF_TEXT, Cli, NewCli, ReadInput, Reply
from railfab.twin import Twin
from railfab.twin.ssh_server import SwitchSsh

READS = re.compile(r"(?:show|run|dir|terminal|enable|set cli)\b")
PASTED = re.compile(r".*\bblock \d+")
WRITES = re.compile(r"mkdir |cat > |> /run/|rm -")
"""What a request of a shell has in it that changes something; others read."""

OnStep = Callable[[str], None]
"""Called with the name of a step, in a thread of its connection alone."""


class WatchedCli:
    """A CLI that tells each step after it was made."""

    def __init__(self, cli: Cli, verbs: Sequence[re.Pattern[str]], on_step: OnStep) -> None:
        self._cli = cli
        self._verbs = verbs
        self._on_step = on_step
        self._takes_text = False

    def greeting(self) -> Reply:
        return self._cli.greeting()

    def answer(self, line: str, more: bool = False, /) -> Reply:
        reply = self._cli.answer(line, more)
        in_text, self._takes_text = self._takes_text, reply.takes_text
        if line == END_OF_TEXT or (not in_text and any(verb.fullmatch(line) for verb in self._verbs)):
            self._on_step("text" if line == END_OF_TEXT else line)
        return reply

    def execute(self, command: str, read_input: ReadInput) -> Reply:
        reply = self._cli.execute(command, read_input)
        if WRITES.search(command):
            self._on_step(command)
        return reply

    def closed(self) -> None:
        self._cli.closed()


@contextmanager
def watched(twin: Twin, name: str, on_step: OnStep) -> Iterator[None]:
    """A switch whose steps are told, as long as this lasts."""
    switch, ssh = twin._switches[name], twin._servers[name].ssh
    commit = switch.set_commit

    def set_commit(edits: Sequence[Edit], extension: Commit) -> None:
        commit(edits, extension)
        on_step(f"Set {extension.action.name}")

    switch.set_commit = set_commit  # type: ignore[method-assign]
    try:
        if ssh is None:
            yield
        else:
            verbs = _verbs(twin.endpoints.by_name()[name].platform)
            with served_by(ssh, lambda cli: WatchedCli(cli, verbs, on_step)):
                yield
    finally:
        del switch.set_commit  # type: ignore[method-assign]


@contextmanager
def served_by(ssh: SwitchSsh, wrapped: Callable[[Cli], Cli]) -> Iterator[None]:
    """An SSH server whose CLI is wrapped."""
    former = ssh._cli
    try:
        _restart(ssh, lambda user: wrapped(former(user)))
        yield
    finally:
        _restart(ssh, former)


def _restart(ssh: SwitchSsh, cli: NewCli) -> None:
    ssh.stop()
    ssh._cli = cli
    ssh.start()


def _verbs(name: str) -> list[re.Pattern[str]]:
    """The commands of a platform's CLI that change something, and the mark after each block of a pasted text."""
    dialect: Any = platform(name).dialect
    changing = [line for line in (dialect.verbs.values() if dialect else ()) if not READS.match(line)]
    return [PASTED, *(re.compile(re.sub(r"\\\{\w+\\\}", ".+", re.escape(line))) for line in changing)]
