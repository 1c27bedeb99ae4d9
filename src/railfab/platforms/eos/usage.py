"""Objects of an EOS configuration that the fabric uses.

Objects to which nothing refers, and ports that the intent does not name,
change nothing there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from railfab.platforms.differences import Difference, Side
from railfab.platforms.shared.line_tree import Line

UNUSED = "unused "
"""Before the path of a line in such a section, so that patterns of the fabric do not match it."""

_OBJECTS = tuple(
    re.compile(pattern)
    for pattern in (
        r"qos profile (?P<name>\S+)",
        r"(?:policy|class)-map (?:type (?!copp|control-plane)\S+ )?(?:match-any )?(?P<name>\S+)",
        r"route-map (?P<name>\S+) (?:permit|deny) \d+",
        r"(?:ip|ipv6) prefix-list (?P<name>\S+)(?: .*)?",
        r"(?:ip|ipv6|mac) access-list (?:standard )?(?P<name>\S+)(?: .*)?",
        r"ip (?:community-list|extcommunity-list|large-community-list)(?: regexp)? (?P<name>\S+) .*",
        r"ip as-path access-list (?P<name>\S+) .*",
        r"peer-filter (?P<name>\S+)",
    )
)
"""Sections, and lines, that have no effect unless a line elsewhere has their name."""

ROUTER = "router bgp "
_OF_PEER = re.compile(r"router bgp \d+: (?:address-family [^:]+: )?(?:no )?neighbor (\S+) .*")
_GROUP = re.compile(r"neighbor (\S+) peer group")
_MEMBERS = re.compile(r"(?:bgp listen range|neighbor) .* peer[ -]group (\S+)(?: .*)?")
_INTERFACE = re.compile(r"interface [A-Za-z-]+\d\S*")


def marked(
    differences: Sequence[Difference], parsed: tuple[Line, ...], rendered: tuple[Line, ...]
) -> tuple[Difference, ...]:
    """The differences, with `unused ` before the path of lines in sections that the fabric does not use."""
    unused = _unused(parsed, {line.text for line in rendered}) | _routers(parsed) - _routers(rendered)
    groups = _groups(parsed)
    if not (unused or groups):
        return tuple(differences)

    def is_unused(path: str) -> bool:
        named = _OF_PEER.fullmatch(path) if groups else None
        return _section(path, unused) or (named is not None and named[1] in groups)

    return tuple(
        replace(difference, path=UNUSED + difference.path)
        if difference.side is Side.ADDED and is_unused(difference.path)
        else difference
        for difference in differences
    )


def _groups(lines: tuple[Line, ...]) -> frozenset[str]:
    """The peer groups that no session is in, also none of another routing table."""
    children = [child for line in lines if line.text.startswith(ROUTER) for child in line.children]
    stated = [line.text for child in children for line in (child, *child.children)]
    declared = {match[1] for text in stated if (match := _GROUP.fullmatch(text))}
    return frozenset(declared - {match[1] for text in stated if (match := _MEMBERS.fullmatch(text))})


def _routers(lines: tuple[Line, ...]) -> frozenset[str]:
    """The headers of routing tables that BGP is in beside that of the switch."""
    routers = (line for line in lines if line.text.startswith(ROUTER))
    return frozenset(
        f"{router.text}: {child.text}" for router in routers for child in router.children if child.text[:4] == "vrf "
    )


def _section(path: str, sections: Iterable[str]) -> bool:
    return path in sections or any(path.startswith(f"{section}: ") for section in sections)


def _unused(parsed: tuple[Line, ...], rendered: set[str]) -> frozenset[str]:
    """Headers of unused sections, of those that only the configuration has."""
    candidates = {
        line.text: name for line in parsed if line.text not in rendered and (name := _name(line.text)) is not None
    }
    if not candidates:
        return frozenset()
    spare = {text for text, name in candidates.items() if not name}
    words = {word for line in parsed if line.text not in candidates for word in _words(line)}
    words |= {word for line in rendered for word in line.split()}
    left = {text: name for text, name in candidates.items() if name}
    while used := [text for text, name in left.items() if name in words]:
        for text in used:
            del left[text]
        words |= {word for line in parsed if line.text in used for child in line.children for word in _words(child)}
    return frozenset(spare | left.keys())


def _name(header: str) -> str | None:
    """Name of an object; empty for an interface, which is unused unless the intent has it; None of another section."""
    if _INTERFACE.fullmatch(header):
        return ""
    return next((match["name"] for pattern in _OBJECTS if (match := pattern.fullmatch(header))), None)


def _words(line: Line) -> Iterator[str]:
    yield from line.text.split()
    for child in line.children:
        yield from _words(child)


def without_those_below(differences: Sequence[Difference]) -> Iterator[Difference]:
    """The differences without missing lines of sections that are missing themselves."""
    missing = {_rendered(each.path): each for each in differences if each.side is Side.MISSING}
    below = {path for path in missing if any(above in missing for above in _sections(path))}
    yield from (each for each in differences if each.side is Side.ADDED or _rendered(each.path) not in below)


def _rendered(path: str) -> str:
    """A line that is missing as the rendered configuration has it, after its sections."""
    sections, _, line = path.rpartition(": ")
    line = line.removeprefix("no ") if line.startswith("no ") else f"no {line}"
    return f"{sections}: {line}" if sections else line


def _sections(path: str) -> Iterator[str]:
    """The headers of the sections that a line is in, each after those around it."""
    steps = path.split(": ")
    yield from (": ".join(steps[:depth]) for depth in range(1, len(steps)))
