"""A rack of two rail switches and a spine on a twin, for each module of tests.

Its platform is that in `NAME` of the module, or those with which its tests are parametrised (`racks.on_each`).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import commands
from tests.integration.switches.racks import LEAF, Railfab

from railfab.device import DeviceModel
from railfab.endpoints import Endpoint
from railfab.fabric.design import Design, design
from railfab.twin import Twin


@pytest.fixture(scope="module")
def system(request: pytest.FixtureRequest) -> str:
    """The platform."""
    return str(getattr(request, "param", None) or request.module.NAME)


@pytest.fixture(scope="module")
def rack(system: str, repository: Path) -> Path:
    """The intent."""
    return repository / "tests" / "deploy" / f"rack_{system}.yml"


@pytest.fixture(scope="module")
def fabric(rack: Path) -> Design:
    return design(rack)


@pytest.fixture(scope="module")
def state(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("twin")


@pytest.fixture(scope="module")
def twin(fabric: Design, state: Path) -> Iterator[Twin]:
    """Three switches as they leave the factory."""
    with Twin(fabric, state=state, base_port=0, boot_s=0.5) as running:
        yield running


@pytest.fixture
def leaf(twin: Twin) -> Endpoint:
    return twin.endpoints.by_name()[LEAF]


@pytest.fixture
def model(fabric: Design) -> DeviceModel:
    return fabric.models[LEAF]


@pytest.fixture
def railfab(twin: Twin, rack: Path, state: Path, repository: Path) -> Railfab:
    """Runs a command on the twin, as a user would."""
    assert twin.endpoints

    def run(verb: str, *arguments: str, intent: Path = rack) -> subprocess.CompletedProcess[str]:
        environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
        words: tuple[str | Path, ...] = (verb, intent, *arguments, "--on", "twin", "--state", state)
        return commands.run(*words, cwd=repository, environment=environment, timeout_s=120)

    return run
