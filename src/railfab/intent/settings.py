"""Other values of the keys of an intent, as `KEY=VALUE` on a command line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any

from railfab.errors import IntentError
from railfab.intent.document import LIMITS, Document, Location
from railfab.text.display import display, display_key
from railfab.yaml_reader.composer import compose
from railfab.yaml_reader.values import INTEGER, strict_values

OPENING, CLOSING, QUOTES = "[{", "]}", "'\""


def alternatives(text: str) -> tuple[str, ...]:
    """A setting KEY=VALUE for each of the values in KEY=VALUE,VALUE. Raises IntentError.

    A comma inside brackets or quotes is a part of a value.
    """
    key, equals, values = text.partition("=")
    if not key or not equals:
        raise IntentError(f"--set {text}", "it has no key and value", "Write KEY=VALUE, such as profile.hash.seed=7")
    return tuple(f"{key}={value}" for value in _split(values))


def _split(values: str) -> Iterator[str]:
    """The parts between commas that are in neither brackets nor quotes."""
    begin, depth, quote = 0, 0, ""
    for place, character in enumerate(values):
        if quote:
            quote = "" if character == quote else quote
        elif character in QUOTES:
            quote = character
        elif character == "," and depth == 0:
            yield values[begin:place]
            begin = place + 1
        else:
            depth += (character in OPENING) - (character in CLOSING)
    yield values[begin:]


def with_settings(document: Document, settings: Iterable[str]) -> Document:
    """A document with other values at some of its keys; the lines are those of the file.

    settings: KEY=VALUE, a dotted key and its value as YAML. Raises IntentError for one that cannot be there.
    """
    content = deepcopy(document.content)
    for text in settings:
        location, value = _parsed(text)
        _set(content, location, value, text)
    return replace(document, content=content)


def set_keys(settings: Sequence[str]) -> tuple[str, ...]:
    """The dotted keys of settings."""
    return tuple(dict.fromkeys(text.partition("=")[0] for text in settings))


def _parsed(text: str) -> tuple[Location, Any]:
    """The key of a setting, and its value."""
    key, _, written = text.partition("=")
    tree, faults = compose(written, LIMITS)
    value, value_faults = strict_values(tree)
    for fault in (*faults, *value_faults):
        raise IntentError(f"--set {text}", f"invalid YAML ({fault.problem})", "Put the value in quotes")
    return tuple(int(part) if INTEGER.fullmatch(part) else part for part in key.split(".")), value


def _set(content: dict[int | str, Any], location: Location, value: object, text: str) -> None:
    """Set a key, with the mappings around it."""
    place = content
    for depth, part in enumerate(location[:-1], 1):
        if place.get(part) is None:
            place[part] = {}
        if not isinstance(place[part], dict):
            key = ".".join(map(display_key, location[:depth]))
            problem = f"{key} is {display(place[part])} in the file, which has no keys"
            raise IntentError(f"--set {text}", problem, f"Set {key} as a whole, such as {key}={{KEY: VALUE}}")
        place = place[part]
    place[location[-1]] = value
