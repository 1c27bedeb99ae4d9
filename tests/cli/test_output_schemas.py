"""The documents of `--output json` obey the schemas in docs/schemas: those of commands that need no switch.

Tests of the other commands read their documents with `tests.docs.schemas.conforming` too.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from tests.docs.schemas import FOLDER, conforming, schema_text
from typer.testing import CliRunner

from railfab.cli import app
from railfab.cli.records import RECORDS

ROOT = Path(__file__).resolve().parents[2]
FABRICS = ROOT / "inventory" / "fabrics"
FRR_POD = ROOT / "labs" / "frr-pod"
GNMIC = ROOT / "docs" / "examples" / "gnmic.yml"


def printed(*words: object, code: int = 0) -> str:
    done = CliRunner().invoke(app, [*map(str, words), "--output", "json"])
    assert done.exit_code == code, done.output
    return done.stdout


@pytest.mark.parametrize("name", RECORDS)
def test_a_published_schema_is_that_of_its_record(name: str) -> None:
    assert (FOLDER / f"{name}.json").read_text() == schema_text(name), "run python -m tests.docs.schemas"


def test_every_published_schema_is_of_a_command() -> None:
    assert {path.stem for path in FOLDER.glob("*.json")} == RECORDS.keys()


def test_the_page_lists_every_schema() -> None:
    page = (FOLDER.parent / "output.md").read_text()
    assert {name for name in RECORDS if f"(schemas/{name}.json)" not in page} == set()


def objects(schema: Any) -> list[dict[str, Any]]:
    """Every schema of an object with named keys."""
    if isinstance(schema, list):
        return [found for part in schema for found in objects(part)]
    if not isinstance(schema, dict):
        return []
    here = [schema] if isinstance(schema.get("properties"), dict) else []
    return here + [found for part in schema.values() for found in objects(part)]


@pytest.mark.parametrize("name", RECORDS)
def test_a_schema_is_complete(name: str) -> None:
    """A key that a command gains or loses breaks the schema, so that no program finds out by itself."""
    schema = json.loads((FOLDER / f"{name}.json").read_text())
    Draft202012Validator.check_schema(schema)
    assert objects(schema)
    for part in objects(schema):
        assert part["additionalProperties"] is False
        assert set(part["required"]) == part["properties"].keys()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("plan", ("plan", FABRICS / "cluster.yml")),
        ("plan", ("plan", FABRICS / "dual-vlan.yml")),
        ("audit", ("audit", FABRICS / "pod64.yml")),
        ("explain", ("explain", FABRICS / "pod64.yml")),
        ("compare", ("compare", FRR_POD / "intent.yml", "--with", FRR_POD / "frr-pod.clab.yml")),
        ("new", ("new", "pod64")),
        ("new-list", ("new",)),
        ("import-gnmic", ("import", "gnmic", GNMIC)),
    ],
)
def test_a_command_prints_what_its_schema_says(name: str, words: tuple[object, ...]) -> None:
    conforming(name, printed(*words))


def test_numbers_of_a_plan_are_numbers() -> None:
    plan = conforming("plan", printed("plan", FABRICS / "pod64.yml"))
    assert plan["gpu_count"][0]["parameters_billion"] == 8
    assert {type(row["lost_percent"]) for row in plan["failure_domains"]} == {float}
    assert {row["length_m"] for row in plan["bill_of_materials"] if row["item"] == "cable"} == {5, 40}


def test_commands_that_write_files_print_what_their_schemas_say(tmp_path: Path) -> None:
    conforming("render", printed("render", FABRICS / "pod64.yml", "-o", tmp_path / "configs"))
    conforming("lab-render", printed("lab", "render", FRR_POD / "intent.yml", "-o", tmp_path / "lab"))
    conforming("dashboards-build", printed("dashboards", "build", "-o", tmp_path / "boards"))


QOS, PROFILES = "srl_nokia-qos:qos", "queue-management-profile"


def test_an_audit_has_each_line_of_a_hazard(tmp_path: Path) -> None:
    printed("render", FABRICS / "pod64.yml", "-o", tmp_path)
    path = next(tmp_path.glob("pod1-seg1-leaf1.*"))
    tree = json.loads(path.read_text())
    for profile in tree[QOS]["buffer-management"][PROFILES]:
        profile["weight-factor"] = 15
    path.write_text(json.dumps(tree))
    document = conforming("audit", printed("audit", FABRICS / "pod64.yml", "--configs", tmp_path, code=1))
    assert document["not_checked"] == ["cabling"]
    (finding,) = document["findings"]
    assert [PROFILES in line for line in (finding["where"], *finding["more"])] == [True, True]
    assert " more)" not in finding["problem"]
    assert (finding["code"], document["accepted"]) == ("ecn-average", [])


def test_an_empty_state_directory_obeys_the_schemas(tmp_path: Path) -> None:
    (tmp_path / "lab").mkdir()
    conforming("lab-status", printed("lab", "status", FRR_POD / "intent.yml", "--state", tmp_path / "lab", code=1))
    conforming("lab-down", printed("lab", "down", FRR_POD / "intent.yml", "--state", tmp_path / "lab"))
    conforming("twin-status", printed("twin", "status", "--state", tmp_path / "lab", code=1))
    deploys = printed("history", FABRICS / "pod64.yml", "--state", tmp_path / "lab")
    assert conforming("history", deploys) == []
