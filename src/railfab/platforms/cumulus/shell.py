"""The shell of a virtual Cumulus Linux switch: the commands of NVUE that change, apply and save the configuration."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml

from railfab.errors import ConfigError, RailfabError
from railfab.platforms.cumulus.commands import commands_of
from railfab.platforms.cumulus.nvue_tables import table
from railfab.platforms.cumulus.parse import tree_of
from railfab.platforms.cumulus.patch import patch_text, typed
from railfab.platforms.cumulus.revisions import (
    APPLIED,
    InvalidRevision,
    NvueRevision,
    NvueRevisions,
    operations_of,
)
from railfab.platforms.cumulus.shell_shows import MODEL, CumulusShows
from railfab.platforms.cumulus.tree import lines, text
from railfab.platforms.shared.linux_files import CommandFailed
from railfab.platforms.shared.virtual_cli import CliGrammar, cli_grammar
from railfab.platforms.shared.virtual_host import VirtualHost
from railfab.platforms.twin_face import VirtualDevice
from railfab.ssh import CliUser, Reply

STARTUP_FILE = "/etc/nvue.d/startup.yaml"
DEFAULT_CONFIRM_S = 600.0
"""Time of `--confirm` without one (NVUE-CLI) [s]."""
UNITS_S = {"s": 1, "m": 60, "h": 3600, "": 60}
"""Seconds of the units of `--confirm`; a number alone is one of minutes (NVUE-CLI)."""
FORMS = ("yaml", "json", "commands")
YES, NO = frozenset(("-y", "--y", "--assume-yes")), "--assume-no"
_TIME = re.compile(r"(\d+)([smh]?)")


@dataclass(slots=True)
class ApplyOptions:
    """Options of `nv config apply`. verb: one of `--confirm-status`, `--confirm-yes`, `--confirm-no`."""

    revision: str | None = None
    message: str = ""
    within_s: float | None = None
    verb: str = ""
    answer: bool | None = None


class CumulusShell(CumulusShows):
    """A login at a virtual Cumulus Linux switch. revisions: of the switch."""

    def __init__(self, grammar: CliGrammar, host: VirtualHost, user: CliUser, revisions: NvueRevisions) -> None:
        super().__init__(grammar, host, user)
        self.revisions = revisions
        self._is_terminal = False
        self._question: Callable[[], str] | None = None

    def root_login(self) -> CumulusShell:
        return CumulusShell(self._grammar, self.host, CliUser(name="root"), self.revisions)

    def answer(self, line: str, more: bool = False) -> Reply:
        """Answer a line at the terminal, which is the answer to a question where `apply` has asked one."""
        if self._question is None:
            self._is_terminal = True
            return super().answer(line, more)
        act, self._question = self._question, None
        try:
            output = act() if line.strip().lower() in ("y", "yes") else ""
        except CommandFailed as failed:
            output = failed.result.errors
        return Reply(output=f"{output}\n" if output and not output.endswith("\n") else output, prompt=self.prompt())

    def prompt(self) -> str:
        return self.text("sure") if self._question else super().prompt()

    @property
    def account(self) -> str:
        """The user whose pending revision the command that runs changes."""
        return "root" if self.is_root else self.user.name

    def show(self, form: str = "yaml") -> str:
        tree = tree_of(self.device.running())
        version = f"Cumulus Linux {self.device.images.release}"
        header = {"model": MODEL, "nvue-api-version": "nvue_v1", "rev-id": 1.0, "version": version}
        if form == "commands":
            return "\n".join(lines(tree))
        if form == "json":
            return json.dumps([{"header": header}, {"set": typed(tree)}])
        return f"{yaml.safe_dump([{'header': header}])}{text(typed(tree))}"

    def difference(self, revision: str = "", second: str = "", form: str = "yaml") -> str:
        """Changes from one revision to another; to the pending one where none is named."""
        before = self._revision(revision or APPLIED)
        pending = self.revisions.pending(self.account)
        after = self._revision(second) if second else tree_of(self.device.running()) if pending is None else pending
        if form != "commands":
            return patch_text(before, after)
        operations = operations_of(patch_text(before, after))
        listed = [(operation.sets, line) for operation in operations for line in lines(operation.tree)]
        return "\n".join(line if sets else line.replace("nv set", "nv unset", 1) for sets, line in listed)

    def patch(self, file: str) -> str:
        return self._load(file, anew=False)

    def replace(self, file: str) -> str:
        return self._load(file, anew=True)

    def _load(self, file: str, *, anew: bool) -> str:
        self._check_writes()
        try:
            operations = operations_of(self.host.files.read(self.path(file)))
        except ConfigError as error:
            raise CommandFailed(f"Error: {error.problem}") from None
        return self._created(self.revisions.edit(self.account, operations, anew=anew))

    def set_path(self, path: str) -> str:
        return self._edit(f"nv set {path}")

    def unset_path(self, path: str) -> str:
        return self._edit(f"nv unset {path}")

    def _edit(self, command: str) -> str:
        self._check_writes()
        return self._created(self.revisions.edit(self.account, tuple(commands_of(command)[0])))

    def _created(self, number: int | None) -> str:
        return "" if number is None else self.text("created", number=number)

    def detach(self) -> str:
        self._check_writes()
        self.revisions.detach(self.account)
        return ""

    def apply(self, options: str = "") -> str:
        chosen = self._options(options)
        if chosen.verb == "--confirm-status":
            left_s = self.revisions.timed.left_s
            return self.text("left", seconds=round(left_s)) if self.revisions.timed.name else self.text("idle")
        self._check_writes()
        if chosen.verb:
            return self._finish(keeps=chosen.verb == "--confirm-yes")
        if self.revisions.timed.name is not None:
            raise CommandFailed(self.text("waits"))
        warning = self._warning(chosen)
        if warning and chosen.answer is None and self._is_terminal:
            self._question = lambda: self._apply(chosen)
            return f"{warning}\n"
        if warning and not chosen.answer:
            return warning
        return "\n".join(part for part in (warning, self._apply(chosen)) if part)

    def _apply(self, chosen: ApplyOptions) -> str:
        named = None if chosen.revision is None else text(self._revision(chosen.revision))
        try:
            revision = self.revisions.apply(self.account, named, message=chosen.message, within_s=chosen.within_s)
        except InvalidRevision as invalid:
            raise CommandFailed(self.text("invalid", number=invalid.number, problem=invalid.problem)) from None
        return self.text("applied_and_saved" if revision.saved else "applied", number=revision.number)

    def _finish(self, *, keeps: bool) -> str:
        """Keep or cancel the change that waits."""
        if not (self.revisions.confirm() if keeps else self.revisions.cancel()):
            raise CommandFailed(self.text("idle"))
        number = self.revisions.applied[-1].number
        return self.text("applied_and_saved" if keeps else "applied", number=number)

    def _warning(self, chosen: ApplyOptions) -> str:
        """The warning before the question of `apply`: another name of the switch."""
        pending = self.revisions.pending(self.account)
        after = self._revision(chosen.revision) if chosen.revision is not None else pending
        before = tree_of(self.device.running())
        names = [tree.get("system", {}).get("hostname", "") for tree in (before, after or before)]
        return self.text("renames", former=names[0], hostname=names[1]) if names[0] != names[1] else ""

    def save(self) -> str:
        self._check_writes()
        self.device.save()
        return self.text("saved")

    def list_revisions(self, form: str = "") -> str:
        """The revisions that were applied, newest first."""
        newest = [*reversed(self.revisions.applied)]
        if form == "json":
            return json.dumps([_entry(revision) for revision in newest])
        header = ("Rev ID", "State", "Apply ID", "Apply Date", "Type", "User", "Reason", "Message")
        return table(header, [_listed(revision) for revision in newest])

    def reboot(self) -> str:
        self.device.restart()
        return ""

    def refusal(self, error: RailfabError) -> str:
        return f"Error: {error.where} {error.problem}"

    def _check_writes(self) -> None:
        if not (self.user.writes or self.is_root):
            raise CommandFailed(self.text("denied"))

    def _revision(self, name: str) -> dict[str, Any]:
        configuration = self.revisions.configuration(name)
        if configuration is None:
            raise CommandFailed(self.text("no_revision", number=name))
        return tree_of(configuration)

    def _options(self, options: str) -> ApplyOptions:
        chosen, words = ApplyOptions(), shlex.split(options)
        while words:
            option, equals, value = words.pop(0).partition("=")
            if option in YES:
                chosen.answer = True
            elif option == NO:
                chosen.answer = False
            elif option in ("-m", "--message") and (equals or words):
                chosen.message = value if equals else words.pop(0)
            elif option == "--confirm":
                given = equals or (words and _TIME.fullmatch(words[0]))
                chosen.within_s = self._seconds(value or words.pop(0)) if given else DEFAULT_CONFIRM_S
            elif option in ("--confirm-status", "--confirm-yes", "--confirm-no"):
                chosen.verb = option
            elif option.startswith("-") or chosen.revision is not None:
                raise CommandFailed(self.text("unknown", line=f"nv config apply {options}"))
            else:
                chosen.revision = option
        return chosen

    def _seconds(self, time: str) -> float:
        match = _TIME.fullmatch(time)
        if match is None:
            raise CommandFailed(self.text("unknown", line=f"nv config apply --confirm {time}"))
        return float(match[1]) * UNITS_S[match[2]]


def _state(revision: NvueRevision) -> str:
    return "applied_and_saved" if revision.saved else "applied"


def _listed(revision: NvueRevision) -> tuple[str, ...]:
    date = f"{revision.date:%Y-%m-%d %H:%M:%S}"
    identifier = f"rev_{revision.number}_apply_1"
    whose = ("CLI", revision.user, "Config update", revision.message)
    return (str(revision.number), _state(revision), identifier, date, *whose)


def _entry(revision: NvueRevision) -> dict[str, Any]:
    meta = {"method": "CLI", "reason": "Config update", "rev_id": str(revision.number), "user": revision.user}
    meta |= {"message": revision.message} if revision.message else {}
    identifier = f"rev_{revision.number}_apply_1"
    return {"apply-id": identifier, "apply-meta": meta, "date": f"{revision.date:%Y-%m-%d %H:%M:%S}"}


@cache
def grammar() -> CliGrammar:
    """The commands of the shell."""
    return cli_grammar(__package__ or "")


def logins(device: VirtualDevice) -> Callable[[CliUser], CumulusShell]:
    """Make the logins of one switch, which share its files, revisions and timers."""
    host = VirtualHost.of(device, ("/etc/nvue.d", "/home/cumulus", "/var/images"), {STARTUP_FILE: device.startup})
    revisions = NvueRevisions(device)
    return lambda user: CumulusShell(grammar(), host, user, revisions)
