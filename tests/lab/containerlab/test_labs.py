"""The committed labs equal the generated ones, and the command that writes them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from tests.lab.fabrics import FRR_POD, lab_plan, small_intent
from typer.testing import CliRunner

from railfab.cli import app
from railfab.fabric import design
from railfab.lab.containerlab import check_file, lab_files, load_settings

LABS = FRR_POD.parents[1]
INTENTS = sorted(LABS.glob("*/intent.yml"))


@pytest.mark.parametrize("intent", INTENTS, ids=lambda path: path.parent.name)
class TestCommitted:
    def test_the_files_are_those_that_the_generator_writes(self, intent: Path) -> None:
        plan = replace(lab_plan(intent, Path("state")), configurations=design(intent).configurations())
        expected = lab_files(plan, load_settings(intent.parent)).all()
        there = {str(path.relative_to(intent.parent)) for path in intent.parent.glob("configs/*/*")}
        assert there == expected.keys() - {f"{plan.place.fabric}.clab.yml"}
        for name, content in expected.items():
            assert (intent.parent / name).read_text() == content, f"run: railfab lab render {intent}"

    def test_the_topology_has_no_errors(self, intent: Path) -> None:
        assert check_file(next(intent.parent.glob("*.clab.yml"))) == []

    def test_the_readme_contains_the_command(self, intent: Path) -> None:
        assert f"railfab lab up labs/{intent.parent.name}/intent.yml" in (intent.parent / "README.md").read_text()


def test_there_is_a_lab_of_each_platform() -> None:
    assert [path.parent.name for path in INTENTS] == ["frr-evpn", "frr-pod", "srl-pod"]


class TestCommand:
    def test_it_writes_beside_the_intent_and_prints_the_next_command(self, tmp_path: Path) -> None:
        done = CliRunner().invoke(app, ["lab", "render", str(small_intent(tmp_path))])
        assert done.exit_code == 0
        commands = " ".join(done.stderr.replace("\\\n", "").split())  # as a shell reads it
        assert commands.endswith(f"next: sudo containerlab deploy -t {tmp_path / 'small.clab.yml'}")
        assert check_file(tmp_path / "small.clab.yml") == []

    def test_it_writes_elsewhere_and_lists_the_files(self, tmp_path: Path) -> None:
        out = tmp_path / "out"
        command = ["lab", "render", str(small_intent(tmp_path)), "-o", str(out), "--output", "json"]
        answer = json.loads(CliRunner().invoke(app, command).stdout)
        assert answer["topology"] == str(out / "small.clab.yml")
        assert sorted(answer["files"]) == sorted(str(path) for path in out.rglob("*") if path.is_file())

    def test_empty_switches_boot_without_sessions(self, tmp_path: Path) -> None:
        out = tmp_path / "out"
        CliRunner().invoke(app, ["lab", "render", str(small_intent(tmp_path)), "-o", str(out), "--empty"])
        text = (out / "configs/pod1-spine1/frr.conf").read_text()
        assert "hostname pod1-spine1" in text
        assert "router bgp" not in text
