"""Descriptions of peer groups, which their members have unless they state their own.

A session with an address gets that of its group as its own line. One over an interface has no such line, and its group
keeps the description.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from railfab.platforms.shared.line_tree import Line

_GROUP = re.compile(r"neighbor (\S+) peer group")
_MEMBER = re.compile(r"neighbor (\S+) peer group (\S+)")
_OVER_INTERFACE = re.compile(r"neighbor interface \S+ peer-group (\S+)(?: .*)?")
_DESCRIPTION = re.compile(r"neighbor (\S+) description (.+)")


def with_descriptions(router: tuple[Line, ...]) -> tuple[Line, ...]:
    """The lines of a router, and of its VRFs, with the description of each member that has an address."""
    stated = dict(_pairs(router, _DESCRIPTION))
    groups = {line.text.split()[1] for line in router if _GROUP.fullmatch(line.text)}
    of_groups = {name: stated[name] for name in groups if name in stated}
    if not of_groups:
        return router
    everything = (*router, *(child for line in router for child in line.children))
    over_interfaces = {match[1] for line in everything if (match := _OVER_INTERFACE.fullmatch(line.text))}
    used = {group for _, group in _pairs(everything, _MEMBER)}
    moved = {name for name in of_groups if name in used - over_interfaces}
    return tuple(_described(router, of_groups, moved))


def _pairs(lines: tuple[Line, ...], pattern: re.Pattern[str]) -> Iterator[tuple[str, str]]:
    yield from ((match[1], match[2]) for line in lines if (match := pattern.fullmatch(line.text)))


def _described(lines: tuple[Line, ...], of_groups: Mapping[str, str], moved: set[str]) -> Iterator[Line]:
    """moved: groups without sessions over interfaces, whose own description is left out."""
    stated = dict(_pairs(lines, _DESCRIPTION))
    for line in lines:
        described, member = _DESCRIPTION.fullmatch(line.text), _MEMBER.fullmatch(line.text)
        if line.kind == "vrf":
            yield Line(line.text, tuple(_described(line.children, of_groups, moved)), line.number)
        elif not (described and described[1] in moved):
            yield line
        if member and member[1] not in stated and member[2] in of_groups:
            yield Line(f"neighbor {member[1]} description {of_groups[member[2]]}", (), line.number)
