"""The CLI of a virtual switch with NX-OS."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from functools import cache

from railfab.errors import RailfabError
from railfab.platforms.nxos.bootflash import Bootflash
from railfab.platforms.nxos.config_replace import ConfigReplace, check_seconds, is_known
from railfab.platforms.nxos.known_lines import refusals
from railfab.platforms.nxos.lines import FORMAT
from railfab.platforms.nxos.running_text import twin_grammar
from railfab.platforms.nxos.shows import NxosShows
from railfab.platforms.nxos.tcl_shell import TclError, TclShell
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.typed_lines import LineRules, TypedLines, line_rules
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
_HOSTNAME = re.compile(r"^hostname (\S+)$", re.MULTILINE)


def cli(device: VirtualDevice) -> NewCli:
    """Makes the CLIs of a device."""
    flash = Bootflash()
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

    In `configure terminal` each line takes effect at once. In `tclsh` lines are Tcl, which writes files.
    """

    def __init__(self, device: VirtualDevice, flash: Bootflash, changes: ConfigReplace, user: CliUser) -> None:
        VirtualCli.__init__(self, _grammar(), device.name, user)
        self.device = device
        self._flash = flash
        self._changes = changes
        self._typed: TypedLines | None = None
        self._tcl: TclShell | None = None

    def banner(self) -> str:
        return BANNER

    def answer(self, line: str) -> Reply:
        if self._tcl is not None:
            return self._answer_tcl(self._tcl, line)
        typed = self._typed
        if typed is not None and typed.in_literal:
            typed.take(line)
            return self._reply("" if typed.in_literal else self._applied(typed), 0)
        if line.strip() and not self.user.writes and line.split()[0] not in READS:
            return self._reply(self.text("denied"), DENIED_STATUS)
        return VirtualCli.answer(self, line)

    def execute(self, command: str, read_input: ReadInput) -> Reply:
        reply = VirtualCli.execute(self, command, read_input)
        if reply.status == 1 and "% Invalid command" in reply.output:
            return Reply(output=self.text("exec", line=command) + "\n", status=UNKNOWN_STATUS, closes=True)
        return reply

    def prompt(self) -> str:
        match = _HOSTNAME.search(self.device.running())
        self.host = match[1] if match else "switch"
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
        self._typed = TypedLines(FORMAT, _rules(), self.device.running())
        self.mode = "config"
        return self.text("entered")

    def leave(self) -> str:
        assert self._typed is not None
        return "" if self._typed.leave() else self.end()

    def end(self) -> str:
        self._typed = None
        self.mode = "exec"
        return ""

    def configure(self, line: str) -> str:
        typed = self._typed
        assert typed is not None
        if line.strip() and line.strip()[0] not in FORMAT.comments:
            self._check(typed, line)
        typed.take(line)
        return "" if typed.in_literal else self._applied(typed)

    def _check(self, typed: TypedLines, line: str) -> None:
        """Raise CliRefusal for a line that NX-OS has neither in this mode nor at the top level."""
        bare = line.strip()
        faults = [_fault(typed.section, bare), _fault((), bare)]
        if all(faults) or (not typed.section and faults[0]):
            is_range = "number" in faults[0]
            column = len(self.prompt()) + (bare.rfind(" ") + 1 if is_range else 0)
            raise CliRefusal(self.text("range" if is_range else "unknown", caret=" " * column + "^"))

    def _applied(self, typed: TypedLines) -> str:
        """Have a line take effect; a refused one leaves the running configuration as it was."""
        try:
            self.device.replace(typed.text())
        except RailfabError:
            place = typed.section
            self._typed = TypedLines(FORMAT, _rules(), self.device.running())
            for header in place:
                self._typed.take(header)
            raise
        return ""

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

    # Files

    def move(self, file: str, to: str) -> str:
        self._flash.move(file, to)
        return ""

    def delete(self, file: str) -> str:
        self._flash.delete(file)
        return ""

    def list_files(self, place: str = "bootflash:") -> str:
        if not place.startswith("bootflash:"):
            raise CliRefusal(self.text("absent"))
        return self._flash.listing()

    def show_file(self, file: str) -> str:
        return self._flash.read(file).content

    # Configurations

    def show_running(self) -> str:
        return self._headed("running-config", self.device.running())

    def show_startup(self) -> str:
        return self._headed("startup-config", self.device.startup())

    def _headed(self, kind: str, text: str) -> str:
        now = time.strftime("%a %b %d %H:%M:%S %Y", time.gmtime())
        return f"\n!Command: show {kind}\n!No configuration change since last restart\n!Time: {now}\n\n{text}\n\n"


def _fault(section: tuple[str, ...], line: str) -> str:
    """Fault of a line in a section; empty for one that NX-OS has there."""
    if not is_known(line, section[-1].split()[0] if section else "top"):
        return "is no line of NX-OS here"
    stated = Line(line)
    for header in reversed(section):
        stated = Line(header, (stated,))
    refused = refusals(FORMAT.text((stated,)))
    return refused[0].problem if refused else ""
