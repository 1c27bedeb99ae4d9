"""A rolling restart of all spines of a lab of real FRR loses no packet where each is drained before."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.conftest import RunningLab
from tests.integration.probes import Probes
from typer.testing import CliRunner

from railfab.cli import app
from railfab.device import Loopback
from railfab.fabric import Design, design
from railfab.lab import LabPlace

pytestmark = [pytest.mark.lab, pytest.mark.matrix]

FABRICS = {"2 rail switches, 2 spines": (2, 2), "4 rail switches, 4 spines": (4, 4)}
WAYS = {"power cycle": (), "FRR": ("--daemon", "zebra")}
"""Options of `lab restart`: the whole switch, or its daemons, which all restart with zebra, while its links stay up."""
MOVES_S = 2.0
"""Time in which the traffic moves after a drain, and comes back after it [s]."""

Railfab = Callable[..., None]


def intent(rail_switches: int, spines: int) -> str:
    return f"""\
version: 1
fabric: rolling
profile: {{mtu: 9000, lossless: off}}
hosts: {{gpus: 1, nic_ports: 1, rate_gbps: 100}}
backend:
  segments: {{count: {rail_switches}, hosts: 1, rail_switches: 1, model: linux-16, platform: frr}}
  spines: {{count: {spines}, links_per_leaf: 1, rate_gbps: 100, model: linux-16, platform: frr}}
"""


@pytest.fixture(scope="module", params=FABRICS.values(), ids=FABRICS)
def fabric(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Design:
    path = tmp_path_factory.mktemp("rolling") / "intent.yml"
    path.write_text(intent(*request.param))
    return design(path)


@pytest.fixture(scope="module")
def railfab(fabric: Design) -> Iterator[Railfab]:
    """Runs a command on the lab, which is up and configured meanwhile."""
    state = str(Path(fabric.path).parent / "state")

    def run(verb: str, *words: str) -> None:
        command = [*verb.split(), str(fabric.path), *words, "--state", state]
        done = CliRunner().invoke(app, command, env={"COLUMNS": "200", "NO_COLOR": "1"})
        assert done.exit_code == 0, done.output

    try:
        run("lab up", "--configured")
        run("verify", "--on", "lab", "--wait", "120")
        yield run
    finally:
        run("lab down")


@pytest.fixture
def loopbacks(fabric: Design, railfab: Railfab) -> dict[str, str]:
    """By the path of the network namespace of each rail switch, its loopback."""
    folder = Path(fabric.path).parent
    lab = RunningLab(folder / "intent.yml", LabPlace(fabric="rolling", folder=folder, state=folder / "state"))
    places = {}
    for name in rail_switches(fabric):
        process = lab.state.process(name)
        assert process is not None
        addresses = (port.addresses for port in fabric.models[name].interfaces if isinstance(port, Loopback))
        places[f"/proc/{process.pid}/ns/net"] = str(next(addresses)[0].ip)
    return places


def rail_switches(fabric: Design) -> list[str]:
    return [name for name in fabric.models if "-leaf" in name]


def spines(fabric: Design) -> list[str]:
    return [name for name in fabric.models if "-spine" in name]


def rolled(fabric: Design, railfab: Railfab, loopbacks: dict[str, str], way: str, *, drained: bool) -> Probes:
    """Restart each spine, and wait for its sessions; the probes that crossed the fabric meanwhile."""
    with Probes(loopbacks) as probes:
        for spine in spines(fabric):
            if drained:
                railfab("drain", spine, "--on", "lab")
                time.sleep(MOVES_S)
            railfab("lab restart", spine, *WAYS[way])
            time.sleep(MOVES_S)
            railfab("verify", "--on", "lab", "--wait", "120", "--limit", spine)
            if drained:
                railfab("undrain", spine, "--on", "lab")
            time.sleep(MOVES_S)
    return probes


@pytest.mark.parametrize("way", WAYS)
def test_a_rolling_restart_of_drained_spines_loses_no_packet(
    fabric: Design, railfab: Railfab, loopbacks: dict[str, str], way: str
) -> None:
    probes = rolled(fabric, railfab, loopbacks, way, drained=True)
    pairs = len(loopbacks) * (len(loopbacks) - 1)
    assert len(probes.sent) == pairs
    assert min(probes.arrived.values()) > 1000
    assert probes.lost == 0, f"of {sum(probes.sent.values())}"
