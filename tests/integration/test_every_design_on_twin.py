"""Each committed intent of at most 72 switches on a twin, as a user runs it; or why the twin does not serve it."""

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

from railfab.app.default_jobs import NAMES, PACKAGED, default_jobs
from railfab.fabric import design, fitting_job

ROOT = Path(__file__).parents[2]
FOLDERS = "inventory/fabrics/*.yml", "benchmarks/fabrics/*.yml", "labs/*/intent.yml"
FEATURES = "VLANs and SVIs", "MLAG", "VXLAN", "EVPN", "VRFs, here management"
VLANS, MLAG, VXLAN, EVPN, VRFS = FEATURES


def committed() -> dict[str, Path]:
    """Every committed intent by the name of its fabric, as the file or the folder of the lab has it."""
    paths = (path for pattern in FOLDERS for path in sorted(ROOT.glob(pattern)))
    return {path.parent.name if path.stem == "intent" else path.stem: path for path in paths}


INTENTS = committed()
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
NO_TWIN = {"frr-pod", "frr-evpn"}
"""Labs of FRR, which the twin does not have."""
NO_JOBS = {"dual-plane"}
"""Designs with Ultra Ethernet, which the twin serves without jobs."""
LARGE = {"gpu16384", "gpu32768", "gpu131072", "srlinux-256", "srlinux-640", "srlinux-1024"}
MOST_SWITCHES = 72
SERVED = [name for name in INTENTS if name not in {*REFUSED, *NO_TWIN, *LARGE}]
LOADED = [name for name in SERVED if name not in NO_JOBS]
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
def test_a_design_is_deployed_verified_and_rolled_back_on_its_own_platforms(name: str, run: Run) -> None:
    deployed_verified_and_rolled_back(INTENTS[name], run)


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
@pytest.mark.parametrize("name", LOADED)
def test_a_design_is_healthy_under_up_and_its_ring_loses_nothing(name: str, run: Run) -> None:
    """The ring runs for 50 s where two cores take a sample every 10 s, as of 48 switches."""
    intent = INTENTS[name]
    ports = "--twin-port", "0", "--metrics-port", "0", "--prometheus-port", "0"
    done = run("up", intent, "--for", "60", "--output", "json", *ports)
    assert done.returncode == 0, done.stderr
    summary = conforming("up", done.stdout)
    fabric = design(intent)
    models = fabric.models
    sessions = sum(len(model.neighbors) for model in models.values())
    assert (summary["fabric"], summary["healthy"]) == (fabric.intent.fabric, True)
    assert (summary["targets_up"], summary["targets"]) == (len(models), len(models))
    assert (summary["sessions_up"], summary["sessions"]) == (sessions, sessions)
    ring = summary["jobs"][0]
    assert (ring["job"], ring["drops"]) == ("ring", 0)
    assert ring["sent_bytes"] > 1e9


@pytest.mark.matrix
@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", sorted(NO_JOBS))
def test_a_design_of_ultra_ethernet_is_healthy_under_up_without_a_job(name: str, run: Run) -> None:
    healthy_without_a_job(INTENTS[name], 60, run)


@pytest.mark.timeout(300)
def test_a_small_design_of_ultra_ethernet_is_healthy_under_up_without_a_job(run: Run, tmp_path: Path) -> None:
    intent = tmp_path / "small.yml"
    smaller = {"hosts: 64": "hosts: 8", "hosts: 32": "hosts: 2", "rail_switches: 8": "rail_switches: 1"}
    text = INTENTS["dual-plane"].read_text()
    for large, small in {**smaller, "count: 8": "count: 2"}.items():
        text = text.replace(large, small)
    intent.write_text(text)
    healthy_without_a_job(intent, 20, run)


def healthy_without_a_job(intent: Path, seconds: int, run: Run) -> None:
    ports = "--twin-port", "0", "--metrics-port", "0", "--prometheus-port", "0"
    done = run("up", intent, "--for", str(seconds), "--output", "json", *ports)
    assert done.returncode == 0, done.stderr
    assert "railfab: no job runs: the twin runs jobs over RoCEv2, not Ultra Ethernet" in done.stderr
    summary = conforming("up", done.stdout)
    assert (summary["healthy"], summary["jobs"]) == (True, [])
    assert summary["sessions_up"] == summary["sessions"] > 0


@pytest.mark.parametrize("name", sorted(NO_JOBS))
def test_up_refuses_a_job_on_a_design_whose_transport_has_none_in_one_line(name: str, run: Run, tmp_path: Path) -> None:
    refused = run("up", INTENTS[name], "--for", "60", "--job", PACKAGED / "ring.yml")
    problem = "profile.transport: the twin runs jobs over RoCEv2, not Ultra Ethernet"
    assert (refused.returncode, problem in refused.stderr, refused.stderr.count("\n")) == (2, True, 1), refused.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sorted(NO_TWIN))
def test_up_refuses_a_lab_of_frr_in_one_line(name: str, run: Run, tmp_path: Path) -> None:
    refused = run("up", INTENTS[name], "--for", "60")
    lines = [line for line in refused.stderr.splitlines() if "the twin does not support frr" in line]
    assert (refused.returncode, refused.stderr.splitlines()) == (2, lines), refused.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", sampled(REFUSED.keys(), few=["dual-mlag", "dual-esi", "dual-vlan", "cluster"]))
def test_a_design_that_the_twin_cannot_forward_is_refused_by_feature_before_anything_starts(
    name: str, run: Run, tmp_path: Path
) -> None:
    refused = run("twin", INTENTS[name], "--detach", "--port", "0")
    assert refused.returncode == 2
    lines = refused.stderr.splitlines()
    named = {feature for feature in FEATURES if any(f"the twin does not compute {feature}." in line for line in lines)}
    assert named == REFUSED[name]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", [*SERVED, *REFUSED, *sorted(NO_TWIN)])
def test_the_jobs_of_up_fit_every_design(name: str) -> None:
    intent, topology = wired(INTENTS[name])
    assert [fitting_job(path, topology, intent).job for path in default_jobs(INTENTS[name])] == ["ring", "incast"]


def test_the_packaged_jobs_of_up_are_those_of_the_inventory(tmp_path: Path) -> None:
    """For an intent elsewhere, such as one of a lab."""
    assert default_jobs(INTENTS["pod64"]) == [ROOT / "inventory" / "jobs" / name for name in NAMES]
    assert default_jobs(tmp_path / "my.yml") == default_jobs(INTENTS["srl-pod"]) == [PACKAGED / name for name in NAMES]
    for name in NAMES:
        assert (PACKAGED / name).read_text() == (ROOT / "inventory" / "jobs" / name).read_text()


def test_only_the_largest_designs_are_left_out() -> None:
    """The counts of the others are small; those of the largest are in docs/designs.md."""
    assert {*SERVED, *REFUSED, *NO_TWIN, *LARGE} == {*INTENTS}
    for name in [*SERVED, *REFUSED, *NO_TWIN]:
        assert len(list(wired(INTENTS[name])[1].switches())) <= MOST_SWITCHES
