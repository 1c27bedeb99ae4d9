"""Mutated texts of configurations: pieces of rendered ones, of at most LINES lines, with edits of words and lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from copy import deepcopy
from functools import cache
from random import Random
from typing import Any

import yaml
from tests.audit.edits import base_text
from tests.audit.fabrics import fabric_of

from railfab.errors import RailfabError

LINES = 60
MOST_EDITS = 6
FABRICS = ("routed", "numbered", "dual-mlag", "dual-esi", "dual-vlan")
WORDS: Sequence[str] = (
    *("0", "1", "-1", "3", "65536", "4294967296", "99999999999999999999", "1.5", "0x10", "10.0.0.0/33", "10.0.0.1"),
    *("fe80::1/129", "2001:db8::1/64", "00:11:22:33:44:55", "default", "all", "any", "none", "no", "on", "off", "auto"),
    *("1-3,5", "3-1", "a" * 300, "é", "''", '"', "{", "}", "[", "]", "|", "!", "#", "-", "/", ":", "\t"),
)
"""Words that take the place of others: numbers out of range, addresses that are none, names, marks of the formats."""
VALUES: Sequence[Any] = (*WORDS, 0, -1, 1.5, True, None, [], {}, [1], {"a": 1}, [[]], [{}])
"""Values that take the place of others in a tree."""


@cache
def base_texts(platform: str) -> tuple[str, ...]:
    """The configurations of the switches of several fabrics, as far as the platform supports them."""
    texts: list[str] = []
    for name in FABRICS:
        try:
            design = fabric_of(platform, name)
            roles = {switch.rstrip("0123456789"): text for switch, text in design.texts.items()}
            texts += [base_text(platform, text) for text in roles.values()]
        except RailfabError:
            continue
    return tuple(texts)


def mutated_texts(platform: str, seed: int, number: int) -> Iterator[str]:
    """That many texts: the same ones for the same seed."""
    random = Random(f"{platform} {seed}")
    texts = base_texts(platform)
    trees = [tree for tree in map(_tree, texts) if tree is not None]
    for place in range(number):
        if trees and place % 3:
            yield _of_tree(random, random.choice(trees), is_json=platform != "cumulus")
        else:
            yield _of_lines(random, random.choice(texts))


# Lines


def _of_lines(random: Random, text: str) -> str:
    """Consecutive lines of a text with those of the sections that they are in, edited."""
    lines = text.splitlines()
    start = random.randrange(len(lines))
    chosen = lines[start : start + random.randint(1, LINES - 10)]
    chosen[:0] = _sections_above(lines, start)[-5:]
    for _ in range(random.randint(1, MOST_EDITS)):
        random.choice(LINE_EDITS)(random, chosen)
    return "\n".join(chosen[:LINES]) + "\n"


def _sections_above(lines: Sequence[str], at: int) -> list[str]:
    above: list[str] = []
    margin = _margin(lines[at])
    for line in reversed(lines[:at]):
        if line.strip() and _margin(line) < margin:
            above.insert(0, line)
            margin = _margin(line)
    return above


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())


def _edit_word(random: Random, lines: list[str]) -> None:
    """Replace, remove, double or cut a word of a line."""
    if not lines:
        return
    at = random.randrange(len(lines))
    margin, words = lines[at][: _margin(lines[at])], lines[at].split()
    if not words:
        return
    place = random.randrange(len(words))
    words[place : place + 1] = random.choice(
        (
            [random.choice(WORDS)],
            [],
            [words[place]] * 2,
            [words[place][: len(words[place]) // 2]],
            [random.choice(random.choice(lines).split() or [""])],
        )
    )
    lines[at] = margin + " ".join(words)


def _edit_line(random: Random, lines: list[str]) -> None:
    """Remove, double, move or indent a line."""
    if not lines:
        return
    at = random.randrange(len(lines))
    line = lines.pop(at)
    for copy in random.choice(([], [line, line], [f"   {line}"], [line.lstrip()], [f"no {line.strip()}"])):
        lines.insert(random.choice((at, random.randint(0, len(lines)))), copy)


LINE_EDITS = (_edit_word, _edit_word, _edit_line)


# Trees


@cache
def _tree(text: str) -> Any:
    """The tree of a JSON or YAML text; None for another."""
    try:
        return json.loads(text)
    except ValueError:
        pass
    return yaml.load(text, yaml.CSafeLoader) if text.startswith("- ") else None


def _of_tree(random: Random, tree: Any, *, is_json: bool) -> str:
    """A part of a tree, of at most LINES lines, with values, keys and entries edited."""
    while True:
        part = _part(random, tree, LINES)
        for _ in range(random.randint(1, MOST_EDITS)):
            _edit_node(random, part)
        text = json.dumps(part, indent=1) if is_json else str(yaml.dump(part, Dumper=yaml.CSafeDumper))
        if len(text.splitlines()) <= LINES:
            return text


def _part(random: Random, node: Any, size: int) -> Any:
    """A copy of a node with some of its entries, so many that it has about `size` leaves."""
    if isinstance(node, list):
        chosen = random.sample(node, min(len(node), random.randint(1, 2)))
        return [_part(random, entry, max(1, size // len(chosen))) for entry in chosen]
    if not isinstance(node, dict):
        return node
    keys = random.sample(sorted(node, key=str), min(len(node), max(1, min(size, random.randint(2, 8)))))
    return {key: _part(random, node[key], max(1, size // len(keys))) for key in keys}


def _edit_node(random: Random, tree: Any) -> None:
    """Replace a value, remove or rename a key, somewhere in a tree."""
    node = tree
    while True:
        below = list(node.values() if isinstance(node, dict) else node)
        deeper = [child for child in below if isinstance(child, dict | list) and child]
        if not deeper or (len(node) > 1 and random.random() < 0.25):
            break
        node = random.choice(deeper)
    if not node:
        return
    key: Any = random.choice(list(node)) if isinstance(node, dict) else random.randrange(len(node))
    action = random.randrange(3)
    if action == 0:
        del node[key]
    elif action == 1 or isinstance(node, list):
        node[key] = deepcopy(random.choice(VALUES))
    else:
        node[str(random.choice(WORDS)) if random.random() < 0.5 else f"{key}x"] = node.pop(key)
