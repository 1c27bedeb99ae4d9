"""The CLI of a virtual switch with NX-OS."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from railfab.platforms.nxos.bootflash import Bootflash
from railfab.platforms.nxos.config_replace import ConfigReplace, check_seconds, is_known
from railfab.platforms.nxos.installer import NxosInstaller
from railfab.platforms.nxos.known_lines import refusals
from railfab.platforms.nxos.lines import FORMAT
from railfab.platforms.nxos.running_text import twin_grammar
from railfab.platforms.nxos.shows import NxosShows
from railfab.platforms.nxos.tcl_shell import TclError, TclShell
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.terminal_configuration import TerminalConfiguration
from railfab.platforms.shared.typed_lines import LineRules, line_rules
from railfab.platforms.shared.virtual_cli import CliGrammar, CliRefusal, VirtualCli, cli_grammar
from railfab.platforms.twin_face import VirtualDevice
from railfab.ssh import CliUser, NewCli, ReadInput, Reply

UNKNOWN_STATUS, DENIED_STATUS = 16, 30
"""Exit status of an exec request with an unknown command, and with one that the user may not run."""
READS = ("show", "terminal", "exit", "dir", "enable")
BANNER = """
Cisco NX-OS Software
Copyright (c) 2002-2019, Cisco Systems, Inc. All rights reserved.
"""
_SPACED = re.compile(r"^(\s*sh\S* .*\binterface [a-z-]+) +(\d)", re.IGNORECASE)
"""A command that shows a port whose name is typed with a blank: `show interface ethernet 1/1`."""
_HOSTNAME = re.compile(r"^hostname (\S+)$", re.MULTILINE)


def cli(device: VirtualDevice) -> NewCli:
    """Makes the CLIs of a device."""
    flash = Bootflash(device.images)
    changes = ConfigReplace(device, flash)
    return lambda user: NxosCli(device, flash, changes, user)


@cache
def _grammar() -> CliGrammar:
    return cli_grammar(__package__)


@cache
def _rules() -> LineRules:
    return line_rules(twin_grammar())


class NxosCli(NxosShows, VirtualCli):
    """See `railfab.platforms.shared.virtual_cli`. A user that may only read is refused in the words of a role.

    Lines of `configure terminal` take effect with the last that has arrived. In `tclsh` lines are Tcl, which writes
    files.
    """

    UNSETTLED = frozenset({"leave"})

    def __init__(self, device: VirtualDevice, flash: Bootflash, changes: ConfigReplace, user: CliUser) -> None:
        VirtualCli.__init__(self, _grammar(), device.name, user)
        self.device = device
        self._flash = flash
        self._changes = changes
        self._typed: TerminalConfiguration | None = None
        self._tcl: TclShell | None = None
        self._installer = NxosInstaller(device)
        self._asks, self._question = True, ""

    def banner(self) -> str:
        return BANNER

    def answer(self, line: str, more: bool = False) -> Reply:
        if self._question:
            return self._take_answer(line)
        if self._tcl is not None:
            return self._answer_tcl(self._tcl, line)
        if line.strip() and not self.user.writes and line.split()[0] not in READS:
            return self._reply(self.text("denied"), DENIED_STATUS)
        return VirtualCli.answer(self, line, more)

    def _output(self, line: str) -> str:
        if self._typed is not None and self._typed.in_literal:
            self._typed.take(line)
            return ""
        return VirtualCli._output(self, _SPACED.sub(r"\1\2", line))

    def execute(self, command: str, read_input: ReadInput) -> Reply:
        reply = VirtualCli.execute(self, command, read_input)
        if reply.status == 1 and "% Invalid command" in reply.output:
            return Reply(output=self.text("exec", line=command) + "\n", status=UNKNOWN_STATUS, closes=True)
        return reply

    def prompt(self) -> str:
        if self._question:
            return self.text("question")
        if self._typed is not None:
            name = self._typed.value("hostname")
        else:
            name = match[1] if (match := _HOSTNAME.search(self.device.running())) else None
        self.host = name or "switch"
        if self._tcl is not None:
            return "> " if self._tcl.is_open else f"{self.host}-tcl# "
        if self._typed is not None and self._typed.in_literal:
            return ""
        return VirtualCli.prompt(self)

    def places(self) -> Mapping[str, str]:
        return {"place": self._typed.place if self._typed else ""}

    # tclsh

    def open_tcl(self) -> str:
        self._tcl = TclShell(self._flash)
        return ""

    def _answer_tcl(self, tcl: TclShell, line: str) -> Reply:
        if not tcl.is_open and line.strip() in ("tclquit", "exit"):
            self._tcl = None
            return self._reply(self.text("left_tcl"), 0)
        try:
            return self._reply(tcl.take(line), 0)
        except TclError as error:
            return self._reply(error.text, 1)

    # Configuration

    def configure_terminal(self) -> str:
        self._typed = TerminalConfiguration(self.device, FORMAT, _rules())
        self.mode = "config"
        return self.text("entered")

    def leave(self) -> str:
        assert self._typed is not None
        return "" if self._typed.leave() else self.end()

    def end(self) -> str:
        refused = self.settle()
        self._typed = None
        self.mode = "exec"
        return refused

    def settle(self) -> str:
        return "" if self._typed is None else "\n".join(map(self.refusal, self._typed.apply()))

    def configure(self, line: str) -> str:
        typed = self._typed
        assert typed is not None
        if line.strip() and line.strip()[0] not in FORMAT.comments:
            self._enter_mode_of(typed, line.strip())
        typed.take(line)
        return ""

    def _enter_mode_of(self, typed: TerminalConfiguration, line: str) -> None:
        """Leave the modes that do not have this line. Raises CliRefusal where no mode has it."""
        depths = range(len(typed.section), -1, -1)
        faults = [_fault(typed.section[:depth], line) for depth in depths]
        if all(faults):
            is_range = "number" in faults[0]
            column = len(self.prompt()) + (line.rfind(" ") + 1 if is_range else 0)
            raise CliRefusal(self.text("range" if is_range else "unknown", caret=" " * column + "^"))
        for _ in range(faults.index("")):
            typed.leave()

    # Changes from files

    def replace(self, file: str, seconds: str = "") -> str:
        return self._changes.replace(file, self.user.name, check_seconds(seconds) if seconds else None)

    def verify(self, file: str) -> str:
        return self._changes.verify(file)

    def show_patch(self, file: str) -> str:
        return self._changes.show_patch(file)

    def confirm(self) -> str:
        return self._changes.confirm()

    def abort(self) -> str:
        return self._changes.abort()

    def rollback(self, file: str) -> str:
        return self._changes.rollback(file)

    def checkpoint(self, file: str) -> str:
        return self._changes.checkpoint(file, self.host)

    def show_log(self) -> str:
        return self._changes.show_log()

    def save(self) -> str:
        self.device.save()
        return self.text("copied")

    def reload(self) -> str:
        self.device.restart()
        return self.end_session()

    # Images

    def dont_ask(self) -> str:
        self._asks = False
        return ""

    def do_ask(self) -> str:
        self._asks = True
        return ""

    def install(self, file: str) -> str:
        """Check an image and install it; the reload is another command."""
        return self._begin(file, f"install all nxos {file} no-reload", reloads=False)

    def install_and_reload(self, file: str) -> str:
        return self._begin(file, f"install all nxos {file}", reloads=True)

    def _begin(self, file: str, command: str, *, reloads: bool) -> str:
        """Check an image, and install it at once or after a question."""
        checked = self._installer.check(file)
        if self._asks:
            self._question = command
            return checked
        return f"{checked}\n{self._install(file, reloads=reloads)}"

    def _install(self, file: str, *, reloads: bool) -> str:
        said = self._installer.install(file, reloads=reloads)
        if reloads:
            self.end_session()
        return said

    def _take_answer(self, line: str) -> Reply:
        """Install after a yes to the question."""
        command, self._question = self._question, ""
        if line.strip().lower() not in ("y", "yes"):
            return self._reply("", 0)
        file = command.split()[3]
        return self._reply(self._install(file, reloads=not command.endswith(" no-reload")), 0)

    def show_checksum(self, file: str, algorithm: str) -> str:
        return self._installer.checksum(file, algorithm)

    # Files

    def move(self, file: str, to: str) -> str:
        self._flash.move(file, to)
        return ""

    def delete(self, file: str) -> str:
        self._flash.delete(file)
        return ""

    def list_files(self, place: str = "bootflash:") -> str:
        return self._flash.listing(place)

    def show_file(self, file: str) -> str:
        return self._flash.read(file).content


def _fault(section: tuple[str, ...], line: str) -> str:
    """Fault of a line in a section; empty for one that NX-OS has there."""
    if not is_known(line, section[-1].split()[0] if section else "top"):
        return "is no line of NX-OS here"
    stated = Line(line)
    for header in reversed(section):
        stated = Line(header, (stated,))
    refused = refusals(FORMAT.text((stated,)))
    return refused[0].problem if refused else ""
