"""Sections are data: settings of the fabric, and harmless ones among them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.device.planned import LEAF, pod64

from railfab.platforms import Difference, Side
from railfab.platforms.sections import sections_of, settings_of_the_fabric

LEAF_MODEL = pod64()[1][LEAF]
PORT = LEAF_MODEL.interfaces[0].name
DOCUMENT: Mapping[str, Any] = {
    "fabric": [
        {
            "line": r"interface (?P<name>\S+): .*",
            "when": {"name": {"in": "$interfaces"}},
            "reason": "a port of the fabric",
        }
    ],
    "harmless": [{"line": r"interface \S+: description .*", "reason": "a label"}],
}


def settings(*lines: str) -> frozenset[str]:
    differences = [Difference(side=Side.ADDED, path=line, text=line, section="interface") for line in lines]
    return settings_of_the_fabric(sections_of(DOCUMENT), differences, LEAF_MODEL, LEAF_MODEL)


def test_a_setting_in_a_section_of_the_fabric_is_of_the_fabric_unless_it_is_harmless() -> None:
    line = f"interface {PORT}: load-interval 5"
    assert settings(line, f"interface {PORT}: description x", "interface mgmt0: load-interval 5") == {line}


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"line": "a"}, "missing 1 required keyword-only argument: 'reason'"),
        ({"line": "a", "reason": ""}, "needs a reason without a full stop"),
        ({"line": "a", "reason": "It is."}, "needs a reason without a full stop"),
        ({"reason": "b"}, "needs either `path` or `line`"),
    ],
)
def test_an_entry_that_is_not_valid_is_refused(entry: Mapping[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        sections_of({**DOCUMENT, "harmless": [entry]})
