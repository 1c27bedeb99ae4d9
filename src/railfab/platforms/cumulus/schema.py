"""The paths of NVUE's object model, from `paths.txt`: which words may follow which, and the values of the leaves."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib.resources import files
from ipaddress import IPv4Address, IPv4Interface, IPv6Address, IPv6Interface, ip_address, ip_interface, ip_network

from railfab.platforms.cumulus.names import RESERVED

MACRO = "NEIGHBOR"
"""The first word of lines that stand below every path that ends with `= NEIGHBOR`."""
SWITCH = ("enabled", "disabled")
"""Values of a setting that is on or off; 5.14 has `on` and `off`, and for some `enable` and `disable`."""
ENABLE, DISABLE = "enable", "disable"
"""Values that PFC, its watchdog, ECN and RED kept in 5.15 and later (OpenAPI description of NVUE 5.15 to 5.18)."""

_RANGE = re.compile(r"(\d+)\.\.(\d+)")


def _is(kind: Callable[[str], object]) -> Callable[[str], bool]:
    def test(text: str) -> bool:
        try:
            kind(text)
        except ValueError:
            return False
        return True

    return test


def _matches(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern)
    return lambda text: compiled.fullmatch(text) is not None


_INTERFACE = r"swp\d+(?:L\d+)?(?:s\d+)?|eth\d+|lo|peerlink|bond[\w.]*|vlan\d+(?:-v0)?|mgmt|[A-Za-z]\w*(?:\.\d+){0,2}"
_PAIR = r"\d+(?:\.\d+){0,3}:\d+"
_OCTET = "[0-9A-Fa-f]{2}"
TYPES: dict[str, Callable[[str], bool]] = {
    "TEXT": lambda text: bool(text),
    "NAME": lambda text: text not in RESERVED and _matches(r"[A-Za-z][\w-]*")(text),
    "INTERFACE": _matches(_INTERFACE),
    "IP": _is(ip_address),
    "IPV4": _is(IPv4Address),
    "IPV6": _is(IPv6Address),
    "PREFIX": lambda text: "/" in text and _is(lambda prefix: ip_network(prefix, strict=False))(text),
    "IPV4_PREFIX": lambda text: "/" in text and _is(IPv4Interface)(text),
    "IPV6_PREFIX": lambda text: "/" in text and _is(IPv6Interface)(text),
    "ADDRESS": _is(ip_interface),
    "MAC": _matches(rf"{_OCTET}(?::{_OCTET}){{5}}"),
    "ESI": _matches(rf"00(?::{_OCTET}){{9}}"),
    "RD": _matches(_PAIR),
    "RT": _matches(rf"{_PAIR}|ANY:\d+"),
    "FAMILY": _matches(r"ipv4-unicast|ipv6-unicast|l2vpn-evpn"),
    "PEER": lambda text: _is(ip_address)(text) or _matches(_INTERFACE)(text),
    "COMMUNITY": lambda text: _is_community(text),
    "ASNS": _matches(r"\d+(?:,\d+)*"),
    "LOGINS": _matches(r"(?:tacacs|radius|ldap|local)(?: (?:tacacs|radius|ldap|local))*"),
    "ALPHA": _matches(r"alpha_(?:0|infinity|(?:1|2|4|8|16|32|64)|1_(?:2|4|8|16|32|64|128))"),
}
"""Tests of the values of each type, by its name in `paths.txt`."""


def _is_community(text: str) -> bool:
    """Whether it is `65000:1` with numbers of 16 bits, or a well-known one (NVUE Format Reference)."""
    first, colon, second = text.partition(":")
    if not colon:
        return text in ("local-as", "no-advertise", "no-export", "graceful-shutdown", "blackhole", "internet")
    return first.isdecimal() and second.isdecimal() and max(int(first), int(second)) < 65536


@dataclass(frozen=True, slots=True)
class Values:
    """The values that a key or a leaf can have: words, ranges of numbers and types, as `auto|1..9|MAC`."""

    spec: str

    def take(self, text: str) -> bool:
        return any(_takes(kind, text) for kind in self.spec.split("|"))

    @property
    def is_switch(self) -> bool:
        """Whether it is on or off."""
        return set(SWITCH) <= set(self.spec.split("|"))

    @property
    def is_list(self) -> bool:
        """Whether it is a list of words whose order counts: a list in YAML, several words of a command."""
        return self.spec == "LOGINS"

    @property
    def words(self) -> frozenset[str]:
        return frozenset(self.spec.split("|"))


@lru_cache(maxsize=65_536)
def _takes(kind: str, text: str) -> bool:
    if kind in TYPES:
        return TYPES[kind](text)
    if match := _RANGE.fullmatch(kind):
        return text.isdecimal() and len(text) < 12 and int(match[1]) <= int(text) <= int(match[2])
    return kind == text


@dataclass(slots=True)
class SchemaPlace:
    """One node of the model. words: what may follow it. key: values of a key that may follow, and what follows that.

    value: of a leaf; None for a container. is_complete: whether every word below it is in `paths.txt`.
    """

    words: dict[str, SchemaPlace] = field(default_factory=dict)
    keys: list[tuple[Values, SchemaPlace]] = field(default_factory=list)
    value: Values | None = None
    is_complete: bool = False

    def step(self, word: str) -> SchemaPlace | None:
        """The node at a word below this one; None for an unknown word."""
        if word in self.words:
            return self.words[word]
        return next((place for values, place in self.keys if values.take(word)), None)

    @property
    def is_open(self) -> bool:
        """Whether nothing is known of what is below it."""
        return not self.words and not self.keys and self.value is None


@cache
def model() -> SchemaPlace:
    """The root of the model."""
    root, macros = SchemaPlace(), list(_lines_of(MACRO))
    for words, value in _lines_of(None):
        if value == MACRO:
            for more, of_macro in macros:
                _add(root, [*words, *more[1:]], of_macro)
        else:
            _add(root, words, value)
    return root


def _lines_of(first: str | None) -> Iterator[tuple[list[str], str]]:
    """The words and the value of each line that begins with that word; of the others for None."""
    for line in files("railfab.platforms.cumulus").joinpath("paths.txt").read_text().splitlines():
        path, _, value = line.partition(" = ")
        words = path.split()
        if words and not words[0].startswith("#") and (words[0] == MACRO) == (first == MACRO):
            yield words, value


def _add(root: SchemaPlace, words: Iterable[str], value: str) -> None:
    node = root
    for word in words:
        if word == "@":
            node.is_complete = True
        else:
            node = _below(node, word)
    if value:
        node.value = Values(value)


def _below(node: SchemaPlace, word: str) -> SchemaPlace:
    if word not in TYPES and "|" not in word and ".." not in word:
        return node.words.setdefault(word, SchemaPlace())
    for values, place in node.keys:
        if values.spec == word:
            return place
    node.keys.append((Values(word), SchemaPlace()))
    return node.keys[-1][1]
