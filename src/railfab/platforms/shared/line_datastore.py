"""The configuration of a virtual switch as text, which only its CLI edits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from railfab.device import DeviceModel
from railfab.gnmi.paths import Element
from railfab.gnmi.target import Edit, Found, RequestRefused
from railfab.platforms.shared.line_tree import Line, LineFormat
from railfab.platforms.twin_face import Tree


class TextDatastore:
    """See `railfab.platforms.twin_face.Datastore`.

    factory: the configuration of a new switch. parse: text to model. shown: a text as the switch shows it, so that
    equal configurations are equal texts. overlaid: a text with a rendered tree laid over it.
    """

    def __init__(
        self,
        device: str,
        *,
        factory: str,
        parse: Callable[[str], DeviceModel],
        shown: Callable[[str], str],
        overlaid: Callable[[str, Tree], str],
    ) -> None:
        self._device = device
        self._parse = parse
        self._shown = shown
        self._overlaid = overlaid
        self._factory = shown(factory)
        self.running = self._factory

    def merged(self, tree: Tree) -> str:
        return self._shown(self._overlaid(self.running, tree))

    def edited(self, _edits: Sequence[Edit]) -> str:
        raise RequestRefused(self._device, "is not configured over gNMI", "Use its CLI")

    def replaced(self, text: str) -> str:
        return self._shown(text)

    def text(self, configuration: str) -> str:
        return configuration

    def model(self, configuration: str) -> DeviceModel | None:
        return None if configuration == self._factory else self._parse(configuration)

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


class LineDatastore(TextDatastore):
    """The configuration as lines. shown: as of TextDatastore; by default in the format of the lines.

    merged: the lines of a rendered tree, and those of the running configuration that it does not name.
    """

    def __init__(
        self,
        device: str,
        lines: LineFormat,
        *,
        factory: str,
        parse: Callable[[str], DeviceModel],
        shown: Callable[[str], str] | None = None,
    ) -> None:
        super().__init__(
            device,
            factory=factory,
            parse=parse,
            shown=shown or (lambda text: lines.text(lines.tree(text))),
            overlaid=partial(_overlaid, lines),
        )


def _overlaid(lines: LineFormat, running: str, tree: tuple[Line, ...]) -> str:
    """A configuration with the lines of a rendered tree in place of those that it names, and with its hostname."""
    named = {line.text for line in tree} | {line.kind for line in tree if line.kind == "hostname"}
    kept = [line for line in lines.tree(running) if line.text not in named and line.kind not in named]
    return lines.text((*kept, *tree))
