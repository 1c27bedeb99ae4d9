"""`configure replace`, `checkpoint` and `rollback` of a virtual switch: changes from files, and the timer of one."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from threading import RLock

from railfab.errors import RailfabError
from railfab.platforms.nxos import replace_limits
from railfab.platforms.nxos.bootflash import Bootflash, file_name
from railfab.platforms.nxos.known_lines import refusals
from railfab.platforms.nxos.lines import FORMAT
from railfab.platforms.nxos.running_text import shown, twin_grammar
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.timed_change import TimedChange
from railfab.platforms.shared.virtual_cli import CliRefusal
from railfab.platforms.twin_face import VirtualDevice

_ALWAYS_THERE = re.compile(r"interface (?:Ethernet\S+|mgmt0)")
FORM = "%a, %H:%M:%S %d %b %Y"


@dataclass(frozen=True, slots=True)
class ReplaceLog:
    """The last change, for `show config-replace log exec`. times_s: Unix time of its begin and end [s]."""

    user: str
    times_s: tuple[float, float]
    patch: tuple[str, ...]
    is_done: bool


class ConfigReplace:
    """The changes of one switch from files, which all its CLIs share. The timer of one is lost with its power."""

    def __init__(self, device: VirtualDevice, flash: Bootflash) -> None:
        self._device = device
        self._flash = flash
        self._lock = RLock()
        self._change = TimedChange(device)
        self._log: ReplaceLog | None = None

    def verify(self, place: str) -> str:
        """`configure replace FILE verify-only`. Raises CliRefusal."""
        text, patch = self._candidate(place)
        head = _text("matched")
        problem = self._problem(text)
        verdict = _text("valid") if not problem else _text("invalid", problem=problem)
        return f"\n{head}\n{_text('verified', patch=_quoted(patch), verdict=verdict)}\n"

    def show_patch(self, place: str) -> str:
        """`configure replace FILE show-patch`. Raises CliRefusal."""
        _, patch = self._candidate(place)
        return f"\n{_text('matched')}\n{_quoted(patch)}\n"

    def replace(self, place: str, user: str, within_s: int | None) -> str:
        """Make a file the running configuration, for a time where one is given. Raises CliRefusal."""
        with self._lock:
            if self._change.name is not None:
                raise CliRefusal(_text("pending"))
            begin_s = time.time()
            text, patch = self._candidate(place)
            problem = self._problem(text)
            if not problem:
                problem = self._replaced(text, place, within_s)
            self._log = ReplaceLog(user, (begin_s, time.time()), patch, not problem)
            done = [_text("failed"), _text("refused", problem=problem)] if problem else [_text("replaced")]
            return "\n".join(["", _text("matched"), *_steps("Config Replace", patch), "", *done]) + "\n"

    def confirm(self) -> str:
        """`configure replace commit`. Raises CliRefusal where nothing waits for it."""
        if not self._change.confirm():
            raise CliRefusal(_text("settled"))
        return ""

    def abort(self) -> str:
        """`configure replace abort`. Raises CliRefusal where nothing waits."""
        if not self._change.revert():
            raise CliRefusal(_text("settled"))
        return ""

    def rollback(self, place: str) -> str:
        """`rollback running-config file FILE`. Raises CliRefusal for a file that is no checkpoint."""
        with self._lock:
            file = self._flash.read(place)
            head, *steps = _steps("Rollback", self._patch(shown(file.content)))
            if not file.is_checkpoint:
                advisory = "\n".join(head.splitlines()[:3])
                raise CliRefusal(f"{advisory}\n\n{_text('no_checkpoint')}")
            self._change.confirm()
            self._device.replace(file.content)
            return "\n".join([head, *steps, "", _text("returned")]) + "\n"

    def checkpoint(self, place: str, host: str) -> str:
        """`checkpoint file FILE`. Raises CliRefusal where it does not fit."""
        header = f"!Command: Checkpoint cmd vdc 1\n!Time: {time.ctime()}\n\n"
        if not self._flash.write(place, header + self._device.running(), is_checkpoint=True):
            raise CliRefusal(_text("refused", problem=f"{host}: no space left on device"))
        return ""

    def show_log(self) -> str:
        """`show config-replace log exec`."""
        log = self._log
        if log is None:
            return ""
        begin, end = (time.strftime(FORM, time.gmtime(at_s)) for at_s in log.times_s)
        rows = {
            "Operation": "Config-replace to user config",
            "Checkpoint file name": ".replace_tmp_1",
            "Scheme": "tmp",
            "Cfg-replace done By": log.user,
            "Cfg-replace mode": "atomic",
            "Verbose": "disabled",
            "Start Time": begin,
            "Start Time UTC": begin,
            "End Time": end,
            "End Time UTC": end,
            "Rollback Status": "Success" if log.is_done else "Failed",
        }
        lines = [f"{name:<20} : {value}" for name, value in rows.items()]
        return "\n".join([*lines, "", "Executing Patch:", "-" * 16, _quoted(log.patch)]) + "\n"

    def _replaced(self, text: str, place: str, within_s: int | None) -> str:
        """The problem of a candidate that the switch does not take, else nothing."""
        try:
            if within_s is None:
                self._device.replace(text)
            else:
                self._change.commit(text, file_name(place), within_s)
        except RailfabError as error:
            return str(error).partition("\n")[0]
        return ""

    def _candidate(self, place: str) -> tuple[str, tuple[str, ...]]:
        """The configuration in a file, and the patch that makes it the running one. Raises CliRefusal."""
        text = self._flash.read(place).content
        versions = {line.text for line in FORMAT.tree(text) if line.kind == "version"}
        if versions != {line.text for line in FORMAT.tree(self._device.running()) if line.kind == "version"}:
            raise CliRefusal(_text("mismatch"))
        return text, self._patch(shown(text))

    def _patch(self, text: str) -> tuple[str, ...]:
        return tuple(_patch(FORMAT.tree(self._device.running()), FORMAT.tree(text)))

    def _problem(self, text: str) -> str:
        """Fault of a candidate for which the switch does not take it; empty where it takes all."""
        for line in FORMAT.tree(text):
            below = (child.text for child in line.children if not is_known(child.text, line.kind))
            if unknown := next(below, "" if is_known(line.text) else line.text):
                return f"Syntax error while parsing '{unknown}'"
        refused = refusals(text)
        if refused:
            return f"Syntax error while parsing '{refused[0].where.rpartition(': ')[2]}'"
        try:
            self._device.check(text)
        except RailfabError as error:
            return str(error).partition("\n")[0]
        return ""


def check_seconds(seconds: str) -> int:
    """The time of `commit-timeout` [s]. Raises CliRefusal for one that is out of its range."""
    if not seconds.isdecimal() or not replace_limits.LEAST_S <= int(seconds) <= replace_limits.MOST_S:
        raise CliRefusal(_text("seconds"))
    return int(seconds)


def is_known(line: str, section: str = "top") -> bool:
    """Whether a line begins as a command of NX-OS does at the top level, or in a section of this first word."""
    words = twin_grammar()["words"].get(section)
    return words is None or line.split()[0] in words.split()


def _steps(kind: str, patch: Sequence[str]) -> list[str]:
    return [_text("advisory", kind=kind), _text("executed") if patch else _text("empty")]


def _text(name: str, **values: object) -> str:
    return str(twin_grammar()["texts"][name].format(**values))


def _quoted(patch: Sequence[str]) -> str:
    return "\n".join(f"`{line}`" for line in patch)


def _patch(before: Sequence[Line], after: Sequence[Line]) -> Iterator[str]:
    """The commands that make a configuration another one."""
    changes = list(_changes(before, after))
    if changes:
        yield "config t "
        yield from changes
        yield "exit"


def _changes(before: Sequence[Line], after: Sequence[Line]) -> Iterator[str]:
    present, wanted = ({line.text: line for line in side} for side in (before, after))
    wanted |= {text: Line(text) for text in present if text not in wanted and _ALWAYS_THERE.fullmatch(text)}
    for text in present:
        if text not in wanted:
            yield text.removeprefix("no ") if text.startswith("no ") else f"no {text}"
    for text, line in wanted.items():
        below = list(_changes(present[text].children if text in present else (), line.children))
        if text not in present or below:
            yield text
        if below:
            yield from below
            yield "exit"
