"""Rules for every board."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path

import jsonschema
import pytest

from railfab.dashboards import board_document, boards

CORE_PANELS = {"stat", "timeseries", "table", "heatmap", "state-timeline", "bargauge", "text", "row"}
SCHEMA = json.loads((Path(__file__).parent / "schema" / "grafana-classic-dashboard.schema.json").read_text())
BOARDS = {name: board_document(board) for name, board in boards().items()}
PANELS = [
    pytest.param(panel, id=f"{name}: {panel['title']}") for name, board in BOARDS.items() for panel in board["panels"]
]


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_is_valid_by_grafanas_schema(name: str) -> None:
    jsonschema.validate(BOARDS[name], SCHEMA)
    assert BOARDS[name]["schemaVersion"] in range(39, 43)


def test_the_schema_refuses_a_damaged_board() -> None:
    board = json.loads(json.dumps(BOARDS["overview"]))
    board["panels"][0]["fieldConfig"]["defaults"]["thresholds"] = {"steps": "red"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(board, SCHEMA)


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_has_one_uid_and_its_panels_one_id_and_title_each(name: str) -> None:
    panels = BOARDS[name]["panels"]
    assert BOARDS[name]["uid"].startswith("railfab-")
    assert len(BOARDS[name]["uid"]) <= 40
    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels)


@pytest.mark.parametrize("name", BOARDS)
def test_panels_are_on_the_grid_and_do_not_overlap(name: str) -> None:
    places = [panel["gridPos"] for panel in BOARDS[name]["panels"]]
    assert all(place["x"] >= 0 and place["x"] + place["w"] <= 24 and place["h"] > 0 for place in places)
    assert not any(_overlap(one, other) for one, other in combinations(places, 2))


def _overlap(one: dict[str, int], other: dict[str, int]) -> bool:
    beside = one["x"] + one["w"] <= other["x"] or other["x"] + other["w"] <= one["x"]
    above = one["y"] + one["h"] <= other["y"] or other["y"] + other["h"] <= one["y"]
    return not (beside or above)


@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_has_a_description_and_a_unit(panel: dict) -> None:
    assert panel["title"]
    assert panel["description"].endswith(".")
    assert panel["fieldConfig"]["defaults"]["unit"]


@pytest.mark.parametrize("panel", PANELS)
def test_a_panel_needs_no_plugin_and_uses_the_selected_datasource(panel: dict) -> None:
    assert panel["type"] in CORE_PANELS
    for asked in (panel, *panel["targets"]):
        assert asked["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
    assert all("[" not in target["expr"] or "[$__" in target["expr"] for target in panel["targets"])


@pytest.mark.parametrize("name", BOARDS)
def test_the_datasource_and_the_fabrics_are_variables(name: str) -> None:
    datasource, fabrics = BOARDS[name]["templating"]["list"]
    assert (datasource["name"], datasource["type"], datasource["query"]) == ("datasource", "datasource", "prometheus")
    assert (fabrics["name"], fabrics["type"], fabrics["multi"], fabrics["includeAll"]) == (
        "fabric",
        "query",
        True,
        True,
    )
    assert fabrics["allValue"] == ".*", "targets without a fabric are shown too"


@pytest.mark.parametrize("panel", PANELS)
def test_columns_of_a_table_have_headings_of_plain_words(panel: dict[str, object]) -> None:
    """No identifier of the code as a heading: words with a capital first letter, or abbreviations."""
    for change in panel.get("transformations", []):  # type: ignore[attr-defined]
        for heading in change["options"].get("renameByName", {}).values():
            assert all(word.isupper() or word[1:].islower() or len(word) == 1 for word in heading.split()), heading
