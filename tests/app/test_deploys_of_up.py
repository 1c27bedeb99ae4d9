"""`railfab up` deploys a switch that a busy machine makes answer late in a later attempt."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.faults.mistakes import FOLDER

from railfab.app import up
from railfab.app.sampling import Sampling
from railfab.errors import LabError
from railfab.fabric import Design, design
from railfab.twin import Twin

SPINE = "pod1-spine1"
pytestmark = pytest.mark.timeout(300)


def deploy(fabric: Design, state: Path, report: Callable[[str], None]) -> None:
    options = up.Options(jobs=(), state=state, sampling=Sampling(1.0, 4, 1))
    up._Start(fabric, options, report, threading.Event(), began_s=0.0)._deploy()


def test_a_switch_that_does_not_answer_at_first_is_tried_again_alone(tmp_path: Path) -> None:
    fabric = design(FOLDER / "rack.yml")
    reports: list[str] = []
    with Twin(fabric, state=tmp_path, base_port=0) as twin:

        def report(text: str) -> None:
            reports.append(text)
            if text == f"not deployed {SPINE}":
                twin.start_switch(SPINE)

        twin.stop_switch(SPINE)
        deploy(fabric, tmp_path, report)
    first, again = reports[:-2], reports[-2:]
    assert sorted(first) == sorted(f"{'not ' if name == SPINE else ''}deployed {name}" for name in fabric.models)
    assert again == ["trying 1 switch again", f"deployed {SPINE}"]


def test_a_switch_that_never_answers_ends_the_start_with_its_name_once(tmp_path: Path) -> None:
    fabric = design(FOLDER / "rack.yml")
    with Twin(fabric, state=tmp_path, base_port=0) as twin:
        twin.stop_switch(SPINE)
        with pytest.raises(LabError, match=f"^{SPINE}: was not deployed\\. ") as caught:
            deploy(fabric, tmp_path, print)
    assert str(caught.value).count(SPINE) == 1
