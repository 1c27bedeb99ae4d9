"""`railfab lab`: output and exit codes; running labs are tested in tests/integration."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.docs.schemas import conforming
from tests.lab.fabrics import FRR_POD
from typer.testing import CliRunner

from railfab.cli.lab import lab_app
from railfab.endpoints import Endpoints, save_endpoints, state_file
from railfab.errors import IntentError, LabError
from railfab.lab.netns import doctor

RUN = CliRunner()


def test_doctor_prints_one_line_for_each_requirement_and_fails_for_fatal_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "FRR", tmp_path)
    done = RUN.invoke(lab_app, ["doctor"])
    lines = done.output.splitlines()
    assert f"frr: no zebra, staticd, bgpd, bfdd in {tmp_path}. apt-get install frr." in lines
    assert all(": " in line for line in lines)
    assert done.exit_code == 2


def test_doctor_prints_the_same_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "FRR", tmp_path)
    done = RUN.invoke(lab_app, ["doctor", str(FRR_POD), "--state", str(tmp_path), "--output", "json"])
    findings = {finding["subject"]: finding for finding in conforming("lab-doctor", done.stdout)}
    assert findings["frr"]["remedy"] == "apt-get install frr"
    assert not findings["frr"]["ok"]
    assert findings["platforms"]["ok"]


def test_status_of_a_lab_that_is_down(tmp_path: Path) -> None:
    done = RUN.invoke(lab_app, ["status", str(FRR_POD), "--state", str(tmp_path)])
    assert (done.stdout, done.exit_code) == ("lab frr-pod is down\n", 1)
    done = RUN.invoke(lab_app, ["status", str(FRR_POD), "--state", str(tmp_path), "--output", "json"])
    assert json.loads(done.stdout) == {"fabric": "frr-pod", "backend": "netns", "nodes": [], "state": "down"}


def test_a_missing_intent_is_a_one_line_error(tmp_path: Path) -> None:
    done = RUN.invoke(lab_app, ["up", str(tmp_path / "none.yml"), "--state", str(tmp_path)])
    assert isinstance(done.exception, IntentError)
    assert str(done.exception) == f"{tmp_path / 'none.yml'}: no such file. Check the path."


def test_the_backend_of_a_running_lab_is_the_default(tmp_path: Path) -> None:
    save_endpoints(state_file(tmp_path, "frr-pod", "lab"), Endpoints(fabric="frr-pod", backend="podman", nodes=()))
    done = RUN.invoke(lab_app, ["status", str(FRR_POD), "--state", str(tmp_path)])
    assert isinstance(done.exception, LabError)
    assert str(done.exception) == "backend 'podman': does not exist. Use one of netns, containerlab."


def test_an_unknown_backend_is_refused_by_the_command_line(tmp_path: Path) -> None:
    done = RUN.invoke(lab_app, ["status", str(FRR_POD), "--state", str(tmp_path), "--backend", "podman"])
    assert done.exit_code == 2
