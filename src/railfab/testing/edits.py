"""Single edits of a rendered configuration, whatever its form: another, a deleted or an additional leaf or line."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st

from railfab.platforms import Tree
from railfab.platforms.shared.line_tree import Line

Place = tuple[str | int, ...]


def edited_trees(tree: Tree) -> st.SearchStrategy[Tree]:
    """The tree with one edit. A tree is a JSON object or a tuple of lines."""
    return _edited_json(tree) if isinstance(tree, dict) else _edited_lines(tree)


@st.composite
def _edited_json(draw: st.DrawFn, tree: dict[str, Any]) -> dict[str, Any]:
    changed = copy.deepcopy(tree)
    if draw(st.booleans()):
        container = _at(changed, draw(st.sampled_from([(), *_containers(tree)])))
        container[f"x-{draw(st.sampled_from('abc'))}"] = draw(st.integers(0, 9))
        return changed
    *above, last = draw(st.sampled_from(list(leaves(tree))))
    parent = _at(changed, tuple(above))
    if draw(st.booleans()):
        del parent[last]
    else:
        parent[last] = _other(parent[last])
    return changed


def _other(value: Any) -> Any:
    """Another value of the same kind."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + 1
    if isinstance(value, str):
        return str(int(value) + 1) if value.isdecimal() else f"{value}x"
    return [*value, "x"] if isinstance(value, list) else {**(value or {}), "x": 1}


def _at(tree: Any, place: Place) -> Any:
    for step in place:
        tree = tree[step]
    return tree


def leaves(value: Any, place: Place = ()) -> Iterator[Place]:
    """The place of every leaf, leaf-list and empty container."""
    if isinstance(value, dict) and value:
        for name, child in value.items():
            yield from leaves(child, (*place, name))
    elif isinstance(value, list) and value and all(isinstance(entry, dict) for entry in value):
        for index, entry in enumerate(value):
            yield from leaves(entry, (*place, index))
    else:
        yield place


def _containers(value: Any, place: Place = ()) -> Iterator[Place]:
    """The place of every container and list entry."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, child in children:
        if isinstance(child, dict):
            yield (*place, name)
        yield from _containers(child, (*place, name))


@st.composite
def _edited_lines(draw: st.DrawFn, tree: tuple[Line, ...]) -> tuple[Line, ...]:
    place = draw(st.sampled_from(list(_lines(tree))))
    line = _line_at(tree, place)
    words = line.text.split(" ")
    index = draw(st.integers(0, len(words) - 1))
    other = " ".join([*words[:index], _other(words[index]), *words[index + 1 :]])
    changed = Line(other, line.children)
    replacements = ((), (line, line), (line, Line("unheard of 7")), (changed,))
    return _with(tree, place, draw(st.sampled_from(replacements)))


def _lines(tree: tuple[Line, ...], place: tuple[int, ...] = ()) -> Iterator[tuple[int, ...]]:
    for index, line in enumerate(tree):
        yield (*place, index)
        yield from _lines(line.children, (*place, index))


def _line_at(tree: tuple[Line, ...], place: tuple[int, ...]) -> Line:
    for index in place[:-1]:
        tree = tree[index].children
    return tree[place[-1]]


def _with(tree: tuple[Line, ...], place: tuple[int, ...], instead: tuple[Line, ...]) -> tuple[Line, ...]:
    first, *rest = place
    if rest:
        instead = (Line(tree[first].text, _with(tree[first].children, tuple(rest), instead)),)
    return (*tree[:first], *instead, *tree[first + 1 :])
