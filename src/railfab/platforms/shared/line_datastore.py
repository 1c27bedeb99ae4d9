"""The configuration of a virtual switch as text, which its CLI edits, and gNMI where a platform has leaves for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from railfab.device import DeviceModel
from railfab.gnmi.paths import Element, matches_elements
from railfab.gnmi.target import Edit, Found, RequestRefused, nest
from railfab.platforms.shared.json_datastore import overlaid
from railfab.platforms.shared.line_tree import Line, LineFormat
from railfab.platforms.shared.openconfig_ports import NAMES, OpenConfigPorts, may_hold
from railfab.platforms.twin_face import Tree


class TextDatastore:
    """See `railfab.platforms.twin_face.Datastore`.

    factory: the configuration of a new switch. parse: text to model. shown: a text as the switch shows it, so that
    equal configurations are equal texts. overlaid: a text with a rendered tree laid over it. ports: what gNMI reads and
    sets of it; None is nothing.
    """

    def __init__(
        self,
        device: str,
        *,
        factory: str,
        parse: Callable[[str], DeviceModel],
        shown: Callable[[str], str],
        overlaid: Callable[[str, Tree], str],
        ports: OpenConfigPorts | None = None,
    ) -> None:
        self._device = device
        self._parse = parse
        self._ports = ports
        self._last: tuple[str | None, DeviceModel | None] = (None, None)
        self._shown = shown
        self._overlaid = overlaid
        self._factory = shown(factory)
        self.running = self._factory

    def merged(self, tree: Tree) -> str:
        return self._shown(self._overlaid(self.running, tree))

    def edited(self, edits: Sequence[Edit]) -> str:
        if self._ports is None:
            raise RequestRefused(self._device, "is not configured over gNMI", "Use its CLI")
        return self._shown(self._ports.edited(self._device, self.running, self.model(self.running), edits))

    def replaced(self, text: str) -> str:
        return self._shown(text)

    def text(self, configuration: str) -> str:
        return configuration

    def model(self, configuration: str) -> DeviceModel | None:
        """The model of a configuration; that of the last one is kept: a candidate is checked, and then committed."""
        known, model = self._last
        if known != configuration:
            model = None if self._is_factory(configuration) else self._parse(configuration)
            self._last = configuration, model
        return model

    def _is_factory(self, configuration: str) -> bool:
        return configuration == self._factory

    def commit(self, configuration: str) -> None:
        self.running = configuration

    def get(self, configuration: str, path: tuple[Element, ...], state: list[Found]) -> list[Found]:
        held = nest((Found(*leaf) for leaf in self.selected(configuration, path)), path)
        answers = dict(held) | dict(state)
        for at, value in held:
            answers[at] = overlaid(value, answers[at], NAMES)
        return [Found(*answer) for answer in answers.items()]

    def named(self, state: list[Found]) -> list[Found]:
        return state

    def plain_path(self, path: tuple[Element, ...]) -> tuple[Element, ...]:
        return path

    def selected(self, configuration: str, pattern: tuple[Element, ...]) -> Iterator[tuple[tuple[Element, ...], Any]]:
        if self._ports is None or not may_hold(pattern):
            return iter(())
        leaves = self._ports.leaves(self.model(configuration)).items()
        return (leaf for leaf in leaves if matches_elements(pattern, leaf[0]))


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
        ports: OpenConfigPorts | None = None,
    ) -> None:
        super().__init__(
            device,
            factory=factory,
            parse=parse,
            shown=shown or (lambda text: lines.text(lines.tree(text))),
            overlaid=partial(_overlaid, lines),
            ports=ports,
        )


def _overlaid(lines: LineFormat, running: str, tree: tuple[Line, ...]) -> str:
    """A configuration with the lines of a rendered tree in place of those that it names, and with its hostname."""
    named = {line.text for line in tree} | {line.kind for line in tree if line.kind == "hostname"}
    kept = [line for line in lines.tree(running) if line.text not in named and line.kind not in named]
    return lines.text((*kept, *tree))
