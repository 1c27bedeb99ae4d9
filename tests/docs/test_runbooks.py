"""Every alert has a runbook page: what it means, what to look at, usual causes in order, and commands that exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests import commands
from tests.dashboards.promql_labels import EXPOSED, RECORDED

from railfab.dashboards import ALERTS

FOLDER = Path(__file__).parents[2] / "docs" / "alerts"
SECTIONS = ["Meaning", "What to look at", "Usual causes", "Commands"]
NAMES = sorted(alert.alert for alert in ALERTS)


def sections(name: str) -> dict[str, list[str]]:
    """The lines of each section of a page, by its title."""
    found: dict[str, list[str]] = {}
    for line in (FOLDER / f"{name}.md").read_text().splitlines()[1:]:
        if line.startswith("## "):
            found[line.removeprefix("## ")] = []
        elif line:
            list(found.values())[-1].append(line)
    return found


def test_there_is_a_page_for_every_alert_and_no_other() -> None:
    assert sorted(path.stem for path in FOLDER.glob("*.md")) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_page_has_its_sections_with_causes_in_order(name: str) -> None:
    found = sections(name)
    assert list(found) == SECTIONS
    assert (FOLDER / f"{name}.md").read_text().startswith(f"# {name}\n")
    assert all(found.values())
    assert [line.partition(". ")[0] for line in found["Usual causes"]] == [
        str(place) for place in range(1, len(found["Usual causes"]) + 1)
    ]
    assert all(line.startswith("- ") for line in found["What to look at"])


@pytest.mark.parametrize("name", NAMES)
def test_the_commands_of_a_page_parse(name: str) -> None:
    for line in sections(name)["Commands"]:
        commands.parse(line)


@pytest.mark.parametrize("name", NAMES)
def test_the_metrics_that_a_page_names_exist(name: str) -> None:
    named = set(re.findall(r"\b(?:fabric|training|roce_nic)_[a-z_]+\b", (FOLDER / f"{name}.md").read_text()))
    recorded = {part for record in RECORDED for part in record.split(":")}
    known = {name.removesuffix(f"_{end}") for name in EXPOSED for end in ("bucket", "sum", "count")}
    assert named <= EXPOSED.keys() | recorded | known
