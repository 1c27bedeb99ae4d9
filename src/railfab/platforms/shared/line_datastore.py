"""The configuration of a virtual switch as text of lines, which only its CLI edits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from railfab.device import DeviceModel
from railfab.gnmi.paths import Element
from railfab.gnmi.target import Edit, Found, RequestRefused
from railfab.platforms.shared.line_tree import Line, LineFormat


class LineDatastore:
    """See `railfab.platforms.contract.Datastore`. factory: the configuration of a new switch. parse: text to model."""

    def __init__(self, device: str, lines: LineFormat, *, factory: str, parse: Callable[[str], DeviceModel]) -> None:
        self.running = factory
        self._device = device
        self._lines = lines
        self._factory = lines.tree(factory)
        self._parse = parse

    def merged(self, tree: tuple[Line, ...]) -> str:
        """The lines of a rendered tree, and those of the running configuration that it does not name."""
        named = {line.text for line in tree}
        kept = [line for line in self._lines.tree(self.running) if line.text not in named]
        return self._lines.text((*kept, *tree))

    def edited(self, _edits: Sequence[Edit]) -> str:
        raise RequestRefused(self._device, "is not configured over gNMI", "Use its CLI")

    def replaced(self, text: str) -> str:
        return text

    def text(self) -> str:
        return self.running

    def model(self, configuration: str) -> DeviceModel | None:
        if self._lines.tree(configuration) == self._factory:
            return None
        return self._parse(configuration)

    def commit(self, configuration: str) -> None:
        self.running = configuration

    def get(self, _configuration: str, _path: tuple[Element, ...], state: list[Found]) -> list[Found]:
        return state

    def named(self, state: list[Found]) -> list[Found]:
        return state

    def plain_path(self, path: tuple[Element, ...]) -> tuple[Element, ...]:
        return path

    def selected(self, _configuration: str, _pattern: tuple[Element, ...]) -> Iterator[tuple[tuple[Element, ...], Any]]:
        return iter(())
