"""Each committed design of at most 72 switches on a twin, as a user runs it; or why the twin does not serve it."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests import commands
from tests.docs.schemas import conforming
from tests.fabric.sampled import wired
from tests.sampled import sampled
from tests.twin.small_fabric import BUNDLED

from railfab.fabric import design, fitting_job
from railfab.intent.starters import designs

FEATURES = "VLANs and SVIs", "MLAG", "VXLAN", "EVPN", "VRFs, here management"
VLANS, MLAG, VXLAN, EVPN, VRFS = FEATURES
REFUSED = {
    "single-switch": {VLANS},
    "rail-blocks": {VLANS},
    "dual-mlag": {VLANS, MLAG},
    "dual-esi": {VLANS, EVPN, VXLAN},
    "dual-vlan": {VLANS},
    "multi-rail": {VLANS},
    "multi-rail-own": {VLANS},
    "dual-rail": {VLANS},
    "single-rail": {VLANS},
    "cluster": {VLANS, EVPN, VXLAN, VRFS},
}
"""Features of designs that the twin does not compute, by design."""
LARGE = {"gpu16384", "gpu32768", "gpu131072"}
MOST_SWITCHES = 72
SERVED = [name for name in designs() if name not in {*REFUSED, *LARGE}]
Run = partial[subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    """Runs a command in a folder of its own, and ends the twin that it leaves."""
    environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1"}
    running = partial(commands.run, cwd=tmp_path, environment=environment, timeout_s=600)
    yield running
    if (tmp_path / ".railfab").exists():
        running("twin", "stop")


@pytest.mark.timeout(1200)
@pytest.mark.parametrize("name", sampled(SERVED, few=["shared-nic"]))
def test_a_design_is_deployed_verified_and_rolled_back_on_its_own_platforms(
    name: str, run: Run, repository: Path
) -> None:
    deployed_verified_and_rolled_back(repository / "inventory" / "fabrics" / f"{name}.yml", run)


@pytest.mark.timeout(600)
def test_a_small_fabric_with_lags_is_deployed_verified_and_rolled_back(run: Run, tmp_path: Path) -> None:
    intent = tmp_path / "bundled.yml"
    intent.write_text(BUNDLED)
    deployed_verified_and_rolled_back(intent, run)


def deployed_verified_and_rolled_back(intent: Path, run: Run) -> None:
    count = len(list(wired(intent)[1].switches()))
    started = run("twin", intent, "--detach", "--port", "0")
    assert started.returncode == 0, started.stderr
    outcomes = [
        run("deploy", intent, "--on", "twin", "--yes"),
        run("verify", intent, "--on", "twin"),
        run("deploy", intent, "--on", "twin", "--yes"),
        run("rollback", intent, "--on", "twin", "--yes"),
        run("verify", intent, "--on", "twin", "--wait", "0"),
        run("twin", "stop"),
    ]
    said = "\n".join(outcome.stdout + outcome.stderr for outcome in outcomes)
    assert [outcome.returncode for outcome in outcomes] == [0, 0, 0, 0, 1, 0], said
    first, verified, second, undone, differing, _ = (outcome.stdout for outcome in outcomes)
    of_all = f"{count} of {count} switches"
    assert f"{of_all}: {count} changed" in first
    assert f"{of_all} checked: all" in verified
    assert f"{of_all}: 0 changed" in second
    assert f"{of_all}: {count} changed" in undone
    assert "[bgp-neighbor-missing]" in differing


@pytest.mark.matrix
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", SERVED)
def test_a_design_is_healthy_under_up_and_its_ring_loses_nothing(name: str, run: Run, repository: Path) -> None:
    """The ring runs for 50 s where two cores take a sample every 10 s, as of 48 switches."""
    intent = repository / "inventory" / "fabrics" / f"{name}.yml"
    ports = "--twin-port", "0", "--metrics-port", "0", "--prometheus-port", "0"
    done = run("up", intent, "--for", "60", "--output", "json", *ports)
    assert done.returncode == 0, done.stderr
    summary = conforming("up", done.stdout)
    models = design(intent).models
    sessions = sum(len(model.neighbors) for model in models.values())
    assert (summary["fabric"], summary["healthy"]) == (name, True)
    assert (summary["targets_up"], summary["targets"]) == (len(models), len(models))
    assert (summary["sessions_up"], summary["sessions"]) == (sessions, sessions)
    ring = summary["jobs"][0]
    assert (ring["job"], ring["drops"]) == ("ring", 0)
    assert ring["sent_bytes"] > 1e9


@pytest.mark.parametrize("name", REFUSED)
def test_a_design_that_the_twin_cannot_forward_is_refused_by_feature_before_anything_starts(
    name: str, run: Run, repository: Path, tmp_path: Path
) -> None:
    refused = run("twin", repository / "inventory" / "fabrics" / f"{name}.yml", "--detach", "--port", "0")
    assert refused.returncode == 2
    lines = refused.stderr.splitlines()
    named = {feature for feature in FEATURES if any(f"the twin does not compute {feature}." in line for line in lines)}
    assert named == REFUSED[name]
    assert list(tmp_path.iterdir()) == []


def test_the_jobs_of_up_fit_every_design(repository: Path) -> None:
    for name in [*SERVED, *REFUSED]:
        topology = wired(repository / "inventory" / "fabrics" / f"{name}.yml")[1]
        for job in ("ring", "incast"):
            assert fitting_job(repository / "inventory" / "jobs" / f"{job}.yml", topology).job == job


def test_only_the_largest_designs_are_left_out(repository: Path) -> None:
    """The counts of the others are small; those of the largest are in docs/designs.md."""
    assert {*SERVED, *REFUSED, *LARGE} == {*designs()}
    for name in [*SERVED, *REFUSED]:
        topology = wired(repository / "inventory" / "fabrics" / f"{name}.yml")[1]
        assert len(list(topology.switches())) <= MOST_SWITCHES
