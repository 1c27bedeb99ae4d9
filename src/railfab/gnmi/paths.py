"""gNMI paths as text: `/interface[name=ethernet-1/1]/statistics/in-octets`.

Canonical text has keys in the order of their names and neither origin nor module prefixes. The text form and its
escapes are those of OpenConfig's "Representing gNMI Paths as Strings": in a key's value `]` and `\\` are escaped with
`\\`, in names also `/`, `[` and `=`. Text is handled without protobuf; only `to_proto` and its like need the stubs.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from railfab.errors import RailfabError

if TYPE_CHECKING:
    from railfab.gnmi import messages

ANY = "*"
ANY_DEPTH = "..."
SHARED_PATHS = 1 << 16
"""Paths that are kept for all targets, so that each is read once and not once a switch."""
MOST_SHARED = 1 << 9
"""Longest path of these, and longest step that is kept [bytes, or characters of names and keys]."""
ELEM, LONG = 0x1A, 0x80
"""Tag of a step in the message Path (field 3), and the size from which on it takes a second byte."""
SHARED_TEXTS = 1 << 10
_ORIGIN = re.compile(r"^([A-Za-z_][\w.-]*):(?=/)")
_PREFIX = re.compile(r"^[A-Za-z_][\w.-]*:(?=[A-Za-z_*{])")
"""Prefix of a module: a YANG identifier begins with a letter, so `Ethernet0:3` has none."""


class PathError(RailfabError):
    """A text that is not a gNMI path."""


class Element(NamedTuple):
    """One step of a path. keys: pairs of name and value, sorted by name."""

    name: str
    keys: tuple[tuple[str, str], ...] = ()


def to_proto(text: str, target: str = "") -> messages.Path:
    """The protobuf path of a text; an origin (`openconfig:/interfaces`) and module prefixes are kept as written."""
    from railfab.gnmi import messages

    origin, steps = _parse(text)
    elems = [messages.PathElem(name=step.name, key=dict(step.keys)) for step in steps]
    return messages.Path(origin=origin, elem=elems, target=target)


def to_text(path: messages.Path, prefix: messages.Path | None = None) -> str:
    """The canonical text of a protobuf path, after the prefix of its notification or request if there is one."""
    return to_text_elements((*proto_elements(prefix), *proto_elements(path)))


def proto_elements(path: messages.Path | None) -> tuple[Element, ...]:
    """The steps of a protobuf path, module prefixes stripped; nothing for None."""
    if path is None:
        return ()
    return tuple([_element(elem.SerializeToString()) for elem in path.elem])


def wire_elements(raw: bytes) -> tuple[Element, ...]:
    """The steps of a serialised path, as `proto_elements`. Raises DecodeError or UnicodeDecodeError."""
    return _of_wire(raw) if len(raw) <= MOST_SHARED else _of_wire.__wrapped__(raw)


@lru_cache(maxsize=SHARED_PATHS)
def _of_wire(raw: bytes) -> tuple[Element, ...]:
    """The steps, cut out of the bytes where these hold nothing but short elements, as those of switches do."""
    steps, start, end = [], 0, len(raw)
    while start < end:
        if raw[start] != ELEM or start + 1 == end or (size := raw[start + 1]) >= LONG or start + 2 + size > end:
            return _of_any_wire(raw)
        steps.append(_from_proto(raw[start + 2 : start + 2 + size]))
        start += 2 + size
    return tuple(steps)


def _of_any_wire(raw: bytes) -> tuple[Element, ...]:
    from railfab.gnmi import messages

    return proto_elements(messages.Path.FromString(raw))


@lru_cache(maxsize=1 << 16)
def elements(text: str) -> tuple[Element, ...]:
    """The steps of a path text, origin and module prefixes stripped. Raises PathError."""
    return tuple(_stripped(step) for step in _parse(text)[1])


def to_text_elements(steps: tuple[Element, ...]) -> str:
    """The canonical text of these steps; `/` for none."""
    return "/" + "/".join(_step_text(step) for step in steps)


def canonical(text: str) -> str:
    """The canonical form of a path text."""
    return to_text_elements(elements(text))


def escape(value: str) -> str:
    """A key's value with escapes, as written between `=` and `]`."""
    return value.replace("\\", "\\\\").replace("]", "\\]")


def matches(pattern: str, text: str) -> bool:
    """Whether a path lies at or below a pattern.

    In the pattern `*` stands for any name or key value, `...` for any number of steps, and a key left out for any.
    """
    return matches_elements(elements(pattern), elements(text))


def matches_elements(pattern: tuple[Element, ...], steps: tuple[Element, ...]) -> bool:
    """Whether parsed steps lie at or below a parsed pattern; see `matches`."""
    for index, wanted in enumerate(pattern):
        if wanted.name == ANY_DEPTH:
            rest = pattern[index + 1 :]
            return any(matches_elements(rest, steps[start:]) for start in range(index, len(steps) + 1))
        if index >= len(steps) or not matches_step(wanted, steps[index]):
            return False
    return True


def matches_step(wanted: Element, step: Element) -> bool:
    """Whether one step matches a step of a pattern."""
    if wanted.name not in (step.name, ANY):
        return False
    if not wanted.keys:
        return True
    given = dict(step.keys)
    return all(name in given and value in (given[name], ANY) for name, value in wanted.keys)


def _element(elem: bytes) -> Element:
    """The step of a serialised element; one that is longer than any of a switch is not kept."""
    return _from_proto(elem) if len(elem) <= MOST_SHARED else _from_proto.__wrapped__(elem)


@lru_cache(maxsize=1 << 12)
def _from_proto(elem: bytes) -> Element:
    from railfab.gnmi import messages

    step = messages.PathElem.FromString(elem)
    return _stripped(Element(step.name, tuple(step.key.items())))


def _stripped(step: Element) -> Element:
    keys = tuple(sorted((_PREFIX.sub("", name), value) for name, value in step.keys))
    return Element(_PREFIX.sub("", step.name), keys)


def _step_text(step: Element) -> str:
    keys = "".join(f"[{_escape_name(name)}={escape(value)}]" for name, value in step.keys)
    return _escape_name(step.name) + keys


def _escape_name(name: str) -> str:
    return re.sub(r"([\\/\[\]=])", r"\\\1", name)


@lru_cache(maxsize=SHARED_TEXTS)
def _parse(text: str) -> tuple[str, tuple[Element, ...]]:
    """Origin and steps of a path text, prefixes kept."""
    match = _ORIGIN.match(text)
    origin, rest = (match.group(1), text[match.end() :]) if match else ("", text)
    steps = []
    for part in _split(rest, text):
        name, keys = _split_keys(part, text)
        if not name:
            raise PathError(text, "a step without a name", "Write /name[key=value]/name")
        steps.append(Element(name, tuple(sorted(keys))))
    return origin, tuple(steps)


def _split(text: str, whole: str) -> list[str]:
    """The texts between slashes outside brackets, escapes kept."""
    parts, start, depth, index = [], 0, 0, 0
    while index < len(text):
        char = text[index]
        if char == "\\":
            index += 1
        elif char == "[" and not depth:
            depth = 1
        elif char == "]" and depth:
            depth = 0
        elif char == "/" and not depth:
            parts.append(text[start:index])
            start = index + 1
        index += 1
    if depth:
        raise PathError(whole, "a [ without its ]", "Close the key; write \\] for a bracket inside a value")
    if index > len(text):
        raise PathError(whole, "ends with a backslash", "Write \\\\ for a backslash")
    return [part for part in (*parts, text[start:]) if part]


def _split_keys(part: str, whole: str) -> tuple[str, list[tuple[str, str]]]:
    """Name and keys of one step."""
    name, rest = _until(part, "[")
    keys: list[tuple[str, str]] = []
    while rest:
        if not rest.startswith("["):
            raise PathError(whole, f"{rest!r} behind a key", "Write /name[key=value]/name")
        key, value_on = _until(rest[1:], "=")
        if not key or not value_on:
            raise PathError(whole, "a key without a name or a value", "Write [key=value]")
        value, closed = _until(value_on[1:], "]")
        keys.append((key, value))
        rest = closed[1:]
    return name, keys


def _until(text: str, stop: str) -> tuple[str, str]:
    """The text before the first unescaped `stop`, with escapes removed, and the rest from `stop` on."""
    taken, index = [], 0
    while index < len(text) and text[index] != stop:
        if text[index] == "\\":
            index += 1
        taken.append(text[index])
        index += 1
    return "".join(taken), text[index:]
