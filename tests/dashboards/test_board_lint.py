"""Rules for every board."""

from __future__ import annotations

import json
import re
from itertools import combinations
from pathlib import Path

import jsonschema
import pytest

from railfab.dashboards import ALERTS, BOARDS, board_document

CORE_PANELS = {"stat", "timeseries", "table", "state-timeline", "text"}
SCHEMA = json.loads((Path(__file__).parent / "schema" / "grafana-classic-dashboard.schema.json").read_text())
RUNBOOKS = "https://runbooks.example"
DOCUMENTS = {name: board_document(board, RUNBOOKS) for name, board in BOARDS.items()}
PANELS = [panel for document in DOCUMENTS.values() for panel in document["panels"] if panel["type"] != "text"]
VARIABLE = re.compile(r"\$(?!__)(\w+)")


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_is_valid_by_grafanas_schema(name: str) -> None:
    jsonschema.validate(DOCUMENTS[name], SCHEMA)
    assert DOCUMENTS[name]["schemaVersion"] in range(39, 43)


def test_the_schema_refuses_a_damaged_board() -> None:
    document = json.loads(json.dumps(DOCUMENTS["fabric"]))
    document["panels"][2]["fieldConfig"]["defaults"]["thresholds"] = {"steps": "red"}
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMA)


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_has_one_uid_and_its_panels_one_id_and_title_each(name: str) -> None:
    panels = DOCUMENTS[name]["panels"]
    assert DOCUMENTS[name]["uid"] == f"railfab-{name}"
    assert len({panel["id"] for panel in panels}) == len({panel["title"] for panel in panels}) == len(panels)


@pytest.mark.parametrize("name", BOARDS)
def test_panels_fill_the_rows_of_the_grid_and_do_not_overlap(name: str) -> None:
    places = [panel["gridPos"] for panel in DOCUMENTS[name]["panels"]]
    assert not any(_overlap(*pair) for pair in combinations(places, 2))
    for row in {place["y"] for place in places}:
        beside = [place for place in places if place["y"] == row]
        assert sum(place["w"] for place in beside) == 24, row
        assert len({place["h"] for place in beside}) == 1, row


def _overlap(left: dict[str, int], right: dict[str, int]) -> bool:
    beside = left["x"] + left["w"] <= right["x"] or right["x"] + right["w"] <= left["x"]
    above = left["y"] + left["h"] <= right["y"] or right["y"] + right["h"] <= left["y"]
    return not (beside or above)


@pytest.mark.parametrize("name", BOARDS)
def test_a_board_begins_with_its_question_its_alerts_and_the_next_boards(name: str) -> None:
    board, document = BOARDS[name], DOCUMENTS[name]
    guide = document["panels"][0]["options"]["content"]
    assert board.question.endswith("?")
    assert document["description"] == board.question
    assert guide.startswith(f"### {board.question}\n")
    for alert in board.alerts:
        assert f"[{alert}]({RUNBOOKS}/{alert}.md)" in guide
    for other in board.next:
        assert f"[{BOARDS[other].title}](d/railfab-{other})" in guide
    assert [(link["title"], link["url"]) for link in document["links"]] == [
        (BOARDS[other].title, f"/d/railfab-{other}") for other in board.next
    ]
    assert all(link["includeVars"] and link["keepTime"] for link in document["links"])


def test_every_alert_has_a_board_and_each_board_names_existing_ones() -> None:
    """The first board lists all of them."""
    named = {alert for board in BOARDS.values() for alert in board.alerts}
    assert named <= {alert.alert for alert in ALERTS}
    missing = {alert.alert for alert in ALERTS} - named
    assert missing <= {"FabricBfdDown", "FabricBgpFlapping", "FabricDaemonDown"}
    assert BOARDS["fabric"].alerts == ()


def test_every_board_is_reached_from_the_first_one() -> None:
    reached, ahead = set(), ["fabric"]
    while ahead:
        name = ahead.pop()
        if name not in reached:
            reached.add(name)
            ahead += BOARDS[name].next
    assert reached == BOARDS.keys()


def test_panels_have_a_title_a_description_and_a_unit() -> None:
    for panel in PANELS:
        assert panel["title"]
        assert panel["description"].endswith("."), panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]


def test_panels_need_no_plugin_and_use_the_selected_datasource() -> None:
    for panel in PANELS:
        assert panel["type"] in CORE_PANELS
        for asked in (panel, *panel["targets"]):
            assert asked["datasource"] == {"type": "prometheus", "uid": "${datasource}"}, panel["title"]


@pytest.mark.parametrize("name", BOARDS)
def test_the_datasource_fabric_pod_rail_and_switch_are_variables_in_a_chain(name: str) -> None:
    datasource, *chosen = DOCUMENTS[name]["templating"]["list"]
    assert (datasource["name"], datasource["type"], datasource["query"]) == ("datasource", "datasource", "prometheus")
    names = [variable["name"] for variable in chosen]
    assert names[:4] == ["fabric", "pod", "rail", "switch"]
    assert chosen[0]["allValue"] == ".*", "targets without a fabric are shown too"
    for place, variable in enumerate(chosen):
        used = set(VARIABLE.findall(variable["query"]))
        assert used <= set(names[:place]), "a variable uses those before it"
        assert used or place == 0, "and is one of the chain"
    assert set(VARIABLE.findall(chosen[3]["query"])) == {"fabric", "pod", "rail"}
    assert "allValue" not in chosen[3], "all switches are those of the chosen pods and rails"


@pytest.mark.parametrize("name", BOARDS)
def test_every_variable_is_used(name: str) -> None:
    document = DOCUMENTS[name]
    chosen = {variable["name"] for variable in document["templating"]["list"][1:]}
    targets = [target["expr"] for panel in document["panels"] for target in panel.get("targets", ())]
    queries = [variable["query"] for variable in document["templating"]["list"][1:]]
    used = {found for text in (*targets, *queries) for found in VARIABLE.findall(text)}
    assert used == chosen


@pytest.mark.parametrize("name", BOARDS)
def test_changes_maintenance_and_critical_alerts_are_marked_on_every_board(name: str) -> None:
    changes, maintenance, critical = DOCUMENTS[name]["annotations"]["list"]
    assert changes["target"] == {"type": "tags", "tags": ["railfab"], "limit": 100, "matchAny": False}
    assert "fabric_maintenance_info" in maintenance["expr"]
    assert 'severity="critical"' in critical["expr"]


def test_a_series_of_a_port_leads_to_the_board_of_its_switch() -> None:
    (busiest,) = (panel for panel in DOCUMENTS["fabric"]["panels"] if panel["title"] == "Busiest ports")
    (link,) = busiest["fieldConfig"]["defaults"]["links"]
    assert link["url"].startswith("/d/railfab-port?")
    assert "var-switch=${__field.labels.device}&var-port=${__field.labels.interface}" in link["url"]


def test_an_alert_leads_to_its_runbook_where_the_pages_have_a_url() -> None:
    def links(document: dict) -> list[str]:
        (table,) = (panel for panel in document["panels"] if panel["title"] == "Active alerts")
        cells = [each for each in table["fieldConfig"]["overrides"] if each["matcher"]["options"] == "Alert"]
        return [link["url"] for cell in cells for each in cell["properties"] for link in each["value"]]

    assert links(DOCUMENTS["rail"]) == [f"{RUNBOOKS}/${{__value.text}}.md"]
    assert links(board_document(BOARDS["rail"])) == ["/alerting/list?search=${__value.text}"]


def test_columns_of_tables_have_headings_of_plain_words() -> None:
    """No identifier of the code as a heading: words with a capital first letter, or abbreviations."""
    changes = (change for panel in PANELS for change in panel.get("transformations", ()))
    for heading in (heading for change in changes for heading in change["options"].get("renameByName", {}).values()):
        assert all(word.isupper() or word[1:].islower() or len(word) == 1 for word in heading.split()), heading
