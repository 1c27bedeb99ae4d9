"""The CLI of a virtual switch with EOS."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import cache
from itertools import count
from typing import NoReturn

from railfab.platforms.eos.answers import lines_text
from railfab.platforms.eos.config_sessions import ConfigSession, ConfigSessions
from railfab.platforms.eos.configuration import EosConfiguration
from railfab.platforms.eos.flash import EosFlash
from railfab.platforms.eos.lines import FORMAT
from railfab.platforms.eos.names import full_interface
from railfab.platforms.eos.running_text import shown, twin_grammar
from railfab.platforms.eos.shows import EosShows
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.statements import Reading, schema_of
from railfab.platforms.shared.terminal_configuration import TerminalConfiguration
from railfab.platforms.shared.typed_lines import TypedLines
from railfab.platforms.shared.virtual_cli import CliGrammar, CliRefusal, VirtualCli, cli_grammar, section
from railfab.platforms.twin_face import VirtualDevice
from railfab.ssh import CliUser, NewCli

SESSION_LETTERS = 6
"""Characters of the name of a session in the prompt."""
CONTEXT_LINES = 3
_HOSTNAME = re.compile(r"^hostname (\S+)$", re.MULTILINE)
_TIMER = re.compile(r"(\d{1,2}):(\d{1,2}):(\d{1,2})")
_HEADER = "! Command: show {kind}\n! device: {host} ({model}, EOS-{version})\n!\n! boot system flash:/EOS.swi\n!\n"
_TWO_WORDS = re.compile(r"\b((?:et|lo)[a-z]*) (?=\d)", re.IGNORECASE)
"""The name of an interface with a blank before its number, as operators may type it."""
_PROCESSES = count(5001)


def cli(device: VirtualDevice) -> NewCli:
    """Makes the CLIs of a device."""
    sessions = ConfigSessions(device)
    return lambda user: EosCli(device, sessions, user)


@cache
def _grammar() -> CliGrammar:
    return cli_grammar(__package__)


@cache
def _words(section: str) -> frozenset[str]:
    """First words of the commands of a mode: `top`, or the first word of a section; none where they are not listed."""
    return frozenset(twin_grammar()["words"].get(section, "").split())


class EosCli(EosShows, EosFlash, VirtualCli):
    """See `railfab.platforms.shared.virtual_cli`. A login begins in user mode; a user that may only read stays there.

    Lines of `configure terminal` take effect with the last that has arrived; those of a session do with its commit.
    """

    UNSETTLED = frozenset({"leave"})

    def __init__(self, device: VirtualDevice, sessions: ConfigSessions, user: CliUser) -> None:
        VirtualCli.__init__(self, _grammar(), device.name, user)
        self.device = device
        self._sessions = sessions
        self._session: ConfigSession | None = None
        self._terminal: TerminalConfiguration | None = None
        self._process = next(_PROCESSES)

    def _output(self, line: str) -> str:
        if self._typed is not None and self._typed.in_literal:
            self._typed.take(line)
            return ""
        return VirtualCli._output(self, _TWO_WORDS.sub(r"\1", line) if line.lstrip().startswith("sh") else line)

    def closed(self) -> None:
        VirtualCli.closed(self)
        self._leave_session()

    def prompt(self) -> str:
        if self._typed is not None and self._typed.in_literal:
            return ""
        if self._terminal is not None:
            name = self._terminal.value("hostname")
        else:
            name = match[1] if (match := _HOSTNAME.search(self.device.running())) else None
        self.host = name or "localhost"
        return VirtualCli.prompt(self)

    def places(self) -> Mapping[str, str]:
        place = self._typed.place if self._typed else ""
        return {"place": place, "session": self._session.name[:SESSION_LETTERS] if self._session else ""}

    # Modes

    def enable(self) -> str:
        if not self.user.writes:
            raise CliRefusal(self.text("denied", line="enable"))
        self.mode = "exec"
        return ""

    def disable(self) -> str:
        self.mode = "user"
        return ""

    def configure_terminal(self) -> str:
        self._terminal = TerminalConfiguration(self.device, FORMAT, self._sessions.rules)
        self.mode = "config"
        return ""

    def open_session(self, session: str = "") -> str:
        self._session = self._sessions.open(session, self._process, self.user.name)
        self.mode = "session"
        return ""

    def leave(self) -> str:
        assert self._typed is not None
        return "" if self._typed.leave() else self.end()

    def end(self) -> str:
        refused = self.settle()
        self._leave_session()
        self._terminal = None
        self.mode = "exec"
        return refused

    def _leave_session(self) -> None:
        if self._session is not None:
            while self._session.typed.leave():
                pass
            self._sessions.leave(self._session, self._process)
            self._session = None

    # Configuration

    @property
    def _typed(self) -> TypedLines | TerminalConfiguration | None:
        return self._terminal if self._session is None else self._session.typed

    def configure(self, line: str) -> str:
        typed = self._typed
        assert typed is not None
        line = _in_full(line)
        if line.lstrip()[:1] in FORMAT.comments:
            typed.take(line)
            return ""
        self._enter_mode_of(typed, line)
        _check(typed.section, line)
        typed.take(line)
        return self.text("text") if typed.in_literal else ""

    def _enter_mode_of(self, typed: TypedLines | TerminalConfiguration, line: str) -> None:
        """Leave the modes that do not have this command. Raises CliRefusal where no mode has it."""
        word = re.sub(r"^(?:no|default) ", "", line.strip()).split()[0]
        modes = [*(header.split()[0] for header in reversed(typed.section)), "top"]
        depths = [depth for depth, mode in enumerate(modes) if not _words(mode) or word in _words(mode)]
        if not depths:
            raise CliRefusal(self.text("unknown"))
        for _ in range(_depth_of(typed.section, line.strip(), depths)):
            typed.leave()

    def settle(self) -> str:
        return "" if self._terminal is None else "\n".join(map(self.refusal, self._terminal.apply()))

    def copy_terminal(self) -> str:
        """Read configuration from the terminal; a line that is refused is named, and the others are taken."""

        def take(text: str) -> str:
            refused = [self._refused(number, line) for number, line in enumerate(text.splitlines(), start=1)]
            return "\n".join([*filter(None, refused), self.text("copied")])

        if self._session is None:
            raise CliRefusal(self.text("unknown"))
        self.read_text(take)
        return ""

    def _refused(self, number: int, line: str) -> str:
        try:
            if line.strip() not in ("", "end", "exit"):
                self.configure(line)
        except CliRefusal as refusal:
            return f"{refusal.text} at line {number}"
        return ""

    # Transactions

    def clean(self) -> str:
        assert self._session is not None
        self._session.typed = TypedLines(FORMAT, self._sessions.rules)
        return ""

    def commit(self, timer: str = "") -> str:
        assert self._session is not None
        self.commit_named(self._session.name, timer)
        return self.end()

    def commit_named(self, session: str, timer: str = "") -> str:
        self._sessions.commit(session, self.user.name, self._seconds(timer) if timer else None)
        return ""

    def abort(self) -> str:
        assert self._session is not None
        self._sessions.abort(self._session.name, self.user.name)
        return self.end()

    def abort_named(self, session: str) -> str:
        self._sessions.abort(session, self.user.name)
        return ""

    def _seconds(self, timer: str) -> int:
        match = _TIMER.fullmatch(timer)
        if match is None:
            raise CliRefusal(self.text("unknown"))
        hours, minutes, seconds = map(int, match.groups())
        return 3600 * hours + 60 * minutes + seconds

    def save(self) -> str:
        self.device.save()
        return self.text("copied")

    def reload(self) -> str:
        self.device.restart()
        return self.end_session()

    # What they show

    def show_running(self) -> str:
        return self._headed("running-config", self.device.running())

    def show_section(self, pattern: str) -> str:
        return section(self.device.running(), pattern)

    def show_unsaved(self) -> str:
        """The difference between the startup configuration and the running one; nothing when they are equal."""
        return _difference(
            self.device.startup(), self.device.running(), "flash:/startup-config", "system:/running-config"
        )

    def show_startup(self) -> str:
        return self._headed("startup-config", self.device.startup())

    def show_session(self, session: str = "") -> str:
        return self._headed("session-config", self._candidate(session)[1])

    def show_differences(self, session: str = "") -> str:
        """The difference between the running configuration and a session; nothing when they are equal."""
        name, candidate = self._candidate(session)
        difference = _difference(
            self.device.running(), candidate, "system:/running-config", f"session:/{name}-session-config"
        )
        return f"{difference}\n" if difference else ""

    def show_sessions(self, form: str = "text") -> str:
        if form == "json":
            return self._sessions.report_json(self._process, self.uptime_s())
        return self._sessions.report(self._process)

    def _candidate(self, name: str) -> tuple[str, str]:
        session = self._sessions.pending(name) if name else self._session
        assert session is not None
        return session.name, shown(session.typed.text())

    def _headed(self, kind: str, text: str) -> str:
        model, version = self.device.chassis().model, self.device.images.release
        return _HEADER.format(kind=kind, host=self.host, model=model, version=version) + text

    def _no_command(self, line: str, mismatch: NoReturn) -> str:  # type: ignore[override]
        """In user mode most commands need another one."""
        if self.mode == "user" and line.split()[0] in ("show", "configure", "copy", "write", "reload"):
            return self.text("privileged")
        return VirtualCli._no_command(self, line, mismatch)


def _difference(before: str, after: str, before_name: str, after_name: str) -> str:
    """The difference between two configurations."""
    lines = difflib.unified_diff(
        before.splitlines(), after.splitlines(), before_name, after_name, lineterm="", n=CONTEXT_LINES
    )
    return lines_text(lines)


def _in_full(line: str) -> str:
    """A line with words and names that EOS takes shortened, in full."""
    words = " ".join(line.split())
    bare = re.sub(r"^(?:no|default) ", "", words)
    first, _, rest = bare.partition(" ")
    full = {"int": "interface", "desc": "description", "shut": "shutdown"}.get(first, first)
    spelled = full_interface(f"{full} {rest}".strip())
    indent = line[: len(line) - len(line.lstrip())]
    return indent + words.removesuffix(bare) + spelled if words != spelled else line


def _depth_of(section: tuple[str, ...], line: str, depths: list[int]) -> int:
    """The innermost of some modes in which a line is known as a whole; the innermost, where that is in none.

    depths: numbers of sections to leave.
    """
    if len(depths) > 1:
        return next((depth for depth in depths if _is_known(section[: len(section) - depth], line)), depths[0])
    return depths[0]


def _is_known(section: tuple[str, ...], line: str) -> bool:
    target: object = EosConfiguration()
    for header in section:
        match = schema_of(type(target)).match(header)
        target = match[0](target, match[1]) if match is not None else None
        if target is None:
            return False
    return schema_of(type(target)).match(line) is not None


def _check(section: tuple[str, ...], line: str) -> None:
    """Raise CliRefusal for a line with a value out of its range."""
    stated = Line(line.strip(), number=1)
    for header in reversed(section):
        stated = Line(header, (stated,), 1)
    reading = Reading()
    reading.read(EosConfiguration(), (stated,))
    if reading.errors:
        raise CliRefusal(twin_grammar()["texts"]["unknown"])
