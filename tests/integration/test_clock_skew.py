"""Deploys from a machine whose clock is an hour before or behind those of the switches, by Debian's faketime."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests import commands
from tests.docs.schemas import conforming
from tests.integration.day_two import WRONG_MTU
from tests.twin.small_fabric import INTENT, LEAF, SPINE

from railfab.fabric import design
from railfab.twin import Twin

pytestmark = pytest.mark.faketime
HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The intents, and a twin whose clock is right."""
    folder = tmp_path_factory.mktemp("skew")
    (folder / "intent.yml").write_text(INTENT)
    (folder / "new.yml").write_text(WRONG_MTU)
    with Twin(design(folder / "intent.yml"), state=folder, base_port=0, configured=True):
        yield folder


def elsewhere(folder: Path, skew: timedelta, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command on a machine with another clock."""
    command = ["faketime", "-f", f"{skew.total_seconds():+.0f}s", sys.executable, "-m", "railfab", *arguments]
    environment = {**os.environ, "COLUMNS": "80"}
    return subprocess.run(
        [*command, "--on", "twin", "--state", str(folder)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize("skew", [HOUR, -HOUR], ids=["before", "behind"])
def test_a_deploy_and_its_rollback_work_with_an_hour_between_the_clocks(folder: Path, skew: timedelta) -> None:
    done = elsewhere(folder, skew, "deploy", "new.yml", "--limit", f"{LEAF},{SPINE}", "--waves", "off", "--yes")
    assert done.returncode == 0, done.stderr
    shown = commands.run("history", "new.yml", "--state", folder, "--output", "json", cwd=folder)
    newest = conforming("history", shown.stdout)[0]
    assert (newest["finished"], newest["running"], newest["switches"]) == (True, False, [LEAF, SPINE])
    began, ended = (datetime.fromisoformat(newest[name]) for name in ("began", "ended"))
    assert began <= ended
    assert abs(began - datetime.now(UTC) - skew) < timedelta(minutes=10)
    back = commands.run("rollback", "intent.yml", "--on", "twin", "--state", folder, "--yes", cwd=folder)
    assert back.returncode == 0, back.stderr
    drift = elsewhere(folder, skew, "drift", "intent.yml")
    assert drift.returncode == 0, drift.stdout
