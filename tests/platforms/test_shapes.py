"""Configurations that others write lose no line: each is part of the model or unmodelled, or states a default.

`shapes/PLATFORM.yml` has parts of configurations as operators have them, of features that railfab models and of those
that it does not: lines of text, or the tree of a platform whose configuration is one. `base` stands before each.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from railfab.errors import RailfabError
from railfab.platforms import platform
from railfab.testing.edits import leaves

FOLDER = Path(__file__).parent / "shapes"
ENDS = ("!", "exit", "end")
"""Lines that end a section, and say nothing else."""


class Shape(NamedTuple):
    platform: str
    name: str
    base: Any
    content: Any

    @property
    def whole(self) -> str:
        return self._text(self.content)

    def shortened(self) -> Iterator[tuple[str, str]]:
        """Each line or leaf of the shape, and the configuration without it and what is below it."""
        if isinstance(self.content, str):
            lines = self.content.splitlines()
            for number, line in enumerate(lines):
                if line.strip() and line.strip() not in ENDS:
                    yield line, self._text("\n".join([*lines[:number], *lines[_end(lines, number) :]]) + "\n")
            return
        for place in leaves(self.content):
            yield ".".join(map(str, place)), self._text(_without(self.content, place))

    def _text(self, content: Any) -> str:
        if isinstance(content, str):
            return str(self.base) + content
        tree = merged(self.base, content)
        return str(yaml.safe_dump([{"set": tree}])) if self.platform == "cumulus" else json.dumps(tree, indent=2)


def _end(lines: list[str], number: int) -> int:
    """The first line that is not below this one."""
    indent = len(lines[number]) - len(lines[number].lstrip())
    end = number + 1
    while end < len(lines) and len(lines[end]) - len(lines[end].lstrip()) > indent:
        end += 1
    return end


def _without(tree: Any, place: tuple[str | int, ...]) -> Any:
    changed = copy.deepcopy(tree)
    parent = changed
    for step in place[:-1]:
        parent = parent[step]
    del parent[place[-1]]
    return changed


def merged(base: Any, content: Any) -> Any:
    if isinstance(base, dict) and isinstance(content, dict):
        keys = {**base, **content}
        return {key: merged(base[key], content[key]) if key in base and key in content else keys[key] for key in keys}
    return content


def shapes() -> Iterator[Shape]:
    for file in sorted(FOLDER.glob("*.yml")):
        document = yaml.safe_load(file.read_text())
        yield from (Shape(file.stem, name, document["base"], content) for name, content in document["shapes"].items())


SHAPES = [*shapes()]


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: f"{shape.platform}: {shape.name}")
def test_no_line_of_others_is_lost(shape: Shape) -> None:
    """Without it, the model is another one, if only in its unmodelled part; or to the switch it is no difference."""
    own = platform(shape.platform)
    model = own.parse(shape.whole)
    lost = []
    for line, text in shape.shortened():
        try:
            if own.parse(text) == model and own.differences(text, shape.whole) != ():
                lost.append(line)
        except RailfabError:  # what is left is refused
            continue
    assert lost == []


def test_there_are_a_hundred_shapes_and_some_of_each_platform() -> None:
    of_platforms = [shape.platform for shape in SHAPES]
    assert len(SHAPES) >= 100
    assert min(map(of_platforms.count, ("cumulus", "eos", "frr", "junos", "nxos", "sonic", "srlinux"))) >= 14
