"""A small cluster of Debian's own munged, slurmctld and slurmd, several nodes on this machine, in namespaces."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

NODES = ("gpu1", "gpu2", "gpu3")
CONFIGURATION = """\
ClusterName=test
SlurmctldHost=controller(192.0.2.1)
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmUser=root
SlurmdUser=root
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool-%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd-%n.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
SchedulerParameters=batch_sched_delay=0,sched_interval=1
ReturnToService=2
NodeName=gpu[1-3] NodeHostname=controller NodeAddr=192.0.2.1 Port=[17001-17003] CPUs=2
PartitionName=all Nodes=ALL Default=YES
"""
PROGRAM = """
set -eu
hostname controller
mount --bind "$1/hosts" /etc/hosts
ip link set lo up
ip link add eth0 type veth peer name eth1
ip address add 192.0.2.1/24 dev eth0
ip link set eth0 up
ip link set eth1 up
munged --foreground --force --key-file="$1/munge.key" --socket="$1/munge.socket" --pid-file="$1/munged.pid" \
    --log-file="$1/munged.log" --seed-file="$1/munge.seed" >"$1/munged.out" 2>&1 &
until [ -S "$1/munge.socket" ]; do sleep 0.05; done
slurmctld -D -f "$SLURM_CONF" >"$1/slurmctld.log" 2>&1 &
for node in gpu1 gpu2 gpu3; do
    slurmd -D -N "$node" -f "$SLURM_CONF" >"$1/slurmd-$node.log" 2>&1 &
done
wait
"""


@dataclass(frozen=True, slots=True)
class Cluster:
    """folder: configuration, logs and process numbers. prefix: the command that runs the one after it inside."""

    folder: Path
    prefix: tuple[str, ...]

    def run(self, *command: str) -> str:
        done = subprocess.run([*self.prefix, *command], capture_output=True, text=True, timeout=60, check=True)
        return done.stdout

    def submit(self, node: str, script: str) -> str:
        """The number of a new job on a node."""
        place = (f"--chdir={self.folder}", f"--output={self.folder}/job-%j.out", f"--nodelist={node}")
        return self.run("sbatch", "--parsable", *place, "--wrap", script).strip()

    def state_of(self, job: str) -> str:
        """`R`, `PD`, ...; empty for one that has ended."""
        return self.run("squeue", "--noheader", "--format=%t", f"--jobs={job}").strip()

    def drained(self) -> dict[str, str]:
        """The reasons of the nodes that are drained."""
        lines = self.run("sinfo", "-N", "--noheader", "--format=%N|%T|%E").splitlines()
        nodes = (line.split("|") for line in lines)
        return {name: reason for name, state, reason in nodes if state.startswith("drain")}


def until(holds: Callable[[], bool], what: str) -> None:
    for _ in range(300):
        if holds():
            return
        time.sleep(0.1)
    raise AssertionError(f"never: {what}")


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """A cluster whose nodes are idle, until left. folder: one that every user can enter, for the socket of munged."""
    for name in ("state", *(f"spool-{node}" for node in NODES)):
        (folder / name).mkdir()
    (folder / "munge.key").write_bytes(os.urandom(1024))
    (folder / "munge.key").chmod(0o600)
    configuration = folder / "slurm.conf"
    configuration.write_text(CONFIGURATION.format(folder=folder))
    (folder / "hosts").write_text("127.0.0.1 localhost\n192.0.2.1 controller\n")
    (folder / "cgroup.conf").write_text("CgroupPlugin=cgroup/v1\n")  # not looked for: there may be no cgroups here
    spaces = ("unshare", "--net", "--uts", "--pid", "--mount", "--fork", "--kill-child", "--mount-proc")
    command = [*spaces, "sh", "-c", PROGRAM, "sh", str(folder)]
    environment = os.environ | {"SLURM_CONF": str(configuration)}
    with subprocess.Popen(command, env=environment, stdin=subprocess.DEVNULL) as process:
        inside = ("nsenter", "--target", str(process.pid), "--net", "--uts")
        started = Cluster(folder, (*inside, "env", f"SLURM_CONF={configuration}"))
        try:
            until(lambda: _idle_nodes(started) == len(NODES), f"all nodes idle; see the logs in {folder}")
            yield started
        finally:
            process.kill()


def _idle_nodes(started: Cluster) -> int:
    try:
        return started.run("sinfo", "-N", "--noheader", "--format=%T").split().count("idle")
    except subprocess.CalledProcessError:
        return 0
