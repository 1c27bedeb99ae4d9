"""Configurations in the shape of the vendors' RoCE guides are read right: `tests/audit/guides/*.yml`.

A file lists configurations beside it. Each has `file`, `source` (the document that it was written from) and `values`:
the path of a value in the device model, as an audit names it (`qos.profiles[400g].cable_m`), and the value; null is
what the model does not have.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from railfab.device import DeviceModel
from railfab.device.diff import KEYS
from railfab.platforms import platform

FOLDER = Path(__file__).parent / "guides"
GUIDES = [(file.stem, guide) for file in sorted(FOLDER.glob("*.yml")) for guide in yaml.safe_load(file.read_text())]
STEP = re.compile(r"(\w+)(?:\[([^\]]+)\])?(?:\.|$)")


@cache
def model_of(platform_name: str, file: str) -> DeviceModel:
    return platform(platform_name).parse((FOLDER / file).read_text())


def value_at(node: Any, path: str) -> Any:
    """The value at a path, in the words of YAML; None where an element is missing."""
    for name, key in STEP.findall(path):
        node = getattr(node, name)
        if key:
            node = next((child for index, child in _keyed(node) if index == key), None)
        if node is None:
            return None
    return _plain(node)


def _keyed(elements: tuple[Any, ...]) -> Iterator[tuple[str, Any]]:
    for element in elements:
        if isinstance(element, tuple):  # a code point and its class
            yield str(element[0]), element[1]
        else:
            yield str(next(getattr(element, key) for key in KEYS if hasattr(element, key))), element


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(element) for element in value]
    return value if value is None or type(value) in (bool, int, float) else str(value)


@pytest.mark.parametrize(("name", "guide"), GUIDES, ids=lambda it: it["file"] if isinstance(it, dict) else it)
def test_the_values_of_a_guide_are_read(name: str, guide: dict[str, Any]) -> None:
    model = model_of(name, guide["file"])
    assert {path: value_at(model, path) for path in guide["values"]} == guide["values"]


@pytest.mark.parametrize(("name", "guide"), GUIDES, ids=lambda it: it["file"] if isinstance(it, dict) else it)
def test_a_guide_is_read_the_same_from_its_rendering(name: str, guide: dict[str, Any]) -> None:
    assert guide["source"]
    read = replace(model_of(name, guide["file"]), unmodelled=())
    of_platform = platform(name)
    assert replace(of_platform.parse(of_platform.text(of_platform.render(read))), unmodelled=()) == read
