"""`railfab up` waits for a twin that starts late on a busy machine, says so, and blames no switch."""

from __future__ import annotations

import re
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from railfab.app import up
from railfab.app.children import Children
from railfab.app.sampling import Sampling
from railfab.errors import LabError
from railfab.fabric import design

INTENT = Path(__file__).parents[2] / "inventory" / "fabrics" / "pod64.yml"


@pytest.fixture
def connect(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, Callable[[str], object]], None]:
    """Wait for a twin that is this program; it usually starts within 0.1 s."""
    monkeypatch.setattr(up, "STARTS_WITHIN_S", 0.1)
    monkeypatch.setattr(up, "STARTS_WITHIN_S_PER_SWITCH", 0.0)

    def wait(program: str, report: Callable[[str], object], stop_requested: threading.Event) -> None:
        options = up.Options(jobs=(), state=tmp_path, sampling=Sampling(1.0, 8, 1))
        with Children(stop_requested) as children:
            twin = children.start("twin", [sys.executable, "-c", program], tmp_path / "twin.log")
            up._Start(design(INTENT), options, report, stop_requested, began_s=0.0)._connect(twin)

    return wait


def test_a_wait_longer_than_usual_is_reported_again_and_again_until_a_stop(connect) -> None:
    reports: list[str] = []
    stop_requested = threading.Event()

    def report(text: str) -> None:
        reports.append(text)
        if len(reports) == 3:
            stop_requested.set()

    with pytest.raises(up._StopRequested):
        connect("import time; time.sleep(60)", report, stop_requested)
    said = re.compile(r"no answer of the twin for \d+ s, as on a busy machine; see .*twin\.log")
    assert all(map(said.fullmatch, reports))


def test_a_twin_that_ends_before_it_answers_ends_the_wait_with_its_reason(connect) -> None:
    with pytest.raises(LabError, match=r"twin: ended: no memory\. See .*twin\.log"):
        connect("print('no memory')", print, threading.Event())
