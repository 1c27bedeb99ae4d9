"""Parses the output of frr-reload.py: the changes it would make, and the line it refuses."""

from __future__ import annotations

import re
from itertools import groupby

SEPARATOR = "!\n"
"""The line between two sections."""

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
