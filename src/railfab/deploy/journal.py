"""The journal of a fabric: its deploys, their plans and steps, and what each switch ran before each of them.

One folder a deploy, `STATE/FABRIC.deploys/NUMBER-ID`: `deploy.json`, the plan of its waves in `plan.json`, its steps in
`steps`, what its gates read before the last wave in `gates.json`, the former configurations in `before/`, those that it
deploys in `after/`, and a lock that its process holds. The number orders the deploys, independent of the clocks of
their clients. A configuration is written just before its switch is changed, so that an interrupted deploy can be
continued, aborted and rolled back.
"""

from __future__ import annotations

import json
import re
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
from railfab.deploy.steps import DeploySteps, StepKind, StepLog, StepState, read_steps
from railfab.endpoints import PART, write_private
from railfab.errors import RailfabError
from railfab.platforms import ChangeName
from railfab.text.counted import listed

KEPT = 20
"""Deploys whose configurations are kept; older ones are removed when a deploy begins."""

RECORD, PLAN, STEPS, GATES = "deploy.json", "plan.json", "steps", "gates.json"
BEFORE, AFTER, LOCK = "before", "after", "running.lock"
UNDONE = ("deploy", "rollback")
"""Verbs that a rollback undoes."""
OPPOSITE = {"drain": "undrain", "undrain": "drain"}
ATTEMPT = re.compile(r"(?<=-[0-9a-f]{4})-\d+$")
"""End of the name of a change of a later attempt, after the ID of its deploy."""
FROM_FOLDER = ("number", "switches", "running", "waves", "waves_done", "damaged")
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

    results: by switch, see `Outcome.result`. stopped: why it ended before each switch had its change, one line. waves,
    waves_done: how many it has, and how many of them are done. number: its place in the order of deploys; 0 for those
    of releases that did not number them. began, ended: times by the clock of `host`; `ended` is empty where it is not
    known. switches: those whose former configuration is kept. finished: whether it ended by itself; a killed one did
    not. running: whether its process still runs. damaged: what of it cannot be read, one line each; the rest is used.
    """

    deploy: str
    user: str
    host: str
    verb: str
    began: str
    ended: str = ""
    finished: bool = False
    results: Mapping[str, str] = field(default_factory=dict)
    stopped: str = ""
    number: int = 0
    switches: tuple[str, ...] = ()
    running: bool = False
    waves: int = 0
    waves_done: int = 0
    damaged: tuple[str, ...] = ()

    def change_of(self, attempt: int) -> ChangeName:
        """The name of its changes on switches, of the first process or of a later attempt."""
        deploy = self.deploy if attempt == 1 else f"{self.deploy}-{attempt}"
        return ChangeName(deploy=deploy, user=self.user, host=self.host)

    @property
    def change(self) -> ChangeName:
        return self.change_of(1)

    @property
    def folder(self) -> str:
        """The name of its folder in the journal."""
        return f"{self.number:06}-{self.deploy}" if self.number else self.deploy

    @property
    def is_unfinished(self) -> bool:
        """Whether it ended, by itself or not, before each switch had its change, and can be continued or aborted."""
        return bool(self.waves) and not self.running and (not self.finished or bool(self.stopped))

    @property
    def may_have_changed(self) -> bool:
        """Whether a switch may run something else since; not so when each one refused the change."""
        return not self.finished or any(result in ("changed", "unsettled") for result in self.results.values())


class OpenDeploy:
    """A deploy that is being written to the journal. Thread-safe: each switch has a file of its own.

    steps: where each step is written before it is made. past: the steps of the processes before, when it is continued.
    """

    def __init__(self, folder: Path, record: DeployRecord, past: DeploySteps = DeploySteps()) -> None:  # noqa: B008
        self.steps = StepLog(folder / STEPS)
        self.past = past
        self._folder = folder
        self._record = record
        self._names = max(1, past.attempts())

    @property
    def record(self) -> DeployRecord:
        return self._record

    @property
    def change(self) -> ChangeName:
        """The name of its changes on switches."""
        return self._record.change_of(self._names)

    def rename_change(self) -> ChangeName:
        """Another name for its changes: a switch that has had one by a name takes no second one by it."""
        self._names += 1
        self.steps.write(StepKind.ATTEMPT, StepState.BEGINS, note=self.change.deploy)
        return self.change

    def plan(self, document: str, texts: Mapping[str, str]) -> None:
        """Store the plan, and the configuration that each switch gets, before any of them is changed."""
        for name, text in texts.items():
            _write(self._folder / AFTER / name, text)
        _write(self._folder / PLAN, document)
        self.steps.write(StepKind.ATTEMPT, StepState.BEGINS, note=self.change.deploy)

    def save_baselines(self, wave: int, values: Mapping[str, Any]) -> None:
        """Store what the gates read before a wave, by their names."""
        _write(self._folder / GATES, json.dumps({"wave": wave, "gates": dict(values)}) + "\n")

    def baselines(self, wave: int) -> Mapping[str, Any] | None:
        """What the gates read before a wave that an earlier process began to change; None where there is none."""
        if not self.past.has_begun(wave) or not (self._folder / GATES).is_file():
            return None
        try:
            document = json.loads(_read(self._folder / GATES))
            return dict(document["gates"]) if document["wave"] == wave else None
        except (ValueError, TypeError, KeyError):
            return None

    def keep(self, name: str, text: str) -> None:
        """Store what a switch runs, before it is first changed. Raises RailfabError when that is not possible."""
        path = self._folder / BEFORE / name
        if not path.exists():
            _write(path, text)

    def finish(self, results: Mapping[str, str], stopped: str = "") -> None:
        """Record how it ended. stopped: why, before each switch had its change."""
        ending = {"ended": _now(), "finished": True, "results": dict(results), "stopped": stopped}
        _write(self._folder / RECORD, json.dumps({**_document(self._record), **ending}, indent=2) + "\n")

    def close(self) -> None:
        """Remove the record of a deploy that has changed nothing."""
        self.steps.close()
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
                with _closed(OpenDeploy(folder, record)) as entry:
                    yield entry

    @contextmanager
    def reopen(self, deploy: str | None = None) -> Iterator[OpenDeploy]:
        """Continue a deploy that was interrupted or stopped, under the lock of the fabric.

        deploy: its ID; by default the last one. Raises RailfabError when there is none, when it is not the last that
        changed a switch, or when another process changes the fabric.
        """
        with fabric_lock(self._state, self._fabric, new_change()):
            record = self._unfinished(deploy)
            folder = self.folder / record.folder
            with running_lock(folder / LOCK):
                unfinished = {**_document(record), "finished": False, "stopped": "", "ended": ""}
                _write(folder / RECORD, json.dumps(unfinished, indent=2) + "\n")
                with _closed(OpenDeploy(folder, record, read_steps(folder / STEPS))) as entry:
                    yield entry

    def _unfinished(self, deploy: str | None) -> DeployRecord:
        records = [record for record in self.deploys() if record.is_unfinished]
        if deploy is None and records:
            return records[-1]
        for record in records:
            if record.deploy == deploy:
                return record
        remedy = f"Name one of {listed([record.deploy for record in records])}" if records else "Begin a new deploy"
        where = str(self.folder) if deploy is None else f"deploy {deploy!r}"
        raise RailfabError(where, "has nothing to continue or to abort", remedy)

    def planned(self, record: DeployRecord) -> tuple[str, dict[str, str]]:
        """The plan of a deploy, as its JSON document, and the configuration that each switch gets."""
        folder = self.folder / record.folder
        names = sorted(path.name for path in (folder / AFTER).iterdir() if not path.name.endswith(PART))
        return _read(folder / PLAN), {name: _read(folder / AFTER / name) for name in names}

    def steps(self, record: DeployRecord) -> DeploySteps:
        """The steps of a deploy until now."""
        return read_steps(self.folder / record.folder / STEPS)

    def former(self, record: DeployRecord) -> dict[str, str]:
        """What each switch ran before a deploy, for those that it has begun to change or to drain."""
        return {name: _read(self.folder / record.folder / BEFORE / name) for name in record.switches}

    def _prune(self) -> None:
        """Remove the oldest deploys, and what is left of those that were killed before they changed a switch."""
        found = self._folders()
        used = [folder for folder in found if (folder / BEFORE).is_dir()]
        for old in set(found) - set(used[-(KEPT - 1) :]):
            shutil.rmtree(old, ignore_errors=True)

    def deploys(self) -> tuple[DeployRecord, ...]:
        """The deploys that began to change a switch, oldest first."""
        return tuple(_record(folder) for folder in self._folders() if _switches(folder))

    def is_own(self, change: ChangeName) -> bool:
        """Whether a change was begun from this state folder."""
        deploy = ATTEMPT.sub("", change.deploy)
        folders = [folder for folder in self._folders() if _order(folder)[1] == deploy]
        first = replace(change, deploy=deploy)
        return any((folder / RECORD).is_file() and _record(folder).change == first for folder in folders)

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


@contextmanager
def _closed(entry: OpenDeploy) -> Iterator[OpenDeploy]:
    try:
        yield entry
    finally:
        entry.close()


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
    """The record of a folder; where its file is damaged, what the folder and the other files say."""
    held = is_running(folder / LOCK)  # looked at first: what is read after its release is final
    number, deploy = _order(folder)
    steps = read_steps(folder / STEPS)
    fields: dict[str, Any] = {"number": number, "switches": _switches(folder), "waves_done": len(steps.waves_done())}
    damaged = [f"{folder / STEPS}: line {line} is damaged" for line in steps.damaged]
    try:
        fields["waves"] = len(json.loads(_read(folder / PLAN))["waves"]) if (folder / PLAN).is_file() else 0
    except (ValueError, TypeError, KeyError) as error:
        damaged.append(f"{folder / PLAN}: is not a plan ({error})")
    try:
        record = DeployRecord(**json.loads(_read(folder / RECORD)), **fields, damaged=tuple(damaged))
        return replace(record, running=held and not record.finished)
    except (ValueError, TypeError) as error:
        damaged.append(f"{folder / RECORD}: is not a record of a deploy ({error})")
        unknown: dict[str, Any] = {
            "user": "",
            "host": "",
            "verb": "deploy",
            "began": "",
            "running": held,
            "damaged": tuple(damaged),
        }
        return DeployRecord(deploy=deploy, **fields, **unknown)


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
