"""Past deploys are marked on the boards of Grafana, once."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path

import pytest
from tests.dashboards.grafana_server import TOKEN, Grafana, serve
from tests.deploy.test_journal import POD64, deployed
from typer.testing import CliRunner

from railfab.cli.dashboards import app
from railfab.deploy import Journal


def test_past_deploys_are_pushed_as_annotations_and_a_second_push_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAFANA_TOKEN", TOKEN)
    journal = Journal(tmp_path, "pod64")
    done = deployed(journal, {"pod1-spine1": "a", "pod1-spine2": "b"})
    with journal.open("drain") as entry:
        entry.keep("pod1-spine1", "a")
        killed = entry.change.deploy  # has no end
    grafana = Grafana()
    arguments = ["push", "--deploys", str(POD64), "--state", str(tmp_path), "--url"]
    with serve(grafana):
        first, second = (CliRunner().invoke(app, [*arguments, grafana.url]) for _ in range(2))
    assert (first.exit_code, second.exit_code) == (0, 0), first.output
    assert not re.search(r"^(folder|dashboard|annotation) .* changed *$", second.stdout, re.MULTILINE)
    assert killed not in str(grafana.annotations)
    (mark,) = grafana.annotations
    (record,) = (record for record in journal.deploys() if record.deploy == done)
    assert mark["tags"] == ["railfab", "fabric:pod64", f"deploy:{done}", "verb:deploy"]
    assert mark["text"] == f"pod64: deploy {done} by {record.user}, 2 changed"
    assert mark["time"] == datetime.fromisoformat(record.began).timestamp() * 1000
    assert grafana.problems == []


def test_a_state_folder_without_an_intent_is_refused() -> None:
    refused = CliRunner().invoke(app, ["push", "--url", "http://127.0.0.1:1", "--state", "/tmp"])
    assert refused.exit_code == 2
    assert "Add --deploys, or leave out --state." in " ".join(refused.output.split())
