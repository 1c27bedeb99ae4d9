"""The session with one EOS switch: its configuration sessions over SSH."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from hashlib import sha256
from secrets import token_hex
from types import TracebackType
from typing import Any, Self

from railfab.bounded_json import load_json
from railfab.device import Observed, without_secrets
from railfab.endpoints import Credentials, Endpoint
from railfab.errors import CommitRefused, DeviceError, LoginRefused, NotRolledBack, RailfabError, Unreachable
from railfab.platforms.eos.candidate import candidate, is_equal, missing, typed
from railfab.platforms.eos.drain_verb import has_speaker, is_drained, with_drain, with_mark, without_drain
from railfab.platforms.eos.images import EosImages
from railfab.platforms.eos.lines import FORMAT
from railfab.platforms.eos.pending_sessions import STAGE_PREFIX, SwitchSessions
from railfab.platforms.eos.scoped import former_text
from railfab.platforms.eos.state import observed_state
from railfab.platforms.image import Image
from railfab.platforms.session import ChangeName, Identity, Pending, Running, Staged, Verb
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.change_tokens import change_of_token, change_token
from railfab.platforms.shared.cli_connection import CliConnection
from railfab.platforms.shared.hostnames import check_hostname
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.login import ANSWER_WITHIN_S

logger = logging.getLogger(__name__)

COMMIT_WITHIN_S = 120.0
"""Limit of a commit, and of saving [s]."""
MARKER = " ! block"
"""A comment; with a blank before it, it ends no section either."""
OBSERVED = ("interfaces", "lldp", "neighbors", "bfd")
RESOLVED = ("arp", "nd")
ROUTES = ("routes", "routes6")
FACTORY_NAME = "localhost"
_HEAD = re.compile(r"\A(?:!.*\n)+")
_HEADER = re.compile(r"^! device: (\S+) \((.+), EOS-(\S+)\)$", re.MULTILINE)
_HOSTNAME = re.compile(r"^hostname (\S+)$", re.MULTILINE)


class EosSession:
    """A platforms.Session for EOS. read_within_s: limit of commands that only read; None is ANSWER_WITHIN_S [s].

    A change is a configuration session with the token of its name, which EOS reverts unless it is committed again. It
    stays open, with the candidate that was typed into it, from `stage` to `commit`.
    """

    def __init__(self, endpoint: Endpoint, credentials: Credentials, *, read_within_s: float | None = None) -> None:
        dialect = yaml_files.dialect(__package__)
        self._name = endpoint.name
        self._read_within_s = read_within_s or ANSWER_WITHIN_S
        self._verbs = dialect.verbs
        self._cli = CliConnection(endpoint, credentials, dialect)
        self._another: Callable[[], EosSession] = lambda: EosSession(endpoint, credentials, read_within_s=read_within_s)
        self._has_committed = False
        self._read: str | None = None
        self._typed: Staged | None = None
        self._opened = ""
        self._abandoned: tuple[str, ...] = ()

    def __enter__(self) -> Self:
        if "Password" in self._cli.open(self._verbs["enable"]):
            self._cli.close()
            problem = "asks for a password after `enable`"
            remedy = "Add `aaa authorization exec default local`, which lets users of privilege 15 in without it"
            raise LoginRefused(self._name, problem, remedy)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._cli.is_idle:
            with suppress(RailfabError):
                self._leave()
        self._cli.close()

    def running(self) -> Running:
        text, pending = self._read_together()
        self._read = text
        header, hostname = _HEADER.search(text), _HOSTNAME.search(text)
        return Running(
            text=text,
            revision=_revision(text),
            identity=Identity(
                hostname=hostname[1] if hostname else FACTORY_NAME,
                version=header[3] if header else "",
                model=header[2] if header else "",
            ),
            pending=pending,
            drained=is_drained(text),
        )

    def stage(self, text: str, change: ChangeName | None = None) -> Staged:
        """Type the candidate into a session of the switch; for equal texts what others have left there is removed.

        It stays there for `commit` when it is given the name of the change, by which that session is called.
        """
        self._leave()
        running, self._read = self._read or self._text(), None
        self._check_hostname(running, text)
        wanted = with_drain(text) if is_drained(running) else text
        if is_equal(running, wanted):
            self._discard(self._abandoned)
            return Staged(text=wanted, diff="", former=text, revision=_revision(running))
        self._open(change_token(change) if change else STAGE_PREFIX + token_hex(4), candidate(running, wanted))
        difference, former = self._difference(), _former(running, wanted)
        staged = Staged(text=wanted, diff=difference, former=former, revision=_revision(running))
        if change and difference:
            self._typed = staged
        else:
            self._leave()
        return staged

    def commit(self, staged: Staged, change: ChangeName, within_s: int) -> None:
        running, pending = self._read_together()
        if _revision(running) != staged.revision:
            raise CommitRefused(self._name, "has changed since its differences were read", "Review them again")
        if pending is not None:
            problem = f"has an unconfirmed change ({pending.description})"
            raise CommitRefused(self._name, problem, "Confirm or revert it first")
        if self._typed is not staged or self._opened != change_token(change):
            self._leave()
            self._open(change_token(change), candidate(running, staged.text))
        self._has_committed = True
        self._refusing(self._verbs["commit"].format(timer=_timer(within_s)))
        if lacking := missing(self._text(), staged.text):
            self.revert(change)
            shown = without_secrets(lacking[0]) + (f" and {len(lacking) - 1} more" if len(lacking) > 1 else "")
            raise CommitRefused(self._name, f"does not take all of it ({shown})", "Check the release of the switch")

    def confirm(self, change: ChangeName) -> None:
        """Confirm; after a commit from a second connection, which shows that the switch can still be reached."""
        if self._has_committed:
            with self._another() as session:
                session.confirm(change)
        else:
            self._confirm(change)

    def _confirm(self, change: ChangeName) -> None:
        self._leave()
        token, sessions = change_token(change), self._sessions()
        if sessions.timed == token:
            self._confirm_and_save(token)
        elif sessions.is_completed(token):
            self._cli.run(self._verbs["save"], within_s=COMMIT_WITHIN_S)
        else:
            raise CommitRefused(self._name, "has reverted the change", "Deploy again")

    def _confirm_and_save(self, token: str) -> None:
        """Raises CommitRefused, and NotRolledBack for a change that is confirmed and not saved."""
        try:
            self._refusing(self._verbs["confirm"].format(session=token), self._verbs["save"])
        except CommitRefused as error:
            if not self._sessions().is_completed(token):
                raise
            problem = f"runs the change and has not saved it: {error.problem}"
            raise NotRolledBack(self._name, problem, "Free space on its flash, then run `write memory` on it") from None

    def revert(self, change: ChangeName) -> None:
        self._leave()
        token, sessions = change_token(change), self._sessions()
        if token == sessions.timed or token in sessions.pending:
            self._refusing(self._verbs["revert"].format(session=token))

    def observe(self, *, resolved: bool = True, routes: bool = False) -> Observed:
        verbs = (*OBSERVED, *(RESOLVED if resolved else ()), *(ROUTES if routes else ()))
        commands = [self._verbs[verb] for verb in (*verbs, "ecn")]
        *answers, marks = self._cli.run_together(
            *commands, within_s=self._read_within_s, unchecked=(self._verbs["ecn"],)
        )
        read = {verb: self._value(self._verbs[verb], answer) for verb, answer in zip(verbs, answers, strict=True)}
        return observed_state(read | {"ecn": self._marks(marks)})

    def _marks(self, answer: str) -> Mapping[str, Any]:
        """Counters of marks by queue; empty where EOS does not have them, as on vEOS and cEOS."""
        try:
            return self._value(self._verbs["ecn"], answer)
        except DeviceError:
            return {}

    def install(self, image: Image) -> None:
        self._refuse_pending()
        EosImages(self._name, self._cli, self._verbs).install(image)

    def operate(self, verb: Verb) -> None:
        """Do this now. A drain is Maintenance Mode, and an alias that says that it is one by a verb."""
        self._refuse_pending()
        if verb is Verb.SAVE:
            self._cli.run(self._verbs["save"], within_s=COMMIT_WITHIN_S)
        elif verb is Verb.RELOAD:
            self._cli.end_with(self._verbs["reload"])
        else:
            self._drain(self._text(), ends=verb is Verb.UNDRAIN)

    def _refuse_pending(self) -> None:
        self._leave()
        if (pending := self._pending(self._sessions())) is not None:
            problem = f"has an unconfirmed change ({pending.description})"
            raise CommitRefused(self._name, problem, "Confirm or revert it first")

    def _drain(self, running: str, *, ends: bool) -> None:
        """Commit the running configuration with or without a drain, in one step."""
        if not ends and not has_speaker(running):
            raise CommitRefused(self._name, "has no BGP to drain", "Deploy its configuration first")
        lines = FORMAT.tree(without_drain(running) if ends else with_mark(with_drain(running)))
        if set(lines) != set(FORMAT.tree(running)):
            self._open(STAGE_PREFIX + token_hex(4), lines)
            self._refusing(self._verbs["apply"])

    # On the switch

    def _text(self) -> str:
        """The running configuration."""
        return self._configuration(self._cli.run(self._verbs["load"], within_s=self._read_within_s, checked=False))

    def _configuration(self, text: str) -> str:
        if text.lstrip().startswith("%"):
            problem = f"does not show its running configuration ({text.strip().splitlines()[0]})"
            raise DeviceError(self._name, problem, "Use a login of privilege 15")
        return f"{text.strip()}\n"

    def _read_together(self) -> tuple[str, Pending | None]:
        """The running configuration, and a change that waits for its confirmation."""
        sessions, load = self._verbs["sessions"], self._verbs["load"]
        answer, text = self._cli.run_together(sessions, load, within_s=self._read_within_s, unchecked=(load,))
        listed = SwitchSessions.of(self._value(sessions, answer))
        self._abandoned = listed.abandoned
        return self._configuration(text), self._pending(listed)

    def _json(self, verb: str) -> Mapping[str, Any]:
        command = self._verbs[verb]
        return self._value(command, self._cli.run(command, within_s=self._read_within_s))

    def _value(self, command: str, answer: str) -> Mapping[str, Any]:
        try:
            value: Mapping[str, Any] = load_json(answer)
        except ValueError:
            problem = f"does not answer `{command}` with JSON"
            raise DeviceError(self._name, problem, "Check the release of the switch") from None
        return value

    def _sessions(self) -> SwitchSessions:
        return SwitchSessions.of(self._json("sessions"))

    def _pending(self, sessions: SwitchSessions) -> Pending | None:
        if sessions.timed is None:
            return None
        left_s = None
        if sessions.expires_s is not None:
            left_s = max(0.0, sessions.expires_s - float(self._json("uptime").get("uptime", sessions.expires_s)))
        description = f"configuration session {sessions.timed} waits for its confirmation"
        return Pending(change=change_of_token(sessions.timed), description=description, reverts_in_s=left_s)

    def _difference(self) -> str:
        """The difference that the switch shows of the candidate, without secrets."""
        shown = self._cli.run(self._verbs["diff"], checked=False).strip("\n").splitlines()
        headed = ["--- running", "+++ candidate", *shown[2:]] if shown else []
        return "\n".join(map(without_secrets, headed))

    def _open(self, session: str, lines: Iterable[Line]) -> None:
        """Open a session and type a whole configuration. Raises CommitRefused; the session is then discarded."""
        self._remove_leftovers()
        try:
            self._cli.run(self._verbs["open"].format(session=session))
        except Unreachable:
            raise
        except DeviceError as error:
            raise self._not_opened(error) from None
        self._opened = session
        self._cli.run(self._verbs["clean"])
        try:
            self._cli.paste(tuple(typed(lines)), marker=MARKER)
        except Unreachable:
            raise
        except DeviceError as error:
            self._leave()
            raise CommitRefused(self._name, without_secrets(error.problem), error.remedy) from None

    def _leave(self) -> None:
        """Discard the candidate that this session has typed, if any."""
        opened, self._opened, self._typed = self._opened, "", None
        if opened:
            self._cli.run(self._verbs["leave"])

    def _not_opened(self, error: DeviceError) -> DeviceError:
        """The reason for which a session does not open, with who holds the others."""
        pending = self._sessions().pending
        if "Maximum number" not in error.problem:
            return error
        holders = ", ".join(f"{name}{f' of {user}' if user else ''}" for name, user in pending.items())
        problem = f"has as many pending configuration sessions as it keeps ({holders})"
        return DeviceError(self._name, problem, "Commit or abort one of them: `configure session NAME abort`")

    def _remove_leftovers(self) -> None:
        """Discard the sessions of an interrupted deploy, in which no terminal is any more."""
        self._discard(self._sessions().abandoned)

    def _discard(self, abandoned: Iterable[str]) -> None:
        for session in abandoned:
            logger.warning("%s: removes configuration session %s of an interrupted deploy", self._name, session)
            self._cli.run(self._verbs["revert"].format(session=session))

    def _refusing(self, *commands: str) -> None:
        """Run commands that the switch may refuse for what they change. Raises CommitRefused."""
        try:
            self._cli.run_together(*commands, within_s=COMMIT_WITHIN_S)
            self._opened = ""
        except Unreachable:
            raise
        except DeviceError as error:
            self._leave()
            raise CommitRefused(self._name, without_secrets(error.problem), error.remedy) from None

    def _check_hostname(self, running: str, wanted: str) -> None:
        """Refuse the configuration of another switch."""
        present, named = _HOSTNAME.search(running), _HOSTNAME.search(wanted)
        if present and named:
            remedy = "set the hostname of the switch first"
            check_hostname(self._name, present[1], named[1], factory=FACTORY_NAME, remedy=remedy)


def _former(running: str, wanted: str) -> str:
    """Configuration that a candidate replaces, without a drain by a verb: only a verb ends that."""
    return former_text(without_drain(running) if is_drained(running) else running, wanted)


def _revision(text: str) -> str:
    """A digest of a configuration, without the comments before it, which have the release."""
    return sha256(_HEAD.sub("", text).encode()).hexdigest()[:16]


def _timer(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes // 60:02}:{minutes % 60:02}:{rest:02}"
