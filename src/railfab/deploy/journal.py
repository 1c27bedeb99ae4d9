"""The journal of a fabric: its deploys, and what each switch ran before each of them.

One folder a deploy, `STATE/FABRIC.deploys/NUMBER-ID`: `deploy.json`, the former configurations in `before/`, and a lock
that the process of the deploy holds. The number orders the deploys, independent of the clocks of their clients. A
configuration is written just before its switch is changed, so that an interrupted deploy can be rolled back too.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from getpass import getuser
from pathlib import Path
from secrets import token_hex
from socket import gethostname
from typing import Any

from railfab.deploy.lock import fabric_lock, is_running, running_lock
from railfab.endpoints import PART, write_private
from railfab.errors import RailfabError
from railfab.platforms import ChangeName
from railfab.text.counted import listed

KEPT = 20
"""Deploys whose configurations are kept; older ones are removed when a deploy begins."""

RECORD, BEFORE, LOCK = "deploy.json", "before", "running.lock"
UNDONE = ("deploy", "rollback")
"""Verbs that a rollback undoes."""
OPPOSITE = {"drain": "undrain", "undrain": "drain"}
FROM_FOLDER = ("number", "switches", "running")
"""Fields of a record that are not in its file."""


def new_change() -> ChangeName:
    """A name for a deploy that begins now: `20261122T093012.345Z-4f2a`, the user and the host."""
    now = datetime.now(UTC)
    deploy = f"{now:%Y%m%dT%H%M%S}.{now.microsecond // 1000:03d}Z-{token_hex(2)}"
    return ChangeName(deploy=deploy, user=_user(), host=gethostname() or "localhost")


def _user() -> str:
    try:
        return getuser()
    except (OSError, KeyError):
        return "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployRecord:
    """One deploy. verb: `deploy`, `rollback`, `drain` or `undrain`.

    results: by switch, `changed`, `no change`, `failed` or `unsettled`. number: its place in the order of deploys; 0
    for those of releases that did not number them. began, ended: times by the clock of `host`; `ended` is empty where
    it is not known. switches: those whose former configuration is kept. finished: whether it ended by itself; a killed
    one did not. running: whether its process still runs.
    """

    deploy: str
    user: str
    host: str
    verb: str
    began: str
    ended: str = ""
    finished: bool = False
    results: Mapping[str, str] = field(default_factory=dict)
    number: int = 0
    switches: tuple[str, ...] = ()
    running: bool = False

    @property
    def change(self) -> ChangeName:
        return ChangeName(deploy=self.deploy, user=self.user, host=self.host)

    @property
    def folder(self) -> str:
        """The name of its folder in the journal."""
        return f"{self.number:06}-{self.deploy}" if self.number else self.deploy

    @property
    def may_have_changed(self) -> bool:
        """Whether a switch may run something else since; not so when each one refused the change."""
        return not self.finished or any(result in ("changed", "unsettled") for result in self.results.values())


class OpenDeploy:
    """A deploy that is being written to the journal. Thread-safe: each switch has a file of its own."""

    def __init__(self, folder: Path, record: DeployRecord) -> None:
        self._folder = folder
        self._record = record

    @property
    def change(self) -> ChangeName:
        return self._record.change

    def keep(self, name: str, text: str) -> None:
        """Store what a switch runs, before it is changed. Raises RailfabError when that is not possible."""
        _write(self._folder / BEFORE / name, text)

    def finish(self, results: Mapping[str, str]) -> None:
        """Record how it ended."""
        document = {**_document(self._record), "ended": _now(), "finished": True, "results": dict(results)}
        _write(self._folder / RECORD, json.dumps(document, indent=2) + "\n")

    def close(self) -> None:
        """Remove the record of a deploy that has changed nothing."""
        if not (self._folder / BEFORE).is_dir():
            shutil.rmtree(self._folder, ignore_errors=True)


class Journal:
    """The journal of one fabric in a state folder."""

    def __init__(self, state: Path, fabric: str) -> None:
        self.folder = state / f"{fabric}.deploys"
        self._state, self._fabric = state, fabric

    @contextmanager
    def open(self, verb: str) -> Iterator[OpenDeploy]:
        """Begin a deploy under the lock of the fabric, and remove the oldest ones.

        verb: as DeployRecord has it. Call `finish` at its end; without it, the deploy counts as interrupted.
        Raises RailfabError when another process changes the fabric, or the folder cannot be written.
        """
        change = new_change()
        with fabric_lock(self._state, self._fabric, change):
            number = 1 + max((_order(folder)[0] for folder in self._folders()), default=0)
            self._prune()
            record = DeployRecord(**asdict(change), verb=verb, began=_now(), number=number)
            folder = self.folder / record.folder
            with running_lock(folder / LOCK):
                _write(folder / RECORD, json.dumps(_document(record), indent=2) + "\n")
                entry = OpenDeploy(folder, record)
                try:
                    yield entry
                finally:
                    entry.close()

    def _prune(self) -> None:
        """Remove the oldest deploys, and what is left of those that were killed before they changed a switch."""
        found = self._folders()
        used = [folder for folder in found if (folder / BEFORE).is_dir()]
        for old in set(found) - set(used[-(KEPT - 1) :]):
            shutil.rmtree(old, ignore_errors=True)

    def deploys(self) -> tuple[DeployRecord, ...]:
        """The deploys that began to change a switch, oldest first. Raises RailfabError for a damaged record."""
        return tuple(_record(folder) for folder in self._folders() if _switches(folder))

    def is_own(self, change: ChangeName) -> bool:
        """Whether a change was begun from this state folder."""
        folders = [folder for folder in self._folders() if _order(folder)[1] == change.deploy]
        return any((folder / RECORD).is_file() and _record(folder).change == change for folder in folders)

    def last(self) -> DeployRecord:
        """The last deploy that changed a switch, rollbacks apart. Raises RailfabError when there is none."""
        every = self.deploys()
        deploys = [record for record in every if record.verb == "deploy" and record.may_have_changed]
        if not deploys:
            problem, remedy = (
                "has no deploy that changed a switch",
                _remedy_unknown([record for record in every if record.verb in UNDONE]),
            )
            raise RailfabError(str(self.folder), problem, remedy)
        return deploys[-1]

    def later_by_clock(self, record: DeployRecord) -> DeployRecord | None:
        """A deploy before this one that began later than it, by the clocks of those who made them."""
        earlier = [entry for entry in self.deploys() if entry.number < record.number and entry.began > record.began]
        return max(earlier, key=lambda entry: entry.began, default=None)

    def texts_before(self, deploy: str) -> dict[str, str]:
        """The configuration of each switch before a deploy, for the switches that it or a later one changed.

        Raises RailfabError when the journal has no such deploy. Drains are none: a rollback leaves them as they are.
        """
        every = self.deploys()
        deploys = [record for record in every if record.verb in UNDONE]
        names = [record.deploy for record in deploys]
        if verb := next((one.verb for one in every if one.deploy == deploy and one not in deploys), None):
            article = "an" if verb[0] in "aeiou" else "a"
            problem = f"is {article} {verb}, which a rollback leaves as it is"
            remedy = f"Use railfab {OPPOSITE.get(verb, verb)} for its switches"
            raise RailfabError(f"deploy {deploy!r}", problem, remedy)
        if deploy not in names:
            raise RailfabError(f"deploy {deploy!r}", f"is not in {self.folder}", _remedy_unknown(deploys))
        texts: dict[str, str] = {}
        for record in reversed(deploys[names.index(deploy) :]):
            texts |= {name: _read(self.folder / record.folder / BEFORE / name) for name in record.switches}
        return texts

    def _folders(self) -> list[Path]:
        """The folders of deploys, oldest first."""
        return sorted(self.folder.iterdir(), key=_order) if self.folder.is_dir() else []


def _order(folder: Path) -> tuple[int, str]:
    """The number and the ID of the deploy of a folder; releases without numbers named it by the ID alone."""
    number, _, deploy = folder.name.partition("-")
    return (int(number), deploy) if number.isdecimal() else (0, folder.name)


def _remedy_unknown(deploys: Sequence[DeployRecord]) -> str:
    if deploys:
        return f"Name one of these with --to: {listed([record.deploy for record in reversed(deploys)])}"
    return "Name the state folder of the deploy with --state; a deploy that changes no switch leaves nothing to undo"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _document(record: DeployRecord) -> dict[str, Any]:
    return {key: value for key, value in asdict(record).items() if key not in FROM_FOLDER}


def _switches(folder: Path) -> tuple[str, ...]:
    """The switches whose former configurations a deploy has kept as a whole."""
    before = folder / BEFORE
    files = before.iterdir() if before.is_dir() else ()
    return tuple(sorted(file.name for file in files if not file.name.endswith(PART)))


def _record(folder: Path) -> DeployRecord:
    held = is_running(folder / LOCK)  # looked at first: what is read after its release is final
    try:
        written = json.loads(_read(folder / RECORD))
        record = DeployRecord(**written, number=_order(folder)[0], switches=_switches(folder))
        return replace(record, running=held and not record.finished)
    except (ValueError, TypeError) as error:
        remedy = f"Remove the folder {folder}; its configurations are then lost"
        raise RailfabError(str(folder / RECORD), f"is not a record of a deploy ({error})", remedy) from None


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        problem = f"cannot be read ({getattr(error, 'strerror', None) or 'not UTF-8 text'})"
        raise RailfabError(str(path), problem, f"Remove the folder {path.parent}, or restore it") from None


def _write(path: Path, text: str) -> None:
    try:
        write_private(path, text)
    except OSError as error:
        problem = f"cannot be written ({(error.strerror or str(error)).lower()})"
        raise RailfabError(str(path), problem, "Name another folder with --state") from None
