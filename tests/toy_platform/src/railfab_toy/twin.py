"""A virtual switch with Toy OS: its factory configuration, its gNMI model and its CLI."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from threading import Lock, Timer
from time import monotonic

from railfab.errors import DeviceError, RailfabError
from railfab.gnmi.target import YangModel
from railfab.platforms import Tree, TwinFace, VirtualDevice
from railfab.platforms.shared.line_datastore import LineDatastore
from railfab.ssh import NewCli, Reply
from railfab_toy.configuration import FORMAT, parse

VERSION = "1.0"


class Changes:
    """The change of a switch that is neither confirmed nor reverted; all sessions with the switch share it."""

    def __init__(self, device: VirtualDevice) -> None:
        self._device = device
        self._lock = Lock()
        self._timer: Timer | None = None
        self._before = ""
        self._change = ""
        self._reverts_s = 0.0
        self._kept = ""

    def pending(self) -> str:
        """The name of the change and the seconds until it is reverted; empty when there is none."""
        return f"{self._change} {max(self._reverts_s - monotonic(), 0):.0f}" if self._change else ""

    def commit(self, text: str, change: str, within_s: float) -> None:
        with self._lock:
            if self._change:
                raise DeviceError(self._device.name, f"change {self._change} is pending", "Confirm or revert it")
            before = self._device.running()
            self._device.replace(text)
            self._before, self._change, self._reverts_s = before, change, monotonic() + within_s
            self._timer = Timer(within_s, self.revert, (change,))
            self._timer.daemon = True
            self._timer.start()

    def confirm(self, change: str) -> None:
        with self._lock:
            if change not in (self._change, self._kept):
                raise DeviceError(self._device.name, f"change {change} is not pending", "Commit it again")
            if self._change == change:
                self._end()
                self._kept = change

    def revert(self, change: str) -> None:
        with self._lock:
            if self._change == change:
                self._device.replace(self._before)
                self._end()

    def _end(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._change = ""


class ToyCli:
    """The CLI as one session has it. candidate: its lines; None in operational mode."""

    def __init__(self, device: VirtualDevice, changes: Changes) -> None:
        self._device = device
        self._changes = changes
        self._candidate: list[str] | None = None

    def greeting(self) -> Reply:
        return Reply(output=f"Toy OS {VERSION} on {self._device.name}\n", prompt=self._prompt())

    def _prompt(self) -> str:
        return f"{self._device.name}{'' if self._candidate is None else '(candidate)'}# "

    def answer(self, line: str) -> Reply:
        if line.strip() == "exit":
            return Reply(closes=True)
        try:
            output, status = self._output(line), 0
        except RailfabError as error:
            output, status = "".join(f"% {each}\n" for each in str(error).splitlines()), 1
        return Reply(output=output, prompt=self._prompt(), status=status)

    def _output(self, line: str) -> str:
        if self._candidate is not None and line.startswith("add ["):
            self._candidate += json.loads(line.removeprefix("add "))
            return ""
        match line.split():
            case []:
                return ""
            case ["show", "configuration"]:
                return self._device.running()
            case ["show", "pending"]:
                return f"{self._changes.pending()}\n"
            case ["show", "state"]:
                return json.dumps(asdict(self._device.observe()), default=str) + "\n"
            case ["candidate"]:
                self._candidate = []
                return ""
            case ["show", "identity"]:
                return f"{self._device.name} {VERSION}\n"
            case ["abort"]:
                self._candidate = None
                return ""
            case ["check"] if self._candidate is not None:
                self._device.check(self._text())
                return ""
            case ["commit", seconds, change] if self._candidate is not None and seconds.isdigit():
                text, self._candidate = self._text(), None
                self._changes.commit(text, change, int(seconds))
                return ""
            case ["confirm", change]:
                self._changes.confirm(change)
                return ""
            case ["revert", change]:
                self._changes.revert(change)
                return ""
        raise DeviceError(self._device.name, f"{line!r} is not a command", "Correct it")

    def _text(self) -> str:
        return "".join(f"{line}\n" for line in self._candidate or ())


def _cli(device: VirtualDevice) -> NewCli:
    changes = Changes(device)
    return lambda: ToyCli(device, changes)


def _datastore(name: str, _rendered: Tree) -> LineDatastore:
    return LineDatastore(name, FORMAT, factory=f"hostname {name}\n", parse=parse)


def _wildcard(_device: str, _name: str, _pattern: str, _labels: Mapping[str, str]) -> None:
    """No rule of the telemetry map has a `*`."""


def twin() -> TwinFace:
    """What a virtual switch of Toy OS is."""
    return TwinFace(
        datastore=_datastore, models=(YangModel("toy-state", "Nobody", VERSION),), wildcard=_wildcard, cli=_cli
    )
