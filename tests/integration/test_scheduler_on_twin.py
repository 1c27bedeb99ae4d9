"""A roll-out that asks Debian's own Slurm before it cuts hosts off."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests import commands
from tests.deploy.schedulers.slurm_cluster import Cluster, cluster, until
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
    assert kinds.index("hold") < kinds.index("drain") < kinds.index("change") < kinds.index("release")
