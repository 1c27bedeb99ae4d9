"""Edits of the configuration of an FRR switch: what breaks the fabric is found, what does not is a note."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from tests import commands
from tests.fabric.frr_edits import HARMFUL, HARMLESS, REFUSED, Edit
from tests.findings import reasons, wrong
from tests.platforms.frr.grammar import refused_lines

from railfab.fabric import Design, design
from railfab.fabric.audit import configuration_findings
from railfab.findings import Severity

LEAF = "pod1-seg1-leaf1"


@pytest.fixture(scope="module")
def fabric(repository: Path) -> Design:
    return design(repository / "labs" / "frr-pod" / "intent.yml")


def edited(fabric: Design, edit: Edit) -> str:
    text = fabric.texts[LEAF]
    assert edit.old in text, edit.name
    return text.replace(edit.old, edit.new)


@pytest.mark.parametrize("edit", HARMFUL, ids=lambda edit: edit.name)
def test_an_edit_that_harms_is_an_error_or_a_warning_by_name(fabric: Design, edit: Edit) -> None:
    found = configuration_findings(fabric, {LEAF: edited(fabric, edit)})
    assert edit.expected in reasons(wrong(found))
    assert found[0].severity is not Severity.NOTE
    assert {one.switch for one in found} == {LEAF} | {one.switch for one in found if "subnet" in one.code}


@pytest.mark.parametrize("edit", HARMLESS, ids=lambda edit: edit.name)
def test_an_edit_that_does_not_harm_is_a_note_or_nothing(fabric: Design, edit: Edit) -> None:
    text = edited(fabric, edit)
    assert text != fabric.texts[LEAF]
    assert [one.line for one in wrong(configuration_findings(fabric, {LEAF: text}))] == []


@pytest.mark.lab
def test_frr_takes_every_edit_but_those_that_it_refuses(fabric: Design, tmp_path: Path) -> None:
    """All of them behind each other in one file: vtysh names the lines that it refuses."""
    lines: list[str] = []
    names: list[str] = []
    for edit in (*HARMFUL, *HARMLESS):
        lines += edited(fabric, edit).removesuffix("end\n").splitlines()
        names += [edit.name] * (len(lines) - len(names))
    path = tmp_path / "frr.conf"
    path.write_text("\n".join(lines) + "\n")
    refused = {names[number - 1] for number in refused_lines(path)}
    assert refused == {edit.name for edit in HARMFUL if edit.expected in REFUSED}


def audit(folder: Path, repository: Path) -> subprocess.CompletedProcess[str]:
    intent = repository / "labs" / "frr-pod" / "intent.yml"
    environment = {**os.environ, "COLUMNS": "250", "NO_COLOR": "1"}
    return commands.run("audit", intent, "--configs", folder, environment=environment)


def test_audit_passes_with_notes_alone_and_fails_with_one_hazard(
    fabric: Design, repository: Path, tmp_path: Path
) -> None:
    """As a user would: a folder with one file for each switch."""
    for name, text in fabric.texts.items():
        (tmp_path / f"{name}.conf").write_text(text)
    path = tmp_path / f"{LEAF}.conf"
    for edit in (edit for edit in HARMLESS if edit.old in path.read_text()):
        path.write_text(path.read_text().replace(edit.old, edit.new))
    passed = audit(tmp_path, repository)
    assert passed.returncode == 0, passed.stdout
    assert passed.stdout.startswith("note ")
    blackhole = next(edit for edit in HARMFUL if edit.expected == "blackhole-route")
    path.write_text(edited(fabric, blackhole))
    failed = audit(tmp_path, repository)
    assert failed.returncode == 1
    assert failed.stdout.partition("\n")[0].endswith(" Deploy the intent. [blackhole-route]")
    assert failed.stdout.startswith(
        f"error {LEAF}: ip route 10.17.0.0/16 blackhole: traffic to these addresses of the fabric is dropped here "
    )
