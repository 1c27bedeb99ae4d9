"""Each wave of a roll-out is a line of the log, and one annotation of the Grafana that the intent names."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from tests.dashboards.grafana_server import TOKEN, Grafana, serve
from tests.intent.intents import SMALL

from railfab.app.wave_events import WaveEvents, wave_events
from railfab.errors import RailfabError
from railfab.fabric import design

DEPLOY = "20261122T093012.345Z-4f2a"
BEGAN = datetime(2026, 11, 22, 9, 30, tzinfo=UTC)
BEGAN_MS = 1_795_339_800_000
LEAVES = ("pod1-leaf2", "pod1-leaf1")


@pytest.fixture
def grafana() -> Iterator[Grafana]:
    memory = Grafana()
    with serve(memory):
        yield memory
    assert memory.problems == []


def events(folder: Path, url: str | None, deploy: str = DEPLOY) -> WaveEvents:
    """The events of an intent, by a clock that goes on by a minute each time."""
    (folder / "token").write_text(TOKEN)
    setting = f'change: {{grafana: {{url: "{url}", token_file: token}}}}\n' if url else ""
    (folder / "small.yml").write_text(SMALL + setting)
    told = wave_events(design(folder / "small.yml"), deploy, {})
    minutes = count()
    told.clock = lambda: BEGAN + timedelta(minutes=next(minutes))
    return told


def test_a_wave_is_one_annotation_also_where_it_ends_again(
    grafana: Grafana, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "railfab.app.wave_events")
    told = events(tmp_path, grafana.url)
    told.begins(1)
    told.ends(1, LEAVES, "wave 1 fails the gate state")
    annotation = {
        "text": f"small: wave 1 of deploy {DEPLOY} (pod1-leaf[1-2]), stopped: wave 1 fails the gate state",
        "tags": ["railfab", "fabric:small", f"deploy:{DEPLOY}", "wave:1"],
        "time": BEGAN_MS,
        "timeEnd": BEGAN_MS + 60_000,
    }
    assert [{key: each[key] for key in annotation} for each in grafana.annotations] == [annotation]
    resumed = events(tmp_path, grafana.url)
    for number, switches in ((1, LEAVES), (2, LEAVES[:1]), (1, LEAVES)):
        resumed.begins(number)
        resumed.ends(number, switches)
    text = f"small: wave 1 of deploy {DEPLOY} (pod1-leaf[1-2]), done"
    first, second = grafana.annotations
    assert {key: first[key] for key in annotation} == annotation | {"text": text, "timeEnd": BEGAN_MS + 300_000}
    assert (second["text"], second["tags"][3]) == (f"small: wave 2 of deploy {DEPLOY} (pod1-leaf2), done", "wave:2")
    events(tmp_path, grafana.url, "another").ends(1, LEAVES)
    assert len(grafana.annotations) == 3
    assert (
        caplog.messages[0] == f"small: deploy {DEPLOY}, wave 1 (pod1-leaf[1-2]): stopped: wave 1 fails the gate state"
    )


def test_a_grafana_that_fails_stops_nothing(grafana: Grafana, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    grafana.page = (502, "<html>")
    events(tmp_path, grafana.url).ends(1, LEAVES)
    grafana.page = (200, "<html>")
    events(tmp_path, grafana.url).ends(1, LEAVES)
    (line, page), begin = caplog.messages, "small: wave 1 has no annotation: Grafana "
    assert line.startswith(f"{begin}{grafana.url}: it responded 502")
    assert page.startswith(f"{begin}{grafana.url}: the response is not from Grafana's API")


def test_without_a_grafana_there_is_the_log_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "railfab.app.wave_events")
    events(tmp_path, None).ends(3, LEAVES[:1])
    assert caplog.messages == [f"small: deploy {DEPLOY}, wave 3 (pod1-leaf2): done"]


def test_a_login_that_is_missing_is_told_before_the_roll_out(tmp_path: Path) -> None:
    (tmp_path / "small.yml").write_text(f'{SMALL}change: {{grafana: {{url: "https://grafana.example"}}}}\n')
    with pytest.raises(RailfabError, match=r"Grafana: no login is set\. Set GRAFANA_TOKEN, or GRAFANA_USERNAME and "):
        wave_events(design(tmp_path / "small.yml"), DEPLOY, {})
