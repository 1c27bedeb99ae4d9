"""Whole configurations in the shape of public ones, composed of the parts in `corpus/PLATFORM.yml` and of shapes.

A file has `roles` (the kinds of parts that a role has, in turn; one with `?` in about half of the texts), `parts` (the
variants of each kind), `order` (first words of sections, in the order of a running configuration) and `shapes` (names
in `shapes/PLATFORM.yml` that stand beside any text, of which up to two are added). A variant is a part of a
configuration, or `once` and `each`: the latter is repeated for two to four ports. In them `<n>` is the number of the
switch, `<i>` that of the repetition, `<p>` that of the port, `<q>` one less, and `<4q>` four times this.

The same text comes out in every run. Sections with one heading are joined, as a switch prints them, and a text is left
out that has more than SIMILAR of its lines, numbers aside, in common with an earlier one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import yaml
from tests.platforms.test_shapes import SHAPES, Shape, merged

from railfab.platforms.cumulus.commands import commands_of
from railfab.platforms.shared.brace_text import brace_text, quoted
from railfab.platforms.shared.edit_commands import statements
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.srlinux.flat import tree_of_lines

FOLDER = Path(__file__).parent / "corpus"
PLATFORMS = tuple(sorted(file.stem for file in FOLDER.glob("*.yml")))
TEXTS = 44
"""Of each platform."""
SIMILAR = 0.85
PORTS = (2, 4)
NAMED = frozenset(
    (
        *("address", "area", "class", "dscp", "family", "filter", "forwarding-class", "group"),
        *(
            "host",
            "interface-range",
            "lacp-interface",
            "neighbor",
            "policy-statement",
            "prefix-list",
            "route-filter",
            "scheduler-maps",
        ),
        *("schedulers", "server", "term", "unit", "user", "vni", "vlan-id"),
    )
)
"""Words of Junos that stand in one line with the name behind them."""
CLOSED = {"router": "exit", "vrf": "exit-vrf", "address-family": "exit-address-family", "interface": "exit"}
"""Lines with which FRR ends a section, by the first word of its heading."""

Sections = dict[str, Any]


@cache
def _document(platform: str) -> Mapping[str, Any]:
    document: Mapping[str, Any] = yaml.load((FOLDER / f"{platform}.yml").read_text(), yaml.CSafeLoader)
    return document


@cache
def corpus(platform: str) -> tuple[Shape, ...]:
    """The texts of a platform, in turn of each of its roles and forms."""
    texts: list[Shape] = []
    words: list[frozenset[str]] = []
    for number in range(1, 10 * TEXTS):
        text = _text(platform, number, len(texts))
        lines = masked_lines(text)
        if all(len(lines & earlier) <= SIMILAR * len(lines | earlier) for earlier in words):
            texts.append(text)
            words.append(lines)
        if len(texts) == TEXTS:
            break
    return tuple(texts)


def masked_lines(text: Shape) -> frozenset[str]:
    """Its lines with `#` for each number."""
    return frozenset(re.sub(r"\d+", "#", line.strip()) for line in text.whole.splitlines())


def _text(platform: str, number: int, place: int) -> Shape:
    document = _document(platform)
    random = Random(f"{platform} {number}")
    roles = list(document["roles"])
    role = roles[place % len(roles)]
    parts = [*_parts(document, role, random, number)]
    beside = document.get("shapes", [])
    parts += [_shape(platform, name) for name in random.sample(beside, random.randint(0, min(2, len(beside))))]
    forms = FORMS[platform]
    form = forms[place // len(roles) % len(forms)]
    return Shape(platform, f"{role} {number}", *form(parts, document))


def _parts(document: Mapping[str, Any], role: str, random: Random, number: int) -> Iterator[Any]:
    port = 0
    for kind in document["roles"][role]:
        if kind.endswith("?") and random.random() < 0.5:
            continue
        variant = random.choice(document["parts"][kind.rstrip("?")])
        if not (isinstance(variant, Mapping) and "each" in variant):
            yield _filled(variant, n=number % 200 + 1)
            continue
        if "once" in variant:
            yield _filled(variant["once"], n=number % 200 + 1)
        for index in range(1, random.randint(*PORTS) + 1):
            port += 1
            yield _filled(variant["each"], n=number % 200 + 1, i=index, p=port, q=port - 1, **{"4q": 4 * port - 4})


def _filled(part: Any, **values: int) -> Any:
    if isinstance(part, str):
        return re.sub(r"<(\w+)>", lambda match: str(values.get(match[1], match[0])), part)
    if isinstance(part, Mapping):
        return {_filled(key, **values): _filled(child, **values) for key, child in part.items()}
    return [_filled(child, **values) for child in part] if isinstance(part, list) else part


def _shape(platform: str, name: str) -> Any:
    return next(shape.content for shape in SHAPES if (shape.platform, shape.name) == (platform, name))


# Forms: the base and the content of a shape


def _lines(parts: Sequence[Any], document: Mapping[str, Any]) -> tuple[Any, Any]:
    """Sections in the order of the document, with lines `!` between them."""
    return "", "\n".join(_written(_in_order(parts, document), "!")) + "\n"


def _frr_lines(parts: Sequence[Any], document: Mapping[str, Any]) -> tuple[Any, Any]:
    """As `_lines`, with the lines that end a section."""
    return "", "\n".join(_written(_in_order(parts, document), "!", CLOSED)) + "\n"


def _flat(parts: Sequence[Any], document: Mapping[str, Any]) -> tuple[Any, Any]:
    """Lines of full paths, each once."""
    return "", "".join(f"{line}\n" for line in _in_order([part for part in parts if isinstance(part, str)], document))


def _braces(parts: Sequence[Any], document: Mapping[str, Any]) -> tuple[Any, Any]:
    """Set lines as `show configuration` prints them."""
    return "", brace_text(_containers([_joined(words) for words in statements(_flat(parts, document)[1])]))


def _joined(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a statement, those of a name joined with the word before."""
    joined: list[str] = []
    for at, word in enumerate(words):
        if at and words[at - 1] in NAMED and joined[-1] == words[at - 1] and len(joined) > 1:
            joined[-1] += f" {quoted(word)}"
        else:
            joined.append(quoted(word))
    return tuple(joined)


def _containers(paths: Sequence[tuple[str, ...]]) -> tuple[Line, ...]:
    below: dict[str, list[tuple[str, ...]]] = {}
    for path in paths:
        below.setdefault(path[0], []).append(path[1:])
    return tuple(line for head, rest in below.items() for line in _leaves(head, [path for path in rest if path]))


def _leaves(head: str, rest: Sequence[tuple[str, ...]]) -> Iterator[Line]:
    """A container; where all that is below are single words, a line for each."""
    if rest and all(len(path) == 1 for path in rest) and len({path[0].split()[0] for path in rest}) < 2:
        yield from (Line(f"{head} {path[0]}") for path in rest)
    else:
        yield Line(head, _containers(rest))


def _commands(parts: Sequence[Any], document: Mapping[str, Any]) -> tuple[Any, Any]:
    """Commands of Cumulus as a terminal shows them."""
    lines = _flat(parts, document)[1].splitlines()
    return "", "".join(f"cumulus@switch:mgmt:~$ {line}\n" for line in [*lines, "nv config apply"])


def _nvue_tree(parts: Sequence[Any], document: Mapping[str, Any]) -> tuple[Any, Any]:
    operations, unread = commands_of(_flat(parts, document)[1])
    assert not unread
    return _merged_all([operations[0].tree, *(part for part in parts if not isinstance(part, str))])


def _srlinux_tree(parts: Sequence[Any], document: Mapping[str, Any]) -> tuple[Any, Any]:
    return {}, tree_of_lines(_flat(parts, document)[1])


def _tree(parts: Sequence[Any], _document: Mapping[str, Any]) -> tuple[Any, Any]:
    return _merged_all(parts)


def _merged_all(trees: Sequence[Any]) -> tuple[Any, Any]:
    whole: Any = {}
    for tree in trees:
        whole = merged(whole, tree)
    return {}, whole


FORMS: Mapping[str, Sequence[Callable[[Sequence[Any], Mapping[str, Any]], tuple[Any, Any]]]] = {
    "eos": (_lines,),
    "nxos": (_lines,),
    "frr": (_frr_lines, _lines),
    "junos": (_flat, _braces),
    "cumulus": (_commands, _nvue_tree, _flat),
    "sonic": (_tree,),
    "srlinux": (_flat, _srlinux_tree),
}


# Sections of lines


def _in_order(parts: Sequence[str], document: Mapping[str, Any]) -> Sections:
    sections: Sections = {}
    for part in parts:
        _join(sections, part.splitlines())
    order = document.get("order", [])
    place = {word: number for number, word in enumerate(order)}
    return dict(sorted(sections.items(), key=lambda section: place.get(section[0].split()[0], len(order) // 2)))


def _join(sections: Sections, lines: Sequence[str]) -> None:
    """Add lines to the sections that have their headings."""
    open_sections: list[tuple[int, Sections]] = [(-1, sections)]
    for line in lines:
        text = line.strip()
        if not text or text in ("!", "exit", "exit-vrf", "exit-address-family"):
            continue
        margin = len(line) - len(line.lstrip())
        while open_sections[-1][0] >= margin:
            open_sections.pop()
        below = open_sections[-1][1].setdefault(text, {})
        open_sections.append((margin, below))


def _written(sections: Sections, mark: str, closed: Mapping[str, str] = {}, margin: str = "") -> Iterator[str]:
    indent = " " if closed else "   "
    for heading, below in sorted(sections.items(), key=lambda section: bool(margin and section[1])):
        yield margin + heading
        if not below:
            continue
        yield from _written(below, mark, closed, margin + indent)
        if (end := closed.get(heading.split()[0])) is not None:
            yield margin + end
        if not margin or heading.startswith(("vrf ", "address-family ")):
            yield margin + mark
