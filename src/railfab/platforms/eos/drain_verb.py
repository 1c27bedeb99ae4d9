"""A drain by a verb in texts of a configuration: Maintenance Mode, and an alias that says that a verb began it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from railfab.platforms.eos.lines import FORMAT, text
from railfab.platforms.shared.line_tree import Line

MARK = Line("alias railfab-drained show maintenance")
QUIESCE = Line("quiesce")
MAINTENANCE, UNIT = "maintenance", "unit System"
_SPEAKER = re.compile(r"^router bgp ", re.MULTILINE)


def has_speaker(configuration: str) -> bool:
    """Whether a configuration has BGP, which a drain needs."""
    return _SPEAKER.search(configuration) is not None


def is_drained(configuration: str) -> bool:
    """Whether a verb has drained the switch."""
    if MARK.text not in configuration:
        return False
    lines = FORMAT.tree(configuration)
    return MARK in lines and QUIESCE in _below(_below(lines, MAINTENANCE), UNIT)


def with_drain(configuration: str) -> str:
    """A configuration in Maintenance Mode."""
    lines = FORMAT.tree(configuration)
    units = _below(lines, MAINTENANCE)
    unit = Line(UNIT, (*_without(_below(units, UNIT), QUIESCE.text), QUIESCE))
    return text((*_without(lines, MAINTENANCE), Line(MAINTENANCE, (*_without(units, UNIT), unit))))


def with_mark(configuration: str) -> str:
    """A configuration that says that a verb has drained the switch."""
    return text((*_without(FORMAT.tree(configuration), MARK.text), MARK))


def without_drain(configuration: str) -> str:
    """A configuration without Maintenance Mode and the alias; other units and profiles stay."""
    lines = FORMAT.tree(configuration)
    units = _below(lines, MAINTENANCE)
    rest = tuple(_without(_below(units, UNIT), QUIESCE.text))
    kept = (*_without(units, UNIT), *((Line(UNIT, rest),) if rest else ()))
    others = _without(_without(lines, MARK.text), MAINTENANCE)
    return text((*others, *((Line(MAINTENANCE, kept),) if kept else ())))


def _below(lines: Iterable[Line], section: str) -> tuple[Line, ...]:
    return next((line.children for line in lines if line.text == section), ())


def _without(lines: Iterable[Line], section: str) -> Iterator[Line]:
    return (line for line in lines if line.text != section)
