"""A virtual switch with Toy OS: its factory configuration, its gNMI model and its CLI."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict

from railfab.errors import DeviceError, RailfabError
from railfab.gnmi.target import YangModel
from railfab.platforms import Tree, TwinFace, VirtualDevice
from railfab.platforms.shared.line_datastore import LineDatastore
from railfab.platforms.shared.timed_change import TimedChange
from railfab.ssh import CliUser, NewCli, ReadInput, Reply, execute_lines
from railfab_toy.configuration import FORMAT, parse

VERSION = "1.0"


class ToyCli:
    """The CLI as one session has it. candidate: its lines; None in operational mode. kept: changes confirmed before."""

    def __init__(self, device: VirtualDevice, change: TimedChange, kept: set[str]) -> None:
        self._device = device
        self._change = change
        self._kept = kept
        self._candidate: list[str] | None = None

    def execute(self, command: str, _read_input: ReadInput) -> Reply:
        return execute_lines(self, command)

    def closed(self) -> None: ...

    def greeting(self) -> Reply:
        return Reply(output=f"Toy OS {VERSION} on {self._device.name}\n", prompt=self._prompt())

    def _prompt(self) -> str:
        return f"{self._device.name}{'' if self._candidate is None else '(candidate)'}# "

    def answer(self, line: str, _more: bool = False) -> Reply:
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
                return f"{self._change.name} {self._change.left_s:.0f}\n" if self._change.name else "\n"
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
                self._change.commit(text, change, int(seconds))
                return ""
            case ["confirm", change] if change in (self._change.name, *self._kept):
                if self._change.name == change and self._change.confirm():
                    self._kept.add(change)
                return ""
            case ["revert", change]:
                if self._change.name == change:
                    self._change.revert()
                return ""
        raise DeviceError(self._device.name, f"{line!r} is not a command", "Correct it")

    def _text(self) -> str:
        return "".join(f"{line}\n" for line in self._candidate or ())


def _cli(device: VirtualDevice) -> NewCli:
    change, kept = TimedChange(device), set[str]()

    def new(_user: CliUser) -> ToyCli:
        return ToyCli(device, change, kept)

    return new


def _datastore(name: str, _rendered: Tree) -> LineDatastore:
    return LineDatastore(name, FORMAT, factory=f"hostname {name}\n", parse=parse)


def _wildcard(_device: str, _name: str, _pattern: str, _labels: Mapping[str, str]) -> None:
    """No rule of the telemetry map has a `*`."""


def twin() -> TwinFace:
    """What a virtual switch of Toy OS is."""
    return TwinFace(
        datastore=_datastore, models=(YangModel("toy-state", "Nobody", VERSION),), wildcard=_wildcard, cli=_cli
    )
