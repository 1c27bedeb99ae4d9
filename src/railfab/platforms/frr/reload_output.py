"""Texts for frr-reload.py, and its output: the changes it would make, and the line it refuses."""

from __future__ import annotations

import re
from itertools import groupby

SEPARATOR = "!\n"
"""The line between two sections."""

_SEPARATED = re.compile(rf"(?m)^{SEPARATOR}")
_DEFINITION = re.compile(r"(?:ip prefix-list|ipv6 prefix-list|bgp as-path access-list|bgp \w+-list \w+|route-map) \S+")
_PREFIX_LIST = re.compile(r"(ip|ipv6) prefix-list ")
_SECTION = re.compile(r"^Lines To (Delete|Add)$", re.MULTILINE)
_REFUSED = re.compile(r"line (?P<number>\d+): (?P<text>% .*?)(?:\\n|$)", re.MULTILINE)
_FAILED = re.compile(r"^line \d+: Failure to communicate\[\d+\] to \w+, line: (?P<line>.+)$", re.MULTILINE)
_COMPLAINT = re.compile(r"^% .+$", re.MULTILINE)
_LOGGED = re.compile(r"^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d+ +")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def pending(output: str) -> tuple[str, ...]:
    """Lines that `--test` would delete (`-`) or add (`+`), each with the sections above it; empty for none.

    An interface without lines and a `bfd` section without profiles are no change: FRR never stores the former and never
    removes the latter.
    """
    parts = _SECTION.split(_COLOUR.sub("", output))
    lines: list[str] = []
    for word, block in zip(parts[1::2], parts[2::2], strict=True):
        sign = "-" if word == "Delete" else "+"
        lines += [f"{sign} {line}" for line in _changes(block)]
    return tuple(lines)


def with_sorted_prefix_lists(running: str) -> str:
    """A running configuration with its prefix lists, and the route maps that use them, sorted by name.

    FRR shows them in order of creation, so the text of equal configurations could differ.
    """
    blocks = groupby(running.splitlines(keepends=True), key=_prefix_list_kind)
    text = "".join(line for kind, block in blocks for line in (sorted(block, key=_list_name) if kind else block))
    sections = groupby(text.split(SEPARATOR), key=lambda section: section.startswith("route-map "))
    return SEPARATOR.join(
        section for maps, group in sections for section in (sorted(group, key=_list_name) if maps else group)
    )


def with_new_definitions(running: str, candidate: str) -> str:
    """A running configuration with the lists and route maps of a candidate whose names it does not have.

    frr-reload.py changes sections that exist before it adds new ones, so that a session gets the name of a route map
    that does not exist yet. It has no routes then, until the 5 s are over after which FRR applies a new route map.
    """
    known = {match.group() for match in map(_DEFINITION.match, running.splitlines()) if match}
    sections = (_new_definitions(section, known) for section in _SEPARATED.split(candidate))
    new = [section for section in sections if section]
    body, end, _ = running.rpartition("end\n")
    return SEPARATOR.join([body, *new, end]) if new else running


def _new_definitions(section: str, known: set[str]) -> str:
    """The part of a section that defines lists or route maps of other names than these."""
    if section.startswith("route-map "):
        match = _DEFINITION.match(section)
        return "" if match and match.group() in known else section
    named = ((line, _DEFINITION.match(line)) for line in section.splitlines(keepends=True))
    return "".join(line for line, match in named if match and match.group() not in known)


def _prefix_list_kind(line: str) -> str:
    """`ip` or `ipv6`; empty for another line."""
    match = _PREFIX_LIST.match(line)
    return match[1] if match else ""


def _list_name(text: str) -> str:
    """The name in `ip prefix-list NAME ...`, and in `route-map NAME ...`."""
    words = text.split(maxsplit=3)
    return words[1] if words[0] == "route-map" else words[2]


def _changes(block: str) -> list[str]:
    """Each change as its innermost line, prefixed by the sections above it."""
    kept = [
        line.rstrip() for line in block.splitlines() if line.strip() and set(line) != {"="} and not _LOGGED.match(line)
    ]
    changes: list[str] = []
    above: list[str] = []
    for here, following in zip(kept, [*kept[1:], ""], strict=True):
        depth = _depth(here)
        above = [*above[:depth], here.strip()]
        if _depth(following) <= depth and not _is_no_change(above):
            changes.append(": ".join(above))
    return changes


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_no_change(above: list[str]) -> bool:
    return above in (["no bfd"], ["bfd"]) or (len(above) == 1 and above[0].startswith("interface "))


def refusal(output: str) -> str:
    """Reason of a failure of frr-reload.py: FRR's error text and the line."""
    output = _COLOUR.sub("", output)
    if match := _REFUSED.search(output):
        return f"line {match['number']}: {' '.join(match['text'].split())}"
    complaint = _COMPLAINT.search(output)
    if match := _FAILED.search(output):
        return f"`{match['line'].strip()}`: {complaint[0] if complaint else '% refused'}"
    if complaint:
        return complaint[0]
    last = [line.strip() for line in output.splitlines() if line.strip()]
    return _LOGGED.sub("", last[-1]) if last else "no reason given"
