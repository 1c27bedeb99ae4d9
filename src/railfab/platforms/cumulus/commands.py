"""`nv set` commands as trees: `nv config show -o commands`, or a listing of commands from a manual or a shell."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass

from railfab.platforms.cumulus.names import expanded
from railfab.platforms.cumulus.schema import SchemaPlace, model
from railfab.platforms.shared.json_tree import Json

_COMMAND = re.compile(r"(?m)^\s*(?:\S*[#$] ?)?nv (?:set|unset) ")
_PROMPT = re.compile(r"^\s*\S*[#$] ?(?=nv )")
_OLD_BFD = frozenset(("enable", "detect-multiplier", "min-rx-interval", "min-tx-interval"))
"""Leaves of `bfd` of a session in 5.14 and earlier, which today's model does not have."""
_OTHER = re.compile(r"nv (?:config|show|action|list)\b.*|#.*|exit|sudo -?\w*")


def is_commands(text: str) -> bool:
    """Whether a text consists of commands."""
    return _COMMAND.search(text) is not None


@dataclass(frozen=True, slots=True)
class NvueOperation:
    """A part of a text: a tree of settings that it sets, or of those that it unsets."""

    sets: bool
    tree: Json


def commands_of(text: str) -> tuple[list[NvueOperation], tuple[str, ...]]:
    """Settings that the commands set and unset, in turn, and the other lines, without comments and `nv config`."""
    operations: list[NvueOperation] = []
    unread: list[str] = []
    for line in _whole_lines(text):
        words = _split(line)
        if words[:1] == ["nv"] and words[1:2] in (["set"], ["unset"]) and len(words) > 2:
            sets = words[1] == "set"
            if not operations or operations[-1].sets is not sets:
                operations.append(NvueOperation(sets, {}))
            _add(operations[-1].tree, words[2:], has_value=sets)
        elif line and _OTHER.fullmatch(line) is None:
            unread.append(line)
    return operations, tuple(unread)


def _whole_lines(text: str) -> Iterator[str]:
    """The commands without prompts; one with an open quote continues in the next lines."""
    open_line = ""
    for line in text.splitlines():
        whole = f"{open_line}\n{line}" if open_line else _PROMPT.sub("", line).strip()
        if whole.startswith("nv ") and _is_open(whole):
            open_line = whole
            continue
        open_line = ""
        yield whole
    if open_line:
        yield open_line


def _is_open(line: str) -> bool:
    try:
        shlex.split(line)
    except ValueError:
        return True
    return False


def _split(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _add(tree: Json, words: list[str], *, has_value: bool) -> None:
    """Add the words of a command; the last one is a value where the model has a leaf before it."""
    place: SchemaPlace | None = model()
    node = tree
    for at, word in enumerate(words):
        place = _step(place, word) if place else None
        is_list = place is not None and place.value is not None and place.value.is_list
        is_known = place is not None and place.value is not None
        is_leaf = at == len(words) - 2 and (is_known or (words[at - 1] == "bfd" and word in _OLD_BFD))
        if has_value and at < len(words) - 1 and (is_list or is_leaf):
            node[word] = " ".join(words[at + 1 :])
            return
        child = node.get(word)
        node[word] = node = child if isinstance(child, dict) else {}


def _step(place: SchemaPlace, word: str) -> SchemaPlace | None:
    """The node at a word, or at the first one that a range stands for."""
    return place.step(word) or place.step(expanded(word)[0])
