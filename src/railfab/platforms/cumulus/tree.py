"""NVUE configuration as a tree: keys are the words of a command, leaves their values.

`nv set interface swp1 link mtu 9216` is `{interface: {swp1: {link: {mtu: 9216}}}}`. The text is the list that `nv
config show` prints and `nv config replace` and /etc/nvue.d/startup.yaml take: `- header: ...`, which says on which
switch it was made, `- set: ...`, the tree, and in what `nv config patch` takes `- unset: ...`, a tree without values.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import yaml

from railfab.device import natural
from railfab.errors import ConfigError
from railfab.platforms.cumulus.commands import NvueOperation, commands_of, is_commands
from railfab.platforms.cumulus.schema import SchemaPlace, model
from railfab.platforms.shared.json_tree import Json
from railfab.yaml_reader.composer import YamlLimits
from railfab.yaml_reader.sections import Faulty, composed
from railfab.yaml_reader.values import texts

WHAT = "Cumulus Linux configuration"
DUMPER: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
LIMITS = YamlLimits(depth=60, expanded=1_000_000, merged_keys=1_000_000, tags=None)
"""A configuration has about fifteen levels."""
HEADER, SET, UNSET = "header", "set", "unset"
_DOCUMENT = re.compile(r"^---(?=\s|$)", re.MULTILINE)
"""The line before a document."""
LOGINS = "system aaa authentication order"
"""Setting with a list as its value, of which a command has the words one by one."""
WIDTH = 1 << 20
"""So wide that no text is folded."""
LINE = "\n    "
"""A new line with the indent of the first containers."""
_PLAIN = re.compile(r"[A-Za-z][\w./-]*(?: [\w./-]+)*|\d+\.\d+\.\d+\.\d+(?:/\d+)?", re.ASCII)
_WORDS = frozenset({"y", "n", "yes", "no", "true", "false", "on", "off", "null"})
"""Texts that YAML 1.1 reads as no text."""


def text(tree: Json) -> str:
    """The tree as the YAML of NVUE, with the keys of each container in natural order.

    The same as `yaml.dump` writes, in a fifth of its time.
    """
    return f"- {SET}:{_written(tree, LINE, model())}\n"


def _written(value: Any, line: str, place: SchemaPlace | None) -> str:
    """Text after a key: a scalar, a list or a container. line: a new line with the indent of what is in it."""
    if not isinstance(value, Mapping):
        if place is not None and place.value is not None and place.value.is_list:
            return "".join(f"{line}- {_scalar(entry)}" for entry in str(value).split())
        return f" {_scalar(value)}"
    below = line + "  "
    members = []
    for name in sorted(value, key=natural):
        step = place.words.get(name) if place is not None else None
        members.append(f"{line}{_scalar(name)}:{_written(value[name], below, step)}")
    return "".join(members) or " {}"


def _scalar(value: Any) -> str:
    if isinstance(value, str) and _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
        return value
    return _quoted(value)


@lru_cache(maxsize=4096, typed=True)
def _quoted(value: Any) -> str:
    """A scalar as PyYAML writes it, in quotes where it would be read as something else."""
    style = '"' if isinstance(value, str) and "\n" in value else None
    dumped = yaml.dump(value, Dumper=DUMPER, allow_unicode=True, width=WIDTH, default_style=style)
    return str(dumped).removesuffix("\n...\n").removesuffix("\n")


@dataclass(frozen=True, slots=True)
class NvueText:
    """The operations of a text in turn, and what of it is none: lines that are no command, and names of other parts."""

    operations: tuple[NvueOperation, ...]
    lines: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()


def read(text: str) -> NvueText:
    """The operations of a configuration text.

    Takes the YAML list, also of several documents, one operation alone, and lines `nv set ...`. Every leaf is text, or
    an empty container. Raises ConfigError.
    """
    if is_commands(text):
        operations, unread = commands_of(text)
        return NvueText(tuple(operations), unread)
    named = [member for part in _parts(text) for member in part.items()]
    return NvueText(
        tuple(
            NvueOperation(name == SET, _plain(content))
            for name, content in named
            if name in (SET, UNSET) and isinstance(content, dict)
        ),
        parts=tuple(
            name
            for name, content in named
            if name != HEADER and not (name in (SET, UNSET) and (content == "" or isinstance(content, dict)))
        ),
    )


def _parts(text: str) -> Iterator[Mapping[str, Any]]:
    """The operations and headers of every document."""
    for document in _DOCUMENT.split(text):
        if not document.strip():
            continue
        try:
            content = texts(composed(document, LIMITS))  # `on` is no truth value here
        except Faulty as error:
            raise ConfigError(WHAT, f"is not YAML ({error})", "Pass the output of `nv config show`") from None
        for part in content if isinstance(content, list) else [content]:
            if isinstance(part, dict):
                yield part
            elif part not in ("", None):
                raise ConfigError(WHAT, "is not a list of containers", "Pass the output of `nv config show`")


def _plain(value: Any) -> Any:
    """The tree with lists as containers of their entries, and empty values as empty containers."""
    if isinstance(value, dict):
        return {name: _plain(child) for name, child in value.items()}
    if isinstance(value, list):
        return {str(entry): {} for entry in value}
    return {} if value == "" else value


def lines(tree: Json) -> list[str]:
    """The tree as `nv set ...` commands, one for each leaf and empty container."""
    return [f"nv set {line}" for line in lines_below(tree, "")]


def lines_below(tree: Mapping[str, Any], path: str) -> Iterator[str]:
    for name, child in tree.items():
        at = f"{path} {word(name)}".lstrip()
        if isinstance(child, Mapping) and child:
            yield from lines_below(child, at)
        else:
            yield at if isinstance(child, Mapping) else f"{at} {value_words(at, child)}"


def value_words(setting: str, value: Any) -> str:
    """The value of a setting, by the words of its command, as it stands there."""
    return str(value) if setting == LOGINS else word(value)


def word(value: Any) -> str:
    """A word of a command, quoted where the shell would split it."""
    return shlex.quote(str(value))
