"""A session with Toy OS: its CLI over SSH."""

from __future__ import annotations

import difflib
import json
from types import TracebackType
from typing import Self
from uuid import uuid4

from railfab.device import Observed, ObservedBgpSession, ObservedInterface
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused, DeviceError
from railfab.platforms import Dialect
from railfab.platforms.shared.cli_connection import CliConnection
from railfab_toy.lines import FORMAT


class ToySession:
    """See `railfab.platforms.Session`. The switch reverts a commit that is not confirmed in time."""

    def __init__(self, endpoint: Endpoint, credentials: Credentials, dialect: Dialect) -> None:
        self._name = endpoint.name
        self._cli = CliConnection(endpoint, credentials, dialect)
        self._verbs = dialect.verbs
        self._change = uuid4().hex

    def __enter__(self) -> Self:
        self._cli.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cli.close()

    def load(self) -> str:
        return self._cli.run(self._verbs["load"]) + "\n"

    def diff(self, text: str) -> str:
        before, after = (FORMAT.text(FORMAT.tree(side)).splitlines() for side in (self.load(), text))
        return "\n".join(difflib.unified_diff(before, after, "running", "candidate", lineterm="", n=1))

    def commit(self, text: str, *, confirm_within_s: int) -> None:
        self._cli.run(self._verbs["candidate"])
        self._cli.type_lines(self._verbs["line"].format(text=line) for line in text.splitlines())
        try:
            self._cli.run(self._verbs["commit"].format(seconds=confirm_within_s, change=self._change))
        except DeviceError as error:
            raise CommitRefused(self._name, error.problem, error.remedy) from None

    def confirm(self) -> None:
        self._cli.run(self._verbs["confirm"].format(change=self._change))

    def rollback(self) -> None:
        self._cli.run(self._verbs["revert"].format(change=self._change))

    def observe(self) -> Observed:
        state = json.loads(self._cli.run(self._verbs["state"]))
        return Observed(
            interfaces=tuple(ObservedInterface(**entry) for entry in state["interfaces"]),
            sessions=tuple(ObservedBgpSession(**entry) for entry in state["sessions"]),
        )
