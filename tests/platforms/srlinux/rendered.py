"""All that railfab renders for SR Linux: a configuration of each role of each design and of each feature."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from tests.fabric.configuration_goldens import GOLDEN
from tests.platforms.feature_goldens import examples
from tests.platforms.srlinux.configuration import SRLINUX
from tests.platforms.srlinux.oracle import laid_over_the_factory
from tests.platforms.srlinux.switches import rail_switch, spine
from tests.platforms.srlinux.test_srlinux_management import STATED

from railfab.platforms.shared.json_tree import Json, bare
from railfab.platforms.srlinux.place import NodePlace
from railfab.platforms.srlinux.schema import schema
from railfab.platforms.srlinux.tree import stripped


@cache
def rendered() -> Mapping[str, Json]:
    """A configuration of each role of each design, of each feature, and of the management access."""
    models = dict(examples(SRLINUX)) | {
        "rail switch": rail_switch(),
        "spine": spine(),
        "management": replace(rail_switch(), management=STATED),
    }
    trees = {name: SRLINUX.render(model) for name, model in models.items()}
    for file in sorted(GOLDEN.rglob("*.json")):
        if "srl_nokia-" in (text := file.read_text()):
            trees[f"{file.parent.name} {file.stem}"] = json.loads(text)
    return {name: laid_over_the_factory(tree) for name, tree in trees.items()}


@cache
def rendered_paths() -> frozenset[str]:
    """The paths without keys of the nodes of these configurations."""
    return frozenset(path for tree in rendered().values() for path, _ in places(stripped(tree)))


def places(tree: Json) -> Iterator[tuple[str, NodePlace]]:
    """The nodes of a configuration without module prefixes, each with its path without keys."""
    yield from _below("", NodePlace(tree, schema().nodes, None))


def _below(path: str, place: NodePlace) -> Iterator[tuple[str, NodePlace]]:
    yield path, place
    for name, child in place.value.items() if isinstance(place.value, dict) else ():
        for entry in child if isinstance(child, list) else [child]:
            yield from _below(f"{path}/{name}", NodePlace(entry, place.node[name], place, name))


def as_json(value: Any, at: tuple[str, ...] = ()) -> Any:
    """A tree of CLI lines as JSON has it: identities with their modules, numbers of unions as numbers."""
    if isinstance(value, dict):
        return {name: as_json(child, (*at, bare(name))) for name, child in value.items()}
    if isinstance(value, list):
        return [as_json(entry, at) for entry in value]
    if module := schema().identity_modules.get(at, {}).get(value):
        return f"{module}:{value}"
    kind = schema().type_of(schema().at("/".join(at)))
    return int(value) if kind and kind["type"] == "union" and str(value).isdecimal() else value
