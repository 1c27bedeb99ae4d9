"""Names that a configuration may choose freely: route maps, their lists, and BFD profiles, as another one has them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from railfab.platforms.frr.defaults import with_shown_defaults
from railfab.platforms.frr.lines import FORMAT
from railfab.platforms.shared.line_tree import Line

_PLACES = {
    "route-map": r"(?P<before>(?:^|\s)(?:route-map|call) )",
    "profile": r"(?P<before>(?:^|\s)profile )",
    "prefix-list": r"(?P<before>\sprefix-list )",
    "community-list": r"(?P<before>\s(?:community-list (?:standard|expanded)|match community) )",
    "as-path access-list": r"(?P<before>\s(?:as-path access-list|match as-path) )",
}
"""Text in front of a name, by kind."""

_DEFINITIONS = {
    "route-map": r"route-map (\S+) .*",
    "profile": r"profile (\S+)",
    "prefix-list": r"(?:ip|ipv6) prefix-list (\S+) .*",
    "community-list": r"bgp community-list \S+ (\S+) .*",
    "as-path access-list": r"bgp as-path access-list (\S+) .*",
}
_APPLIED = re.compile(
    r"neighbor (?P<peer>\S+) (?:route-map (?P<map>\S+) (?P<direction>in|out)|bfd profile (?P<profile>\S+))"
)
_ENTRY = re.compile(r"route-map (\S+) (?:permit|deny) \d+")
_MATCH = re.compile(r"match (?:(?P<family>ip|ipv6) address prefix-list|(?P<kind>community|as-path)) (?P<name>\S+)")
_LISTS = {"community": "community-list", "as-path": "as-path access-list", None: "prefix-list"}


@dataclass(frozen=True, slots=True)
class Use:
    """Use of a name of any object. place: the session, or the entry of a route map."""

    kind: str
    place: tuple[object, ...]


def aligned(text: str, rendered: str) -> tuple[str, tuple[str, ...]]:
    """The text with the names that the other one has for the same uses, and every object that has another name.

    A name is replaced where it has one counterpart, which the text does not define itself. Sessions state a default
    where the other text does.
    """
    renamed: list[str] = []
    text = with_shown_defaults(text, FORMAT.tree(text), FORMAT.tree(rendered))
    for uses in (_applied, _matched):
        ours, theirs = FORMAT.tree(text), FORMAT.tree(rendered)
        for kind, name, wanted in _renames(dict(uses(ours)), dict(uses(theirs)), ours):
            text = re.sub(rf"(?m){_PLACES[kind]}{re.escape(name)}(?=\s|$)", rf"\g<before>{wanted}", text)
            renamed.append(f"{kind} {name}")
    return text, tuple(renamed)


def _renames(
    ours: Mapping[Use, str], theirs: Mapping[Use, str], lines: tuple[Line, ...]
) -> Iterator[tuple[str, str, str]]:
    pairs = {(use.kind, name, theirs[use]) for use, name in ours.items() if use in theirs}
    for kind, name, wanted in sorted(pairs):
        same = [pair for pair in pairs if pair[0] == kind and (pair[1] == name or pair[2] == wanted)]
        defined = set(_defined(lines, kind))
        if name != wanted and len(same) == 1 and name in defined and wanted not in defined:
            yield kind, name, wanted


def _defined(lines: tuple[Line, ...], kind: str) -> Iterator[str]:
    for line in lines:
        if match := re.fullmatch(_DEFINITIONS[kind], line.text):
            yield match[1]
        if line.text == "bfd":
            yield from _defined(line.children, kind)


def _applied(lines: tuple[Line, ...], above: tuple[str, ...] = ()) -> Iterator[tuple[Use, str]]:
    """Route maps and BFD profiles of sessions."""
    for line in lines:
        if match := _APPLIED.fullmatch(line.text):
            kind, name = ("route-map", match["map"]) if match["map"] else ("profile", match["profile"])
            yield Use(kind, (*above, match["peer"], match["direction"])), name
        yield from _applied(line.children, (*above, line.text))


def _matched(lines: tuple[Line, ...]) -> Iterator[tuple[Use, str]]:
    """Lists of route maps, by the position of the entry."""
    positions: dict[str, int] = {}
    for line in lines:
        if entry := _ENTRY.fullmatch(line.text):
            positions[entry[1]] = positions.get(entry[1], 0) + 1
            for child in line.children:
                if match := _MATCH.fullmatch(child.text):
                    place = (entry[1], positions[entry[1]], match["family"])
                    yield Use(_LISTS[match["kind"]], place), match["name"]
