"""A real slurmctld in network and UTS namespaces of its own, which is asked for the topology that it has read."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile

CONFIGURATION = """\
ClusterName=test
SlurmctldHost=controller(192.0.2.1)
AuthType=auth/none
CredType=cred/none
SlurmUser=root
StateSaveLocation={folder}/state
SlurmctldPidFile={folder}/slurmctld.pid
ProctrackType=proctrack/linuxproc
SelectType=select/cons_tres
TopologyPlugin=topology/tree
NodeName={nodes} NodeAddr=192.0.2.2 CPUs=1
PartitionName=all Nodes=ALL
"""
PROGRAM = """
set -eu
hostname controller
ip link add eth0 type veth peer name eth1
ip address add 192.0.2.1/24 dev eth0
ip link set eth0 up
ip link set eth1 up
ip link set lo up
slurmctld -D -f "$SLURM_CONF" >"$1/slurmctld.log" 2>&1 &
for _ in $(seq 300); do
    if scontrol ping 2>/dev/null | grep -q UP; then
        scontrol show topology
        kill $!
        wait $! || true
        exit 0
    fi
    kill -0 $! 2>/dev/null || break
    sleep 0.1
done
cat "$1/slurmctld.log" >&2
exit 1
"""
"""slurmctld needs an address that is not the loopback's."""
SWITCH = re.compile(r"SwitchName=(\S+) Level=(\d+) LinkSpeed=1 Nodes=(\S+)(?: Switches=(\S+))?")


@dataclass(frozen=True, slots=True)
class SwitchShown:
    """A switch as `scontrol show topology` gives it. level: 0 for one with nodes. nodes: all below it."""

    level: int
    nodes: frozenset[str]
    switches: frozenset[str]


def topology_of(folder: Path, topology: str, nodes: str) -> dict[str, SwitchShown]:
    """The switches of a topology.conf by name, as Slurm has read it. nodes: all of the cluster, as a hostlist.

    Raises CalledProcessError, with the log of slurmctld, where it refuses the file.
    """
    (folder / "state").mkdir()
    (folder / "slurm.conf").write_text(CONFIGURATION.format(folder=folder, nodes=nodes))
    (folder / "topology.conf").write_text(topology)
    command = ["unshare", "--net", "--uts", "sh", "-c", PROGRAM, "sh", str(folder)]
    environment = os.environ | {"SLURM_CONF": str(folder / "slurm.conf")}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=True)
    shown = [match.groups() for match in map(SWITCH.fullmatch, done.stdout.splitlines()) if match]
    return {
        name: SwitchShown(int(level), frozenset(expanded(below)), frozenset(expanded(switches or "")))
        for name, level, below, switches in shown
    }


def expanded(hostlist: str) -> list[str]:
    """The names of a hostlist, as Slurm expands it."""
    return _shown("hostnames", hostlist).split() if hostlist else []


def folded(names: Iterable[str]) -> str:
    """Names in the notation of Slurm, in their order."""
    return _shown("hostlist", ",".join(names)).strip()


def _shown(what: str, names: str) -> str:
    with NamedTemporaryFile("w") as configuration:
        configuration.write("ClusterName=test\nSlurmctldHost=localhost\n")
        configuration.flush()
        environment = os.environ | {"SLURM_CONF": configuration.name}
        command = ["scontrol", "show", what, names]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
        return done.stdout
