"""`railfab new`: starters that load, plan and explain, and are the intents of the inventory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.cli.test_command_line import railfab, refused
from tests.docs.schemas import conforming

from railfab.intent import load_intent
from railfab.intent.job_starters import starter_job, starter_jobs
from railfab.intent.load import load_job_file
from railfab.intent.starters import designs, starter
from railfab.topology import Node, Role, Topology
from railfab.workload import estimate
from railfab.workload.shapes import presets

ROOT = Path(__file__).parents[2]
FABRICS = ROOT / "inventory" / "fabrics"
SAME = "write them anew: cp inventory/fabrics/*.yml src/railfab/intent/starters/"


def test_the_starters_are_the_intents_of_the_inventory() -> None:
    assert {name: starter(name) for name in designs()} == {
        path.stem: path.read_text() for path in FABRICS.glob("*.yml")
    }, SAME


@pytest.mark.parametrize("design", designs())
def test_a_starter_is_the_intent_of_the_inventory_under_another_name(design: str, tmp_path: Path) -> None:
    """That it plans without a finding, tests/topology/test_design_goldens.py holds."""
    path = tmp_path / "fabric.yml"
    path.write_text(starter(design, fabric="mine"))
    assert load_intent(path).fabric == "mine"
    assert load_intent(path) == load_intent(FABRICS / f"{design}.yml").model_copy(update={"fabric": "mine"})


@pytest.mark.parametrize("design", [name for name in designs() if name != "pod64"])
def test_a_starter_names_its_schema_says_what_it_is_and_comments_its_keys(design: str) -> None:
    lines = starter(design).splitlines()
    assert lines[0].startswith("# yaml-language-server: $schema=")
    assert lines[1].startswith("# ")
    assert sum("# " in line for line in lines[2:]) >= 5
    assert max(map(len, lines)) <= 120


@pytest.mark.parametrize("design", ["single-switch", "dual-esi", "cluster"])
def test_new_then_plan_then_explain(design: str, tmp_path: Path) -> None:
    new = railfab("new", design, "-o", "mine.yml", "--fabric", "mine", cwd=tmp_path)
    assert (new.returncode, new.stdout) == (0, "")
    assert new.stderr == (
        "wrote mine.yml; what follows from it: railfab explain mine.yml\n"
        "for editors to complete its keys: railfab schema > intent.schema.json\n"
    )
    plan, explain = (railfab(command, "mine.yml", cwd=tmp_path) for command in ("plan", "explain"))
    assert (plan.returncode, explain.returncode) == (0, 0), plan.stderr + explain.stderr
    assert plan.stdout.startswith("mine: ")
    assert "mine" in explain.stdout


@pytest.mark.parametrize("name", ["42", "1e3", "on", "null", "0x1f", "2026-11-21", "a-name"])
def test_any_name_of_a_fabric_is_read_back_as_it_was_given(name: str, tmp_path: Path) -> None:
    path = tmp_path / "fabric.yml"
    path.write_text(starter("routed", fabric=name))
    assert load_intent(path).fabric == name


def test_a_starter_on_stdout_is_what_a_file_gets(tmp_path: Path) -> None:
    shown = railfab("new", "pod64", cwd=tmp_path)
    railfab("new", "pod64", "-o", "pod.yml", cwd=tmp_path)
    assert shown.stdout == (tmp_path / "pod.yml").read_text()
    assert shown.stdout == starter("pod64", schema="intent.schema.json")


def test_editors_are_pointed_to_the_schema_that_is_there(tmp_path: Path) -> None:
    folder = tmp_path / "inventory" / "fabrics"
    folder.mkdir(parents=True)
    (tmp_path / "inventory" / "intent.schema.json").write_text("{}")
    done = railfab("new", "routed", "-o", "inventory/fabrics/r.yml", cwd=tmp_path)
    assert (folder / "r.yml").read_text() == (FABRICS / "routed.yml").read_text()
    assert "schema" not in done.stderr


def test_the_list_says_when_to_choose_which(tmp_path: Path) -> None:
    alone, listed = railfab("new", cwd=tmp_path), railfab("new", "--list", cwd=tmp_path)
    assert (alone.returncode, alone.stdout) == (0, listed.stdout)
    for name, when in designs().items():
        assert f"{name} " in alone.stdout
        assert when in alone.stdout
    document = json.loads(railfab("new", "--output", "json", cwd=tmp_path).stdout)
    assert {entry["design"]: entry["when"] for entry in document} == dict(designs())


def test_new_as_json_says_what_it_wrote_and_has_the_intent(tmp_path: Path) -> None:
    shown = json.loads(railfab("new", "routed", "--fabric", "mine", "--output", "json", cwd=tmp_path).stdout)
    text = starter("routed", fabric="mine", schema="intent.schema.json")
    assert shown == {
        "design": "routed", "fabric": "mine", "file": None, "schema": "intent.schema.json", "intent": text
    }  # fmt: skip
    written = railfab("new", "routed", "--output", "json", "-o", "r.yml", cwd=tmp_path)
    assert written.stderr == ""
    found = conforming("new", written.stdout)
    assert (found["fabric"], found["file"], found["intent"]) == ("routed", "r.yml", (tmp_path / "r.yml").read_text())


def test_what_new_refuses_is_one_line(tmp_path: Path) -> None:
    def said(*arguments: str) -> str:
        return refused(railfab("new", *arguments, cwd=tmp_path)).removeprefix("railfab: ")

    assert said("pod46") == "design 'pod46': unknown design. Did you mean pod64? `railfab new` lists all designs."
    assert said("nothing-like-it") == "design 'nothing-like-it': unknown design. `railfab new` lists all designs."
    assert said("-o", "x.yml") == "new: no design is named. `railfab new` lists them."
    assert said("pod64", "--fabric", "Pod 64") == (
        "--fabric: 'Pod 64' is no name of a fabric. Use lower-case letters, digits and inner hyphens, up to 32."
    )
    assert said("pod64", "-o", "none/x.yml") == (
        "none/x.yml: cannot be written (no such file or directory). Choose another place with -o."
    )


def test_a_file_that_is_there_is_never_overwritten(tmp_path: Path) -> None:
    (tmp_path / "mine.yml").write_text("work of a week\n")
    done = railfab("new", "pod64", "-o", "mine.yml", cwd=tmp_path)
    assert refused(done) == "railfab: mine.yml: is there already. Name another file with -o, or remove this one."
    assert (tmp_path / "mine.yml").read_text() == "work of a week\n"


@pytest.mark.parametrize("name", starter_jobs())
def test_a_starter_job_runs_on_a_large_design_and_comments_its_keys(name: str, tmp_path: Path) -> None:
    """Of 2,048 GPUs with 80 GB; what the hosts are cabled to does not matter for an estimate."""
    path = tmp_path / "job.yml"
    path.write_text(starter_job(name))
    hosts = (Node(name=f"host{index}", role=Role.HOST, pod=1, segment=1, index=index) for index in range(1, 257))
    job, _ = load_job_file(path)
    if job.model is not None:
        result = estimate(job, load_intent(FABRICS / "gpu1024.yml"), Topology(fabric="f", nodes=tuple(hosts), links=()))
        assert (result.gpus, job.job, job.model) == (2048, name, name)
    lines = starter_job(name).splitlines()
    assert all("#" in line for line in lines if line.startswith("  ") and not line.rstrip().endswith("}"))
    assert max(map(len, lines)) <= 130


def test_there_is_a_starter_job_of_each_model_and_one_of_phases() -> None:
    assert set(starter_jobs()) == {"phases", *presets()}


def test_new_writes_a_job_that_simulate_takes(tmp_path: Path) -> None:
    new = railfab("new", "--job", "llama3-70b", "-o", "job.yml", cwd=tmp_path)
    assert (new.returncode, new.stdout) == (0, "")
    assert new.stderr == "wrote job.yml; what it takes: railfab simulate FABRIC.yml --job job.yml\n"
    assert railfab("new", "--job", "llama3-70b", cwd=tmp_path).stdout == (tmp_path / "job.yml").read_text()
    done = railfab("simulate", str(FABRICS / "pod64.yml"), "--job", "job.yml", cwd=tmp_path)
    assert done.stdout.startswith("llama3-70b on pod64: 64 GPUs"), done.stderr


def test_new_refuses_an_unknown_job_and_a_design_beside_it(tmp_path: Path) -> None:
    known = "phases, gpt3-175b, llama3-8b, llama3-70b, llama3-405b, mixtral-8x7b, deepseek-v3"
    done = railfab("new", "--job", "bert", cwd=tmp_path)
    assert refused(done) == f"railfab: --job 'bert': no starter has this name. Use one of {known}."
    assert railfab("new", "pod64", "--job", "phases", cwd=tmp_path).returncode == 2
