"""A roll-out that asks Debian's own Slurm before it cuts hosts off."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests import commands
from tests.deploy.schedulers.slurm_cluster import Cluster, cluster, until
from tests.integration.process_list import ProcessList
from tests.twin.small_fabric import INTENT, LEAF

from railfab.deploy import Journal
from railfab.fabric import design
from railfab.twin import Twin

pytestmark = pytest.mark.slurm

NAMES = {"pod1-seg1-host1": "gpu1", "pod1-seg1-host2": "gpu2", "pod1-seg2-host1": "gpu3", "pod1-seg2-host2": "gpu4"}
"""The hosts of segment 1, which the leaf cuts off, are nodes of the cluster."""


@pytest.fixture(scope="module")
def slurm_cluster() -> Iterator[Cluster]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        with cluster(folder) as started:
            yield started


@pytest.fixture
def folder(tmp_path: Path, slurm_cluster: Cluster) -> Path:
    """A folder with the intent, and with one of another MTU, which interrupts, that names the scheduler."""
    (tmp_path / "intent.yml").write_text(INTENT)
    mtu = INTENT.replace("  underlay: unnumbered\n", "  underlay: unnumbered\n  mtu: 9000\n")
    (tmp_path / "hosts.yml").write_text("".join(f"{host}: {name}\n" for host, name in NAMES.items()))
    scheduler = {"kind": "slurm", "command": list(slurm_cluster.prefix), "hosts": "hosts.yml"}
    for name, within_s in (("now", 0), ("waits", 60)):
        change = json.dumps({"scheduler": {**scheduler, "within_s": within_s}})
        (tmp_path / f"{name}.yml").write_text(f"{mtu}change: {change}\n")
    return tmp_path


def test_hosts_with_a_job_stop_the_roll_out_and_idle_ones_are_held_until_its_end(
    slurm_cluster: Cluster, folder: Path
) -> None:
    end = slurm_cluster.folder / "end-of-the-job"
    running = slurm_cluster.submit("gpu1", f"until [ -e {end} ]; do sleep 0.1; done")
    until(lambda: slurm_cluster.state_of(running) == "R", "the job runs")
    with Twin(design(folder / "intent.yml"), state=folder, base_port=0, configured=True) as twin:
        before = twin._switches[LEAF].running()
        words = ("--on", "twin", "--state", str(folder), "--limit", LEAF, "--yes", "--no-gates")
        stopped = commands.run("deploy", "now.yml", *words, cwd=folder, timeout_s=120)
        assert stopped.returncode == 3, stopped.stderr
        jobs = f"pod1-seg1-host1: job {running} (wrap) of root"
        why = f": slurm has jobs on hosts that wave 1 cuts off ({jobs}). No switch was changed.\n"
        assert stopped.stderr.endswith(why), stopped.stderr
        assert twin._switches[LEAF].running() == before
        assert slurm_cluster.drained() == {}
        threading.Timer(3.0, end.touch).start()
        done = commands.run("deploy", "waits.yml", *words, cwd=folder, timeout_s=120)
        assert done.returncode == 0, done.stderr
        assert "waiting for jobs on pod1-seg1-host1" in done.stderr
        assert twin._switches[LEAF].running() != before
    assert slurm_cluster.drained() == {}
    steps = (folder / "small.deploys" / Journal(folder, "small").deploys()[-1].folder / "steps").read_text()
    kinds = [json.loads(line.partition(" ")[2])["kind"] for line in steps.splitlines()]
    assert kinds.index("hold") < kinds.index("change") < kinds.index("release")
    assert "drain" not in kinds  # it would move nothing: each NIC has one address, on this leaf


def test_no_secret_is_in_the_process_list_or_in_the_environment_of_the_scheduler(
    slurm_cluster: Cluster, folder: Path
) -> None:
    """Switches by a password of the environment and of a file, Slurm, and a token of the telemetry."""
    with Twin(design(folder / "intent.yml"), state=folder, base_port=0, configured=True) as twin:
        login = twin.credentials
        endpoints = json.loads((folder / "small.twin.json").read_text())
        of_file = folder / "file.json"
        of_file.write_text(json.dumps(endpoints))
        for node in endpoints["nodes"]:
            node["credentials"] = "env:POD1"
        of_environment = folder / "environment.json"
        of_environment.write_text(json.dumps(endpoints))
        environment = {
            **os.environ,
            "POD1_USERNAME": login.username,
            "POD1_PASSWORD": login.password,
            "RAILFAB_TELEMETRY_TOKEN": "telemetry-token-of-the-test",
        }
        seen = ProcessList([login.password, "telemetry-token-of-the-test"])
        for intent, on in (("now.yml", of_environment), ("intent.yml", of_file)):
            words = ("deploy", intent, "--on", str(on), "--state", str(folder), "--limit", LEAF, "--yes")
            done = seen.run(*words, "--no-gates", "--accept", "cut", folder=folder, environment=environment)
            assert done.returncode == 0, done.stderr
            assert login.password not in done.stdout + done.stderr
        words = ("deploy", "now.yml", "--on", str(of_environment), "--state", str(folder), "--limit", LEAF, "--yes")
        unread = seen.run(*words, "--telemetry", "http://127.0.0.1:9", folder=folder, environment=environment)
        assert (unread.returncode, "telemetry-token" in unread.stderr) == (3, False)
    assert any("scontrol" in line for line in seen.started), seen.started
    assert seen.exposed == set()
