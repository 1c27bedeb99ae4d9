"""One test that brings a lab up and never ends; test_namespaces.py runs it and kills the run."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from tests.lab.fabrics import lab_plan, small_intent

from railfab.lab import backend


@pytest.mark.lab
@pytest.mark.timeout(0)
def test_a_lab_that_nobody_takes_down(tmp_path: Path) -> None:
    backend("netns").up(lab_plan(small_intent(tmp_path), tmp_path / "state"), print)
    Path(os.environ["LAB_IS_UP"]).touch()
    time.sleep(600)
