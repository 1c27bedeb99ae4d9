"""The configuration commands that FRR knows, and the lines of a configuration that it does not.

`commands.txt` is written by `python -m tests.platforms.frr.command_list` from the command graphs of vtysh, hidden
commands included, in FRR's own notation: `<a|b>` one of these, `[a]` perhaps, `{a|b}` some of these in any order,
`a...` one or more, `(1-9)` a number, capitals a value. Abbreviated keywords, which vtysh takes too, are not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from ipaddress import ip_address, ip_interface

from railfab.platforms.contract import Refusal
from railfab.platforms.frr.lines import FORMAT
from railfab.platforms.frr.spelling import repeated_prefixes
from railfab.platforms.shared.line_tree import Line

RELEASE = "8.4"
TOP = ""
SECTIONS: Mapping[str, Mapping[str, str]] = {
    TOP: {
        r"interface \S+( vrf \S+)?": "interface",
        r"vrf \S+": "vrf",
        r"router bgp.*": "router bgp",
        r"route-map \S+ (permit|deny) \d+": "route-map",
        r"bfd": "bfd",
        r"pbr-map \S+ seq \d+": "pbr-map",
        r"nexthop-group \S+": "nexthop-group",
        r"line vty": "line vty",
    },
    "router bgp": {
        r"address-family (ipv4|ipv6)( unicast)?": "address-family unicast",
        r"address-family l2vpn evpn": "address-family l2vpn evpn",
        r"bmp targets \S+": "bmp targets",
    },
    "bfd": {r"profile \S+": "profile", r"peer \S+.*": "peer"},
}
"""Sections within a section, by the pattern of their first line. Lines of other sections are not looked at."""

_TOKEN = re.compile(r"\([-\d]+\)(?:\.\.\.)?|[<>|\[\]{}]|[^\s<>|\[\]{}]+")
_RANGE = re.compile(r"\((-?\d+)-(\d+)\)")
_VALUE = re.compile(r"[A-Z][A-Z\d_:./-]*")
_VERSION = re.compile(r"^frr version (\d+\.\d+)", re.MULTILINE)
_CLOSING = {"<": ">", "[": "]", "{": "}"}
_VERSIONS = {"A.B.C.D": 4, "X:X::X:X": 6}


@dataclass(frozen=True, slots=True)
class CommandWord:
    """A keyword, a number of a range or a value. repeated: one or more of them."""

    text: str
    repeated: bool = False

    def takes(self, word: str, *, any_value: bool) -> bool:
        """any_value: whether a value may be outside its range."""
        if limits := _RANGE.fullmatch(self.text):
            return _is_number(word) and (any_value or int(limits[1]) <= int(word) <= int(limits[2]))
        if not _VALUE.fullmatch(self.text):
            return word == self.text
        address, prefix, _ = self.text.partition("/M")
        return address not in _VERSIONS or _is_address(word, _VERSIONS[address], with_length=bool(prefix))


@dataclass(frozen=True, slots=True)
class WordGroup:
    """Alternatives. optional: none of them is enough. repeated: several of them, in any order."""

    alternatives: tuple[tuple[CommandWord | WordGroup, ...], ...]
    optional: bool = False
    repeated: bool = False


@dataclass(frozen=True, slots=True)
class CommandNode:
    """The commands of one section, by first word after `no`."""

    by_word: dict[str, list[str]] = field(default_factory=dict)

    def knows(self, line: str, *, any_value: bool = False) -> bool:
        words = line.split()
        key = words[1] if words[0] == "no" and len(words) > 1 else words[0]
        return any(
            len(words) in _ends(elements(command), words, {0}, any_value=any_value)
            for command in self.by_word.get(key, ())
        )


@cache
def nodes() -> Mapping[str, CommandNode]:
    """All sections by name."""
    sections: dict[str, CommandNode] = {}
    node = CommandNode()
    for line in files(__package__).joinpath("commands.txt").read_text().splitlines():
        if line.startswith(" "):
            for word in _first_words(line.strip()):
                node.by_word.setdefault(word, []).append(line.strip())
        elif line and not line.startswith("#"):
            node = sections.setdefault(line.partition(":")[0] if line != "top" else TOP, CommandNode())
    return sections


def _first_words(command: str) -> list[str]:
    command = command.removeprefix("[no] ").removeprefix("no ")
    first = _TOKEN.findall(command)
    return command[1 : command.index(">")].split("|") if first[0] == "<" else first[:1]


@cache
def elements(command: str) -> tuple[CommandWord | WordGroup, ...]:
    """The elements of a command in FRR's notation."""
    return _alternatives(iter(_TOKEN.findall(command)), "")[0]


def _alternatives(tokens: Iterator[str], closing: str) -> tuple[tuple[CommandWord | WordGroup, ...], ...]:
    """Sequences between `|`, up to the closing bracket."""
    sequences: list[list[CommandWord | WordGroup]] = [[]]
    for token in tokens:
        if token == closing:
            break
        if token in _CLOSING:
            inner = _alternatives(tokens, _CLOSING[token])
            sequences[-1].append(WordGroup(inner, optional=token == "[", repeated=token == "{"))
        elif token == "|":
            sequences.append([])
        else:
            sequences[-1].append(CommandWord(token.removesuffix("..."), repeated=token.endswith("...")))
    return tuple(map(tuple, sequences))


def _ends(
    sequence: Sequence[CommandWord | WordGroup], words: Sequence[str], starts: set[int], *, any_value: bool
) -> set[int]:
    """Ends of a sequence that begins at one of these words."""
    for element in sequence:
        if not starts:
            return starts
        starts = _after(element, words, starts, any_value=any_value)
    return starts


def _after(element: CommandWord | WordGroup, words: Sequence[str], starts: set[int], *, any_value: bool) -> set[int]:
    reached: set[int] = set(starts) if isinstance(element, WordGroup) and element.optional else set()
    ahead = starts
    while ahead:
        if isinstance(element, CommandWord):
            ends = {at + 1 for at in ahead if at < len(words) and element.takes(words[at], any_value=any_value)}
        else:
            ends = set().union(
                *(_ends(alternative, words, ahead, any_value=any_value) for alternative in element.alternatives)
            )
        ahead = ends - reached if element.repeated else set()
        reached |= ends
    return reached


def _is_number(word: str) -> bool:
    return word.removeprefix("-").isdecimal()


def _is_address(word: str, version: int, *, with_length: bool) -> bool:
    """Whether a word is an address of this version. with_length: a length has to follow it, which `ipaddress` adds."""
    try:
        address = ip_interface(word) if with_length else ip_address(word)
    except ValueError:
        return False
    return address.version == version and with_length is ("/" in word)


def refusals(text: str) -> tuple[Refusal, ...]:
    """The lines of a configuration that FRR does not take; those of another release that this one does not know."""
    version = _VERSION.search(text)
    release = version[1] if version else RELEASE
    lines = FORMAT.tree(text)
    return (*_refusals(lines, (TOP,), (), release), *map(_repeated, repeated_prefixes(lines)))


def _repeated(line: Line) -> Refusal:
    problem = "repeats a prefix with other host bits, so that FRR rejects the lists around it, and vtysh ends with 0"
    return Refusal(where=line.text, problem=problem)


def _refusals(
    lines: Sequence[Line], within: tuple[str, ...], above: tuple[str, ...], release: str
) -> Iterator[Refusal]:
    """within: the sections around the lines, the innermost first; vtysh looks for a line in each of them."""
    for line in lines:
        place = (*above, line.text)
        if not any(nodes()[name].knows(line.text) for name in within):
            yield _refusal(line.text, within, ": ".join(place), release)
            continue
        section = _section(line.text, within[0])
        if section is not None:
            yield from _refusals(line.children, (section, *within), place, release)


def _refusal(line: str, within: tuple[str, ...], where: str, release: str) -> Refusal:
    if any(nodes()[name].knows(line, any_value=True) for name in within):
        return Refusal(where=where, problem=f"FRR {RELEASE} does not take a value of this line")
    if release != RELEASE:
        problem = f"is not a line of FRR {RELEASE}, the release that railfab knows; this is of FRR {release}"
        return Refusal(where=where, problem=problem, is_unknown=True)
    return Refusal(where=where, problem=f"FRR {RELEASE} does not know this line")


def _section(line: str, within: str) -> str | None:
    patterns = SECTIONS.get(within, {})
    return next((name for pattern, name in patterns.items() if re.fullmatch(pattern, line)), None)
