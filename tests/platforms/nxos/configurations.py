"""Configurations of NX-OS for tests: of a small fabric, and edits of their lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from tests.platforms.small_fabrics import design_of

from railfab.device import DeviceModel
from railfab.fabric import design
from railfab.platforms import platform
from railfab.platforms.nxos.lines import FORMAT
from railfab.platforms.shared.line_tree import Line

NXOS = platform("nxos")
FABRICS = Path(__file__).parents[3] / "inventory" / "fabrics"
INTENTS = ("rail-blocks", "routed")
"""Design documents that name switches with NX-OS."""


@cache
def leaf() -> tuple[DeviceModel, str]:
    """A rail switch with BGP and QoS, as a model and as text."""
    found = design_of("nxos", "nxos", numbered=True)
    name = next(name for name in found.models if "leaf" in name)
    return found.models[name], found.texts[name]


@cache
def texts(intent: str) -> dict[str, str]:
    """The configuration of every switch of a design document."""
    return dict(design(FABRICS / f"{intent}.yml").configurations())


def paths(lines: Sequence[Line], above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Every line after its sections."""
    for line in lines:
        yield (*above, line.text)
        yield from paths(line.children, (*above, line.text))


def with_line(text: str, *place: str) -> str:
    """The text with a line in a section, which is made where it is not there: its sections, then the line."""
    return FORMAT.text(_added(FORMAT.tree(text), place))


def _added(lines: tuple[Line, ...], place: Sequence[str]) -> tuple[Line, ...]:
    first, *rest = place
    if not rest:
        return (*lines, Line(first))
    if not any(line.text == first for line in lines):
        lines = (*lines, Line(first))
    return tuple(Line(line.text, _added(line.children, rest)) if line.text == first else line for line in lines)


def without_line(text: str, *place: str) -> str:
    """The text without a line: its sections, then the line. Raises ValueError where there is none."""
    return FORMAT.text(_removed(FORMAT.tree(text), place))


def _removed(lines: tuple[Line, ...], place: Sequence[str]) -> tuple[Line, ...]:
    first, *rest = place
    if not any(line.text == first for line in lines):
        raise ValueError(first)
    if not rest:
        return tuple(line for line in lines if line.text != first)
    return tuple(Line(line.text, _removed(line.children, rest)) if line.text == first else line for line in lines)
