"""The line of BGP that drains a switch, in texts of its configuration."""

from __future__ import annotations

import re

from railfab.platforms.nxos.lines import FORMAT, text
from railfab.platforms.nxos.render_bgp import DRAIN
from railfab.platforms.shared.line_tree import Line

_SPEAKER = re.compile(r"^router bgp \S+$", re.MULTILINE)


def speaker(configuration: str) -> str:
    """The line that opens the section of BGP; empty without BGP."""
    match = _SPEAKER.search(configuration)
    return match[0] if match else ""


def has_drain(configuration: str) -> bool:
    """Whether a configuration drains the switch."""
    sections = (line for line in FORMAT.tree(configuration) if _SPEAKER.fullmatch(line.text))
    return any(child.text == DRAIN for line in sections for child in line.children)


def with_drain(configuration: str) -> str:
    """A configuration that drains the switch; the comments at its begin stay."""
    comments = [line for line in configuration.splitlines() if line.startswith("! ")]
    lines = tuple(map(_drained, FORMAT.tree(configuration)))
    return "".join(f"{line}\n" for line in comments) + text(lines)


def without_drain(configuration: str) -> str:
    """A configuration that does not drain the switch, and without comments."""
    return text(tuple(map(_undrained, FORMAT.tree(configuration))))


def _undrained(line: Line) -> Line:
    if not _SPEAKER.fullmatch(line.text):
        return line
    return Line(line.text, tuple(child for child in line.children if child.text != DRAIN), line.number)


def _drained(line: Line) -> Line:
    if not _SPEAKER.fullmatch(line.text) or any(child.text == DRAIN for child in line.children):
        return line
    return Line(line.text, (Line(DRAIN), *line.children), line.number)
