"""A session with Toy OS: its CLI over SSH."""

from __future__ import annotations

import difflib
import json
from hashlib import sha256
from ipaddress import ip_address
from types import TracebackType
from typing import Any, NoReturn, Self

from railfab.device import Family, Observed, ObservedBgpSession, ObservedFamily, ObservedInterface
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused, DeviceError, Unreachable, UnsupportedFeature
from railfab.platforms import ChangeName, Identity, Image, Pending, Running, Staged, Verb
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.cli_connection import CliConnection
from railfab_toy.configuration import FORMAT

BLOCK_LINES = 40
"""Lines of a candidate that are typed at once: an answer of the CLI takes some 40 ms."""


class ToySession:
    """See `railfab.platforms.Session`. The switch keeps a change by its name, and reverts it unless it is confirmed."""

    def __init__(self, endpoint: Endpoint, credentials: Credentials) -> None:
        dialect = yaml_files.dialect(__package__)
        self._name = endpoint.name
        self._cli = CliConnection(endpoint, credentials, dialect)
        self._verbs = dialect.verbs

    def __enter__(self) -> Self:
        self._cli.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._cli.close()

    def running(self) -> Running:
        text = self._text()
        hostname, version = self._cli.run(self._verbs["identity"]).split()
        return Running(
            text=text,
            revision=_revision(text),
            identity=Identity(hostname=hostname, version=version),
            pending=self._pending(),
        )

    def stage(self, text: str, change: ChangeName | None = None) -> Staged:
        running = self._text()
        before, after = (FORMAT.text(FORMAT.tree(side)).splitlines() for side in (running, text))
        changes = "\n".join(difflib.unified_diff(before, after, "running", "candidate", lineterm="", n=1))
        if changes:
            self._type_candidate(text)
            self._refusing(self._verbs["check"])
            self._cli.run(self._verbs["abort"])
        return Staged(text=text, diff=changes, former=running, revision=_revision(running))

    def commit(self, staged: Staged, change: ChangeName, within_s: int) -> None:
        if _revision(self._text()) != staged.revision:
            raise CommitRefused(self._name, "has changed since its differences were read", "Review them again")
        self._type_candidate(staged.text)
        self._refusing(self._verbs["commit"].format(seconds=within_s, change=change))

    def confirm(self, change: ChangeName) -> None:
        self._refusing(self._verbs["confirm"].format(change=change))

    def revert(self, change: ChangeName) -> None:
        self._cli.run(self._verbs["revert"].format(change=change))

    def observe(self, *, resolved: bool = True, routes: bool = False) -> Observed:
        state = json.loads(self._cli.run(self._verbs["state"]))
        unresolved = {} if resolved else {"resolved_addresses": None}
        return Observed(
            interfaces=tuple(ObservedInterface(**entry | unresolved) for entry in state["interfaces"]),
            sessions=tuple(map(_observed, state["sessions"])),
        )

    def operate(self, verb: Verb) -> NoReturn:
        raise UnsupportedFeature(self._name, f"cannot {verb}", "Deploy another intent")

    def install(self, image: Image) -> NoReturn:
        raise UnsupportedFeature(self._name, f"cannot install {image.file}", "Replace the switch")

    def _text(self) -> str:
        return self._cli.run(self._verbs["load"]) + "\n"

    def _pending(self) -> Pending | None:
        found = self._cli.run(self._verbs["pending"]).split()
        if not found:
            return None
        name, left_s = found
        description = f"{name} reverts in {left_s} s"
        return Pending(change=ChangeName.parse(name), description=description, reverts_in_s=float(left_s))

    def _type_candidate(self, text: str) -> None:
        self._cli.run(self._verbs["candidate"])
        lines = text.splitlines()
        blocks = (lines[first : first + BLOCK_LINES] for first in range(0, len(lines), BLOCK_LINES))
        self._cli.type_lines(self._verbs["add"].format(lines=json.dumps(block)) for block in blocks)

    def _refusing(self, command: str) -> None:
        """Run a command that the switch may refuse for what it changes. Raises CommitRefused."""
        try:
            self._cli.run(command)
        except Unreachable:
            raise
        except DeviceError as error:
            raise CommitRefused(self._name, error.problem, error.remedy) from None


def _observed(entry: dict[str, Any]) -> ObservedBgpSession:
    peer, families = entry.pop("peer"), entry.pop("families")
    return ObservedBgpSession(
        peer=ip_address(peer) if peer[0].isdigit() else peer,
        families=tuple(ObservedFamily(**{**found, "family": Family(found["family"])}) for found in families),
        **entry,
    )


def _revision(text: str) -> str:
    return sha256(text.encode()).hexdigest()
