"""The JSON Schema of the intent accepts and refuses the same documents as the loader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator, ValidationError
from tests.intent.intents import FULL, ROOT, SMALL, refused

from railfab.intent import json_schema

Location = tuple[str, ...]
SCHEMA = json_schema()
VALIDATOR = Draft202012Validator(SCHEMA)
LIMITS = {"minimum": -1, "maximum": 1, "exclusiveMinimum": 0, "exclusiveMaximum": 0}
"""Keywords that limit a number, and the distance from the limit to the nearest refused integer."""


def members(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The members of a union, or the schema itself."""
    if "$ref" in node:
        node = SCHEMA["$defs"][node["$ref"].rpartition("/")[2]] | {key: node[key] for key in node if key != "$ref"}
    if "anyOf" in node:
        for member in node["anyOf"]:
            yield from members(member)
    else:
        yield node


def numbers(node: dict[str, Any], held: Any, location: tuple[int | str, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """(location, keyword, limit) of every limited number of the schema that the document contains."""
    for member in members(node):
        if member.get("type") in ("integer", "number") and not isinstance(held, dict | list):
            yield from ((location, word, member[word]) for word in LIMITS if word in member)
        if isinstance(held, dict) and member.get("type") == "object":
            for name, value in held.items():
                by_name = next(iter(member.get("patternProperties", {}).values()), member.get("additionalProperties"))
                below = member.get("properties", {}).get(name) or by_name
                yield from numbers(below, value, (*location, name))
        if isinstance(held, list) and "items" in member:
            yield from numbers(member["items"], held[0], (*location, 0)) if held else ()


def keys(node: dict[str, Any], path: Location = ()) -> Iterator[tuple[Location, dict[str, Any]]]:
    """Every key of the schema, with NAME for any name."""
    for member in members(node):
        for name, entry in member.get("properties", {}).items():
            yield (*path, name), entry
            yield from keys(entry, (*path, name))
        for entry in (*member.get("patternProperties", {}).values(), member.get("additionalProperties")):
            if isinstance(entry, dict):
                yield from keys(entry, (*path, "NAME"))


def held(document: Any, path: Location) -> bool:
    """Whether a document contains a key, below any name."""
    if not path:
        return True
    if not isinstance(document, dict):
        return False
    names = list(document) if path[0] == "NAME" else [path[0]]
    return any(name in document and held(document[name], path[1:]) for name in names)


def as_json(value: Any) -> Any:
    """The value with keys as texts, as JSON requires."""
    if isinstance(value, dict):
        return {str(key): as_json(inner) for key, inner in value.items()}
    return [as_json(inner) for inner in value] if isinstance(value, list) else value


FULLEST = yaml.load(FULL, yaml.CSafeLoader)
ON_KUBERNETES = {"change": {"scheduler": {"kind": "kubernetes", "kubeconfig": "kubeconfig", "context": "lab"}}}
"""Keys that cannot stand beside others of FULLEST."""
BOUNDED = list(numbers(SCHEMA, FULLEST))


def test_the_committed_schema_is_up_to_date() -> None:
    Draft202012Validator.check_schema(SCHEMA)
    committed = json.loads((ROOT / "inventory" / "intent.schema.json").read_text())
    assert committed == SCHEMA, "write it anew: railfab schema > inventory/intent.schema.json"


def test_every_key_is_described_and_used_by_the_test_intent() -> None:
    every = dict(keys(SCHEMA))
    assert len(every) > 150
    assert [path for path, entry in every.items() if not entry.get("description")] == []
    unused = [path for path in every if not held(FULLEST, path) and not held(ON_KUBERNETES, path)]
    assert unused == [("catalogue",)]
    VALIDATOR.validate(FULLEST | ON_KUBERNETES)


@pytest.mark.parametrize("section", sorted({location[0] for location, _, _ in BOUNDED}))
def test_a_number_beyond_its_limit_is_refused_with_the_range(tmp_path: Path, section: str) -> None:
    for location, word, limit in BOUNDED:
        if location[0] != section:
            continue
        document = deepcopy(FULLEST)
        inner = document
        for part in location[:-1]:
            inner = inner[part]
        inner[location[-1]] = limit + LIMITS[word]
        key = ".".join(map(str, location))
        lines = refused(tmp_path, json.dumps(document))
        expected = f": {key}: {limit + LIMITS[word]} is out of range. Use "
        assert [line for line in lines if expected in line and str(limit) in line.partition("Use ")[2]], lines


def test_every_number_has_a_smallest_and_a_largest_value() -> None:
    assert len(BOUNDED) > 150
    limits: dict[tuple[int | str, ...], set[str]] = {}
    for location, word, _ in BOUNDED:
        limits.setdefault(location, set()).add(word.removeprefix("exclusive").lower())
    assert [location for location, words in limits.items() if words != {"minimum", "maximum"}] == []
    unbounded = {path for path, entry in keys(SCHEMA) for member in members(entry) if is_unbounded(member)}
    assert unbounded == set()


def is_unbounded(member: dict[str, Any]) -> bool:
    """Whether it is an integer of any size."""
    return member.get("type") == "integer" and not {"minimum", "const", "enum"} & set(member)


@pytest.mark.parametrize(
    "path",
    [
        *sorted((ROOT / "inventory" / "fabrics").glob("*.yml")),
        *sorted((ROOT / "labs").glob("*/intent.yml")),
    ],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_the_schema_accepts_every_committed_intent(path: Path) -> None:
    VALIDATOR.validate(as_json(yaml.load(path.read_text(), yaml.CSafeLoader)))


def test_the_schema_accepts_every_key_and_off() -> None:
    document = as_json(yaml.safe_load(FULL))
    VALIDATOR.validate(document)
    document["profile"] |= {"bfd": False, "lossless": False}
    document["hosts"] |= {"scale_up": False}
    VALIDATOR.validate(document)


@pytest.mark.parametrize(
    ("section", "wrong"),
    [
        ("profile", {"lossless": True}),
        ("profile", {"lossless": {"traffic": {"message_bytes": "3XB"}}}),
        ("hosts", {"nic_per": "host"}),
        ("backend", {"segments": {"hosts": 1, "rail_switches": 1, "model": "x", "ports": {"rail1": [1]}}}),
    ],
)
def test_the_schema_and_the_loader_refuse_the_same_documents(
    tmp_path: Path, section: str, wrong: dict[str, Any]
) -> None:
    document = yaml.safe_load(SMALL) | {section: wrong}
    with pytest.raises(ValidationError):
        VALIDATOR.validate(document)
    assert refused(tmp_path, yaml.safe_dump(document))
