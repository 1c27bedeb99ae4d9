"""Slurm as a gate: Debian's own munged, slurmctld and slurmd, with jobs that run; and what later releases print."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from tests.deploy.schedulers.slurm_cluster import Cluster, cluster, until

from railfab.deploy.schedulers import SchedulerError, idle, released
from railfab.deploy.schedulers.commands import SchedulerCommands
from railfab.deploy.schedulers.slurm import Slurm
from railfab.errors import RailfabError
from railfab.fabric.host_names import HostNames

HOSTS = ("pod1-seg1-host1", "pod1-seg1-host2", "pod1-seg1-host3")
NAMES = HostNames({host: f"gpu{number}" for number, host in enumerate(HOSTS, start=1)})
DEPLOY, LATER = "20261122T093012.345Z-4f2a", "20261122T101500.000Z-77aa"


@pytest.fixture(scope="module")
def slurm_cluster() -> Iterator[Cluster]:
    with TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o755)
        with cluster(folder) as started:
            yield started


def slurm(place: Cluster, *, prefix: tuple[str, ...] = (), answer_s: float = 60.0) -> Slurm:
    return Slurm(SchedulerCommands(prefix=(*place.prefix, *prefix), answer_s=answer_s), NAMES)


def free(place: Cluster) -> None:
    for node in place.drained():
        place.run("scontrol", "update", f"nodename={node}", "state=resume")
    until(lambda: place.run("sinfo", "-N", "--noheader", "--format=%T").split() == ["idle"] * 3, "all nodes idle")


@pytest.mark.slurm
def test_a_hold_keeps_jobs_away_waits_for_those_that_run_and_ends_with_its_release(slurm_cluster: Cluster) -> None:
    free(slurm_cluster)
    end = slurm_cluster.folder / "end-of-the-job"
    running = slurm_cluster.submit("gpu1", f"until [ -e {end} ]; do sleep 0.1; done")
    until(lambda: slurm_cluster.state_of(running) == "R", "the job runs")
    slurm_cluster.run("scontrol", "update", "nodename=gpu3", "state=drain", "reason=bad GPU")
    scheduler, told = slurm(slurm_cluster), []

    assert scheduler.hold(HOSTS, DEPLOY) == {HOSTS[2]: "bad GPU"}
    assert scheduler.hold(HOSTS, DEPLOY) == {HOSTS[2]: "bad GPU"}
    later = slurm_cluster.submit("gpu2", "sleep 0")
    assert scheduler.busy(HOSTS) == {HOSTS[0]: f"job {running} (wrap) of root"}
    never = threading.Event()
    assert idle(scheduler, HOSTS, DEPLOY, within_s=0, stop_requested=never, on_wait=told.append) == told[0]

    def let_end(busy: Mapping[str, str]) -> None:
        assert slurm_cluster.state_of(later) == "PD"
        told.append(busy)
        threading.Timer(0.7, end.touch).start()

    steps = {"on_wait": let_end, "on_left_alone": told.append, "asked_every_s": 0.2}
    assert idle(scheduler, HOSTS, DEPLOY, within_s=60, stop_requested=never, **steps) == {}
    assert told[1] == {HOSTS[2]: "bad GPU"}
    assert told[2:] == [{HOSTS[0]: f"job {running} (wrap) of root"}]
    assert slurm(slurm_cluster).held(HOSTS) == dict.fromkeys(HOSTS[:2], DEPLOY)
    assert scheduler.hold(HOSTS[:1], LATER) == {HOSTS[0]: f"railfab {DEPLOY}"}
    assert scheduler.release(HOSTS, LATER) == ()
    assert scheduler.release(HOSTS, DEPLOY) == HOSTS[:2]
    assert slurm_cluster.drained() == {"gpu3": "bad GPU"}
    until(lambda: slurm_cluster.state_of(later) == "", "the job that waited has run")


@pytest.mark.slurm
def test_a_stop_ends_the_wait_and_every_end_of_a_wave_releases(slurm_cluster: Cluster) -> None:
    free(slurm_cluster)
    job = slurm_cluster.submit("gpu1", "sleep 600")
    until(lambda: slurm_cluster.state_of(job) == "R", "the job runs")
    scheduler, stop = slurm(slurm_cluster), threading.Event()

    def wave() -> None:
        with released(scheduler, HOSTS, DEPLOY, pytest.fail):
            busy = idle(scheduler, HOSTS, DEPLOY, within_s=600, stop_requested=stop, on_wait=lambda _: stop.set())
            assert [*busy] == [HOSTS[0]]
            assert [*slurm_cluster.drained()] == ["gpu1", "gpu2", "gpu3"]
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        wave()
    assert slurm_cluster.drained() == {}
    slurm_cluster.run("scancel", job)


@pytest.mark.slurm
def test_a_prefix_of_ssh_quotes_for_the_remote_shell(slurm_cluster: Cluster, tmp_path: Path) -> None:
    free(slurm_cluster)
    ssh = tmp_path / "ssh"
    ssh.write_text(f'#!/bin/sh\nshift\nexec {" ".join(slurm_cluster.prefix)} sh -c "$*"\n')
    ssh.chmod(0o755)
    scheduler = Slurm(SchedulerCommands(prefix=(str(ssh), "controller")), NAMES)
    assert scheduler.hold(HOSTS, DEPLOY) == {}
    assert slurm_cluster.drained() == dict.fromkeys(("gpu1", "gpu2", "gpu3"), f"railfab {DEPLOY}")
    assert scheduler.release(HOSTS, DEPLOY) == HOSTS


@pytest.mark.slurm
def test_what_slurm_refuses_is_one_line(slurm_cluster: Cluster) -> None:
    free(slurm_cluster)
    refused = [
        (
            Slurm(SchedulerCommands(prefix=slurm_cluster.prefix)),
            "Slurm: knows no node pod1-seg1-host1, pod1-seg1-host2, ",
        ),
        (slurm(slurm_cluster, prefix=("setpriv", "--reuid=65534", "--clear-groups")), "this user may not drain nodes"),
        (slurm(slurm_cluster, prefix=("/nowhere/sudo",)), "Slurm: refuses a command "),
        (
            Slurm(SchedulerCommands(folder="/nowhere")),
            r"/nowhere/scontrol: cannot be run \(no such file or directory\)\. ",
        ),
    ]
    for scheduler, line in refused:
        with pytest.raises(SchedulerError, match=line) as error:
            scheduler.hold(HOSTS, DEPLOY)
        assert "\n" not in str(error.value)
    assert slurm_cluster.drained() == {}


@pytest.mark.slurm
def test_a_controller_that_hangs_ends_within_the_limit(slurm_cluster: Cluster) -> None:
    command = f"^slurmctld -D -f {slurm_cluster.folder}/slurm.conf$"
    numbers = subprocess.run(["pgrep", "-f", command], capture_output=True, text=True, check=True).stdout.split()
    for number in numbers:
        os.kill(int(number), signal.SIGSTOP)
    told: list[RailfabError] = []
    try:
        with released(slurm(slurm_cluster, answer_s=0.5), HOSTS, DEPLOY, told.append):
            pass
    finally:
        for number in numbers:
            os.kill(int(number), signal.SIGCONT)
    assert [str(error) for error in told] == [
        "scontrol: has not answered within 0.5 s. Check the controller, and the way to it."
    ]


PRINTED = """\
NodeName=gpu1 Arch=x86_64 CoresPerSocket=1 CPUAlloc=0 CPUEfctv=2 CPUTot=2 State={state} ThreadsPerCore=1 \
MCS_label=N/A Partitions=all  LastBusyTime=2026-01-01T16:43:20 ResumeAfterTime=None AllocTRES= \
CurrentWatts=0 AveWatts=0 Reason={reason} [root@Today 16:43] Comment=State=IDLE ReservationName=work"""


@pytest.mark.parametrize(
    ("state", "reason", "deploy", "left_alone", "busy"),
    [
        ("IDLE+DRAIN+MAINTENANCE", f"railfab {DEPLOY}", {HOSTS[0]: DEPLOY}, {}, {}),
        ("MIXED+DRAIN", f"railfab {DEPLOY} by hand [1]", {HOSTS[0]: DEPLOY}, {}, {HOSTS[0]: "a job that Slurm "}),
        ("IDLE", f"railfab {DEPLOY}", {}, {}, {}),
        ("DOWN*+NOT_RESPONDING", "Not responding", {}, {HOSTS[0]: "Not responding"}, {}),
        ("IDLE+COMPLETING+DRAIN", "railfabric", {}, {HOSTS[0]: "railfabric"}, {HOSTS[0]: "a job that Slurm "}),
    ],
)
def test_a_node_is_read_as_later_releases_of_slurm_print_it(
    tmp_path: Path, state: str, reason: str, deploy: Mapping[str, str], left_alone: Mapping[str, str], busy: dict
) -> None:
    """Fields and their order are those of src/api/node_info.c of Slurm, read in December 2026."""
    program = "#!/bin/sh\n[ \"$1\" = update ] || cat <<'E'\n" + PRINTED.format(state=state, reason=reason) + "\nE\n"
    (tmp_path / "scontrol").write_text(program)
    (tmp_path / "squeue").write_text("#!/bin/sh\n")
    for name in ("scontrol", "squeue"):
        (tmp_path / name).chmod(0o755)
    scheduler = Slurm(SchedulerCommands(folder=str(tmp_path)), NAMES)
    assert scheduler.held(HOSTS[:1]) == deploy
    assert scheduler.hold(HOSTS[:1], DEPLOY) == left_alone
    shown = scheduler.busy(HOSTS[:1])
    assert shown.keys() == busy.keys()
    assert all(shown[host].startswith(words) for host, words in busy.items())
