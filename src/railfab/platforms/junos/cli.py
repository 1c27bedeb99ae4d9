"""The CLI of a virtual Junos switch: operational and configuration mode."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime
from functools import cache
from itertools import count

from railfab.errors import ConfigError, RailfabError
from railfab.platforms.junos import software
from railfab.platforms.junos.candidate_diff import compared
from railfab.platforms.junos.commits import Commits, Editor, has_root_authentication
from railfab.platforms.junos.hierarchy import Hierarchy
from railfab.platforms.junos.shows import JunosShows
from railfab.platforms.junos.statements import read
from railfab.platforms.shared.brace_text import Statement, brace_statements, shown
from railfab.platforms.shared.edit_commands import statements
from railfab.platforms.shared.virtual_cli import CliGrammar, CliRefusal, VirtualCli, cli_grammar
from railfab.platforms.twin_face import VirtualDevice
from railfab.ssh import CliUser, NewCli, Reply

OPERATIONAL, CONFIGURATION = "operational", "configuration"
AND_QUIT = " and-quit"
SET = "display set"
_PIDS = count(os.getpid() + 1)


def cli(device: VirtualDevice) -> NewCli:
    """The CLIs of a switch; they share its candidate and its commits."""
    commits = Commits(device)
    return lambda user: JunosCli(_grammar(), commits, user)


@cache
def _grammar() -> CliGrammar:
    return cli_grammar(__package__ or "")


class JunosCli(JunosShows, VirtualCli):
    """A session. Its candidate is that of all sessions, or its own in private and exclusive mode."""

    def __init__(self, grammar: CliGrammar, commits: Commits, user: CliUser) -> None:
        VirtualCli.__init__(self, grammar, commits.device.name, user)
        self._commits = commits
        self._device = commits.device
        self._editor: Editor | None = None
        self._private: Hierarchy | None = None
        self._place: Statement = ()
        self._asks = False

    def banner(self) -> str:
        return f"--- JUNOS {self._device.images.release} built 2025-01-01 00:00:00 UTC\n"

    def places(self) -> Mapping[str, str]:
        return {"place": f" {shown(self._place)}" if self._place else "", "user": self.user.name}

    def answer(self, line: str, more: bool = False) -> Reply:
        if self._asks:
            self._asks = False
            if line.strip() == "yes":
                self._device.restart()
                return Reply(output="Shutdown NOW!\n", closes=True)
            return self._reply("", 0)
        return super().answer(line, more)

    def _reply(self, output: str, status: int) -> Reply:
        """Answers begin after a blank and end with an empty line, below which the prompt stands."""
        reply = super()._reply(output, status)
        if reply.takes_text or reply.closes or self._asks:
            return Reply(
                output=output if self._asks else reply.output, takes_text=reply.takes_text, closes=reply.closes
            )
        waits = self._commits.pending_minutes()
        notice = f"{self.text('waits', minutes=waits)}\n" if waits and self.mode == CONFIGURATION else ""
        return Reply(output=f"{reply.output}\n{notice}", prompt=reply.prompt, status=status, line_break=" \n")

    def greeting(self) -> Reply:
        return Reply(output=self.banner(), prompt=self.prompt(), line_break=" \n")

    def closed(self) -> None:
        """A private or exclusive candidate ends with its session; what is in the shared one stays."""
        if self._editor is not None:
            self._commits.leave(self._editor.pid)

    # Operational mode

    def show_configuration(self, path: str = "", form: str = "") -> str:
        entry = self._commits.entries()[0]
        if path:
            return self._section(Hierarchy.read(entry.text), path, form)
        if form == SET:
            return f"set version {self._device.images.release}\n{_set_lines(read(entry.text))}"
        _require_braces(form)
        head = f"## Last commit: {entry.date()} by {entry.user}\nversion {self._device.images.release};\n"
        return head + entry.text

    def _section(self, configuration: Hierarchy, path: str, form: str) -> str:
        """Print a configuration at a path, which is below the present place."""
        (place,) = self._paths(path) if path else (self._place,)
        if form == SET:
            stated = read(configuration.text())
            return _set_lines(statement for statement in stated if statement[: len(place)] == place)
        _require_braces(form)
        return configuration.section(place)

    def show_commits(self) -> str:
        minutes, lines = self._commits.pending_minutes(), list[str]()
        for number, entry in enumerate(self._commits.entries()):
            confirmed = "" if entry.minutes is None else " commit confirmed"
            waits = number == 0 and minutes is not None
            left = f", rollback in {minutes}mins" if waits else ""
            lines.append(f"{number}   {entry.date()} by {entry.user} via {entry.via}{confirmed}{left}")
            lines += [f"    {entry.comment}"] if entry.comment else []
            lines += ["    rollback pending"] if waits else []
        return "\n".join(lines)

    def reboot(self) -> str:
        self._require_permission()
        self._asks = True
        return "Reboot the system ? [yes,no] (no) "

    def file_checksum(self, algorithm: str, path: str) -> str:
        return software.checksum(self._device, algorithm, path)

    def add_software(self, path: str) -> str:
        self._require_permission()
        return software.add(self._device, path)

    def run(self, command: str, form: str = "") -> str:
        """Run an operational command from configuration mode."""
        self.mode = OPERATIONAL
        try:
            return self._output(f"{command} | {form}" if form else command)
        finally:
            self.mode = CONFIGURATION

    # Configuration mode

    def configure_shared(self) -> str:
        self._require_permission()
        self._refuse_exclusive()
        return self._edit("shared", self.text("enter"))

    def configure_private(self) -> str:
        self._require_permission()
        self._refuse_exclusive()
        if self._commits.shared is not None:
            raise CliRefusal("error: shared configuration database modified")
        self._private = Hierarchy.read(self._device.running())
        return self._edit("private", self.text("discards"))

    def configure_exclusive(self) -> str:
        self._require_permission()
        with self._commits.lock:
            self._refuse_exclusive()
            if self._commits.shared is not None:
                editor = self._commits.editor("shared") or Editor(self.user.name, "shared", 0, datetime.now(UTC))
                raise CliRefusal(self.text("modified", **_words(editor)))
            self._private = Hierarchy.read(self._device.running())
            return self._edit("exclusive", self.text("discards"))

    def _refuse_exclusive(self) -> None:
        if editor := self._commits.editor("exclusive"):
            raise CliRefusal(self.text("locked", **_words(editor)))

    def _edit(self, kind: str, text: str) -> str:
        self._editor = Editor(self.user.name, kind, next(_PIDS), datetime.now(UTC))
        self._commits.enter(self._editor)
        self.mode, self._place = CONFIGURATION, ()
        return text

    def _require_permission(self) -> None:
        if not self.user.writes:
            raise CliRefusal(self.text("denied"))

    def leave(self) -> str:
        if self._place:
            return self.up()
        return self.leave_configuration()

    def leave_configuration(self) -> str:
        self.closed()
        self._editor = self._private = None
        self.mode, self._place = OPERATIONAL, ()
        return self.text("leave")

    def show(self, path: str = "", form: str = "") -> str:
        if form == "compare":
            return compared(self._device.running(), self._candidate().text())
        return self._section(self._candidate(), path, form)

    def set_statement(self, path: str) -> str:
        for statement in self._paths(path):
            self._change().set(statement)
        return ""

    def delete_statement(self, path: str) -> str:
        for statement in self._paths(path):
            if not self._change().delete(statement):
                raise CliRefusal(self.text("nothing", path=path))
        return ""

    def edit(self, path: str) -> str:
        (self._place,) = self._paths(path)
        return ""

    def top(self) -> str:
        self._place = ()
        return ""

    def up(self) -> str:
        self._place = self._place[:-1]
        return ""

    def load_override(self) -> str:
        return self._load(lambda text: self._exchange(Hierarchy.read(text)))

    def load_merge(self) -> str:
        return self._load(lambda text: self._change().merge(text))

    def load_set(self) -> str:
        def load(text: str) -> None:
            for statement in statements(text):
                self._change().set(statement)

        return self._load(load)

    def _load(self, load: Callable[[str], None]) -> str:
        def take(text: str) -> str:
            try:
                load(text)
            except ConfigError as error:
                raise CliRefusal(f"{error.where}: syntax error\n{self.text('load_errors')}") from None
            return self.text("load")

        self.read_text(take)
        return self.text("text")

    def rollback(self, number: str = "0") -> str:
        entries = self._commits.entries()
        if not number.isdecimal() or int(number) >= len(entries):
            raise CliRefusal("error: could not open configuration rollback")
        self._exchange(Hierarchy.read(entries[int(number)].text))
        if int(number) == 0 and self._private is None:
            self._commits.shared = None
        return self.text("load")

    def commit(self, text: str = "") -> str:
        """Commit. text: a comment, and `and-quit` behind it."""
        comment = text.removesuffix(AND_QUIT)
        self._check()
        self._commits.commit(self._candidate().text(), self.user.name, comment=_unquoted(comment))
        self._renew()
        return self.text("complete") if comment == text else f"{self.text('complete')}\n{self.leave_configuration()}"

    def commit_and_quit(self) -> str:
        return f"{self.commit()}\n{self.leave_configuration()}"

    def commit_check(self) -> str:
        self._check()
        self._commits.confirm()
        return self.text("succeeds")

    def commit_confirmed(self, minutes: str = "10", text: str = "") -> str:
        if not minutes.isdecimal() or not 1 <= int(minutes) <= 65535:
            raise CliRefusal(f"error: invalid value: {minutes}")
        self._check()
        candidate, comment = self._candidate().text(), text.removesuffix(AND_QUIT)
        self._commits.commit(candidate, self.user.name, comment=_unquoted(comment), minutes=int(minutes))
        self._renew()
        said = self.text("confirmed", minutes=minutes)
        return said if comment == text else f"{said}\n{self.leave_configuration()}"

    def commit_confirmed_and_quit(self, minutes: str) -> str:
        return f"{self.commit_confirmed(minutes)}\n{self.leave_configuration()}"

    def _check(self) -> None:
        candidate = self._candidate().text()
        if not has_root_authentication(candidate):
            raise CliRefusal(self.text("no_root"))
        self._device.check(candidate)

    def refusal(self, error: RailfabError) -> str:
        return self.text("refused", problem="; ".join(str(error).splitlines()))

    def _candidate(self) -> Hierarchy:
        """The candidate as it is read: that of this session, the shared one, or the running configuration."""
        return self._private or self._commits.shared or Hierarchy.read(self._device.running())

    def _change(self) -> Hierarchy:
        """The candidate, to be changed."""
        if self._private is not None:
            return self._private
        if self._commits.shared is None:
            self._commits.shared = Hierarchy.read(self._device.running())
        return self._commits.shared

    def _exchange(self, candidate: Hierarchy) -> None:
        self._change().root = candidate.root

    def _renew(self) -> None:
        if self._private is not None:
            self._private = Hierarchy.read(self._device.running())

    def _paths(self, path: str) -> list[Statement]:
        try:
            return [(*self._place, *statement) for statement in brace_statements(f"{path};")]
        except ConfigError:
            raise CliRefusal("syntax error.") from None


def _set_lines(statements: Iterable[Statement]) -> str:
    return "".join(f"set {shown(statement)}\n" for statement in statements)


def _require_braces(form: str) -> None:
    """Raise CliRefusal for a form of a configuration that is not served."""
    if form:
        raise CliRefusal("syntax error.")


def _words(editor: Editor) -> dict[str, object]:
    return {"user": editor.user, "pid": editor.pid, "since": f"{editor.since:%Y-%m-%d %H:%M:%S} UTC"}


def _unquoted(text: str) -> str:
    try:
        return " ".join(shlex.split(text))
    except ValueError:
        return text
