"""The session with one NX-OS switch: `configure replace` with a commit timeout, over SSH."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from hashlib import sha256
from types import TracebackType
from typing import Any, Self

from railfab.bounded_json import load_json
from railfab.device import Observed, without_secrets
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused, DeviceError, RailfabError, Unreachable
from railfab.platforms.image import Image
from railfab.platforms.nxos import replace_limits
from railfab.platforms.nxos.candidate import candidate, is_equal, is_nearer, missing, reloading, unified
from railfab.platforms.nxos.change_files import DRAINED, ChangeFiles, SwitchFiles, staged_name
from railfab.platforms.nxos.drain_verb import has_drain, speaker, with_drain, without_drain
from railfab.platforms.nxos.images import NxosImages
from railfab.platforms.nxos.scope import former_text
from railfab.platforms.nxos.state import next_hop_widths, observed_state
from railfab.platforms.nxos.tcl_text import written
from railfab.platforms.session import ChangeName, Identity, Pending, Running, Staged, Verb
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.cli_connection import CliConnection
from railfab.platforms.shared.hostnames import check_hostname
from railfab.platforms.shared.login import ANSWER_WITHIN_S

logger = logging.getLogger(__name__)

REPLACE_WITHIN_S = 300.0
"""Limit of a replacement, its check, a checkpoint and a save [s]."""
OBSERVED = ("interfaces", "lldp", "sessions", "bfd")
RESOLVED = ("arp", "nd")
FACTORY_NAME = "switch"
CHECKED = "Patch validation completed successful"
REPLACED = ("Configure replace completed successfully", "Rollback Patch is Empty")
RETURNED = "Rollback completed successfully"
_HOSTNAME = re.compile(r"^(?:hostname|switchname) (\S+)$", re.MULTILINE)
_HEADER = re.compile(r"\A\s*(?:![^\n]*\n\s*)+")
_VERSION = re.compile(r"^version (\S+)", re.MULTILINE)
_CHASSIS = re.compile(r"^ *cisco (?:Nexus\S* )?(\S+).* Chassis", re.MULTILINE)


class NxosSession:
    """A platforms.Session for NX-OS. read_within_s: limit of commands that only read; None is ANSWER_WITHIN_S [s].

    A change is a `configure replace` under a timer; see `change_files` for how it is found again. NX-OS counts at least
    30 s and at most 3600 s: other times are taken as these.
    """

    def __init__(self, endpoint: Endpoint, credentials: Credentials, *, read_within_s: float | None = None) -> None:
        dialect = yaml_files.dialect(__package__)
        self._name = endpoint.name
        self._read_within_s = read_within_s or ANSWER_WITHIN_S
        self._verbs = dialect.verbs
        self._cli = CliConnection(endpoint, credentials, dialect)
        self._another: Callable[[], NxosSession] = lambda: NxosSession(
            endpoint, credentials, read_within_s=read_within_s
        )
        self._committed: ChangeFiles | None = None
        self._staged: tuple[str, str] | None = None
        self._read_before: tuple[str, SwitchFiles] | None = None

    def __enter__(self) -> Self:
        self._cli.open(self._verbs["quiet"])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Remove a file that was only compared, unless a call waits for its answer, and close."""
        if self._cli.is_idle:
            with suppress(RailfabError):
                self._discard_staged()
        self._cli.close()

    def running(self) -> Running:
        text = self._text()
        hostname, version = _HOSTNAME.search(text), _VERSION.search(text)
        chassis = _CHASSIS.search(self._read("chassis"))
        files = self._files()
        self._read_before = text, files
        pending = self._pending(text, files)
        return Running(
            text=text,
            revision=_revision(text),
            identity=Identity(
                hostname=hostname[1] if hostname else FACTORY_NAME,
                version=version[1] if version else "",
                model=chassis[1] if chassis else "",
            ),
            pending=None if pending is None else _described(pending),
            drained=_is_drained(text, files),
        )

    def stage(self, text: str, change: ChangeName | None = None) -> Staged:  # noqa: ARG002
        """Have the switch check a candidate (`verify-only`); one without a difference is not sent.

        For that, the files of interrupted deploys are removed. Raises CommitRefused, also for lines that take effect
        after a reload only.
        """
        (running, files), self._read_before = self._read_before or (self._text(), self._files()), None
        self._check_hostname(running, text)
        before = running
        if has_drain(running) and _is_drained(running, files):
            text, before = with_drain(text), without_drain(running)
        if is_equal(running, text):
            self._remove_leftovers(running, files)
            return Staged(text=text, diff="", former=text, revision=_revision(running))
        self._refuse_reloading(running, text)
        self._staged_file(candidate(running, text))
        difference, former = unified(running, text), former_text(before, text)
        return Staged(text=text, diff=difference, former=former, revision=_revision(running))

    def commit(self, staged: Staged, change: ChangeName, within_s: int) -> None:
        running, files = self._text(), self._files()
        if _revision(running) != staged.revision:
            raise CommitRefused(self._name, "has changed since its differences were read", "Review them again")
        self._refuse_pending(running, files)
        self._remove_leftovers(running, files)
        within_s = max(replace_limits.LEAST_S, min(within_s, replace_limits.MOST_S))
        file = self._staged_file(candidate(running, staged.text))
        made = ChangeFiles.named(change, within_s)
        self._act("checkpoint", file=made.old)
        self._act("move", file=file, to=made.new)
        self._staged, self._committed = None, made
        said = self._said("commit", file=made.new, seconds=within_s)
        if not any(text in said for text in REPLACED):
            self._undo(made)
            raise CommitRefused(self._name, f"refuses the configuration ({_reason(said)})", "Correct what it names")
        if lacking := missing(self._text(), staged.text):
            self._undo(made)
            first = without_secrets(lacking[0]) + (f" and {len(lacking) - 1} more" if len(lacking) > 1 else "")
            raise CommitRefused(self._name, f"does not take all of it ({first})", "Check the release of the switch")

    def confirm(self, change: ChangeName) -> None:
        """Confirm. After a commit of this session, which shows with a new login that the switch can still be reached,
        it is confirmed where it was made: whether NX-OS takes it from another session is not documented."""
        if self._committed is None:
            return self._confirm(change)
        with self._another() as session:
            try:
                self._confirm(change)
            except Unreachable:
                session._confirm(change)

    def _confirm(self, change: ChangeName) -> None:
        files = self._files()
        made = self._made(change, files)
        if made is None:
            if self._committed is not None and self._committed.change == change:
                raise CommitRefused(self._name, "has reverted the change", "Deploy again")
            return
        self._said("confirm")
        if not files.has(made) or not self._is_applied(self._text(), made):
            raise CommitRefused(self._name, "has reverted the change", "Deploy again")
        self._act("save")
        self._delete(made.new, made.old)
        self._committed = None

    def revert(self, change: ChangeName) -> None:
        files = self._files()
        made = self._made(change, files)
        if made is not None and files.has(made):
            self._undo(made)
        elif made is not None:
            self._delete(made.new, made.old)

    def observe(self, *, resolved: bool = True, routes: bool = False) -> Observed:
        pfc = self._said("pfc", within_s=self._read_within_s)
        verbs = (*OBSERVED, *(RESOLVED if resolved else ()))
        observed = observed_state({verb: self._json(verb) for verb in verbs}, pfc)
        if not routes:
            return observed
        return replace(observed, next_hop_widths=next_hop_widths(self._read("routes"), self._read("routes6")))

    def install(self, image: Image) -> None:
        self._refuse_pending(self._text(), self._files())
        NxosImages(self._name, self._cli, self._verbs).install(image)

    def operate(self, verb: Verb) -> None:
        """Do this now. A drain is a line of BGP, and a file on bootflash that says that it is one by a verb."""
        running, files = self._text(), self._files()
        self._refuse_pending(running, files)
        if verb is Verb.SAVE:
            self._act("save")
        elif verb is Verb.RELOAD:
            self._cli.end_with(self._verbs["reload"])
        elif verb is Verb.DRAIN:
            if not speaker(running):
                raise CommitRefused(self._name, "has no BGP to drain", "Deploy its configuration first")
            self._write(DRAINED, "drained by an operator\n")
            self._configure(running, "drain")
        else:
            if has_drain(running):
                self._configure(running, "undrain")
            if DRAINED in files.sizes_bytes:
                self._delete(DRAINED)

    def _configure(self, running: str, verb: str) -> None:
        """Enter a line of BGP. Raises CommitRefused."""
        lines = ("configure terminal", speaker(running), self._verbs[verb], "end")
        try:
            self._cli.type_lines(lines)
        except Unreachable:
            raise
        except DeviceError as error:
            raise CommitRefused(self._name, error.problem, error.remedy) from None

    # On the switch

    def _text(self) -> str:
        """The running configuration, without the comments before it, which have the time."""
        text = self._said("load", within_s=self._read_within_s)
        if text.lstrip().startswith("%"):
            problem = f"does not show its running configuration ({text.strip().splitlines()[0]})"
            raise DeviceError(self._name, problem, "Use a login with the role network-admin")
        return _HEADER.sub("", text).strip() + "\n"

    def _read(self, verb: str, **values: object) -> str:
        """The output of a command that only reads."""
        return self._cli.run(self._verbs[verb].format(**values), within_s=self._read_within_s)

    def _json(self, verb: str) -> Mapping[str, Any]:
        """The answer of a show command; empty where NX-OS prints nothing, as for a feature that is off."""
        answer = self._said(verb, within_s=self._read_within_s)
        if not answer.strip().startswith("{"):
            return {}
        try:
            value: Mapping[str, Any] = load_json(answer)
        except ValueError:
            problem = f"does not answer `{self._verbs[verb]}` with JSON"
            raise DeviceError(self._name, problem, "Check the release of the switch") from None
        return value

    def _said(self, verb: str, *, within_s: float = REPLACE_WITHIN_S, **values: object) -> str:
        """The output of a command, also where it is an error text."""
        return self._cli.run(self._verbs[verb].format(**values), within_s=within_s, checked=False)

    def _act(self, verb: str, **values: object) -> None:
        """Run a command that the switch may refuse. Raises CommitRefused."""
        try:
            self._cli.run(self._verbs[verb].format(**values), within_s=REPLACE_WITHIN_S)
        except Unreachable:
            raise
        except DeviceError as error:
            raise CommitRefused(self._name, without_secrets(error.problem), error.remedy) from None

    # Changes and their files

    def _files(self) -> SwitchFiles:
        return SwitchFiles.of(self._read("files"))

    def _made(self, change: ChangeName, files: SwitchFiles) -> ChangeFiles | None:
        return next((each for each in files.changes() if each.change == change), None)

    def _pending(self, running: str, files: SwitchFiles) -> ChangeFiles | None:
        """The change whose timer runs, or that is in effect and was not finished."""
        for made in files.changes():
            if made.left_s > 0 or (files.has(made) and self._is_applied(running, made)):
                return made
        return None

    def _is_applied(self, running: str, made: ChangeFiles) -> bool:
        """Whether a running configuration is nearer to that of a change than to the one before it."""
        new, old = (self._said("show_file", file=file) for file in (made.new, made.old))
        return is_nearer(running, new, old)

    def _is_saved(self, made: ChangeFiles) -> bool:
        """Whether a change is what boots: it was confirmed, and its files were not removed yet."""
        startup = self._said("saved")
        return bool(_VERSION.search(startup)) and self._is_applied(_HEADER.sub("", startup).strip() + "\n", made)

    def _undo(self, made: ChangeFiles) -> None:
        """Return to the configuration before a change, as its timer would, or by its checkpoint; remove its files."""
        if self._is_applied(self._text(), made):
            self._said("abort")
            if self._is_applied(self._text(), made):
                said = self._said("restore", file=made.old)
                if RETURNED not in said:
                    problem = f"does not return to its former configuration ({_reason(said)})"
                    raise CommitRefused(self._name, problem, "Wait for the end of its timer")
        if self._is_saved(made):
            self._act("save")
        self._delete(made.new, made.old)
        self._committed = None

    def _refuse_pending(self, running: str, files: SwitchFiles) -> None:
        pending = self._pending(running, files)
        if pending is not None:
            problem = f"has an unconfirmed change ({_described(pending).description})"
            raise CommitRefused(self._name, problem, "Confirm or revert it first")

    def _remove_leftovers(self, running: str, files: SwitchFiles) -> None:
        """Remove the files of interrupted deploys."""
        staged = self._staged[0] if self._staged else ""
        for file in files.leftovers(self._pending(running, files), staged):
            logger.warning("%s: removes %s of an interrupted deploy from bootflash", self._name, file)
            self._delete(file)

    def _delete(self, *files: str) -> None:
        for file in files:
            self._said("delete", file=file)

    def _staged_file(self, text: str) -> str:
        """The name of a file with a candidate that the switch has checked. Raises CommitRefused."""
        if self._staged is not None and self._staged[1] == text:
            return self._staged[0]
        self._discard_staged()
        file = staged_name()
        self._staged = (file, text)
        self._write(file, text)
        said = self._said("check", file=file)
        if CHECKED not in said:
            self._discard_staged()
            problem = without_secrets(f"refuses the configuration ({_reason(said)})")
            raise CommitRefused(self._name, problem, "Correct it, or check the release of the switch")
        return file

    def _discard_staged(self) -> None:
        staged, self._staged = self._staged, None
        if staged is not None:
            self._delete(staged[0])

    def _write(self, file: str, text: str) -> None:
        """Paste a text into a file. Raises CommitRefused where the switch has not got all of it."""
        self._cli.run(self._verbs["tcl"])
        try:
            self._cli.paste(tuple(written(file, text)), marker="# block", within_s=REPLACE_WITHIN_S)
        except Unreachable:
            raise
        except DeviceError as error:
            problem = f"does not store the candidate ({error.problem})"
            raise CommitRefused(self._name, problem, "Check the free space of its bootflash") from None
        finally:
            self._said("tcl_end")
        size = self._files().sizes_bytes.get(file)
        if size != len(text.encode()):
            problem = f"has stored {size or 0} of {len(text.encode())} bytes of the candidate"
            raise CommitRefused(self._name, problem, "Check the free space of its bootflash, then deploy again")

    def _refuse_reloading(self, running: str, wanted: str) -> None:
        if lines := reloading(running, wanted):
            problem = f"would need a reload for `{lines[0]}`"
            raise CommitRefused(self._name, problem, "Enter it on the switch, save, reload, then deploy")

    def _check_hostname(self, running: str, wanted: str) -> None:
        """Refuse the configuration of another switch."""
        present, named = _HOSTNAME.search(running), _HOSTNAME.search(wanted)
        if present and named:
            remedy = "set the hostname of the switch first"
            check_hostname(self._name, present[1], named[1], factory=FACTORY_NAME, remedy=remedy)


def _revision(text: str) -> str:
    """A digest of a running configuration without its header, which has the time."""
    return sha256(text.encode()).hexdigest()[:16]


def _is_drained(running: str, files: SwitchFiles) -> bool:
    """Whether a verb has drained the switch, and no restart has ended it."""
    return DRAINED in files.sizes_bytes and has_drain(running)


def _described(made: ChangeFiles) -> Pending:
    name = made.change
    ending = f"is reverted in {made.left_s:.0f} s" if made.left_s else "was never confirmed"
    description = f"{name.deploy} of {name.user}@{name.host} {ending}"
    return Pending(change=name, description=description, reverts_in_s=made.left_s or None)


def _reason(said: str) -> str:
    """The line of an answer that says why a command failed."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if line.startswith(("ERROR", "Syntax error", "%", "Invalid"))]
    return [*errors, *lines[-1:], "no answer"][0]
