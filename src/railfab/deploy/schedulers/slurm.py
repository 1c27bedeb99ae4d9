"""Slurm as a gate: nodes are drained with a reason of ours, and resumed where that reason is still there.

It reads `scontrol --oneliner show node` and `squeue --format`, whose fields have their names in every release; `--json`
depends on plugins that distributions leave out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from railfab.deploy.schedulers.commands import NonZeroExit, SchedulerCommands
from railfab.deploy.schedulers.contract import SchedulerError
from railfab.fabric.host_names import HostNames
from railfab.text.counted import listed
from railfab.text.hostlist import expanded, hostlist

OURS = "railfab"
"""First word of our reasons; the second one is the ID of the deploy."""
AT_ONCE = 500
"""Nodes of one command, whose longest argument the kernel limits to 131,072 bytes."""
SETTING = re.compile(r"(?:^| )(NodeName|State|CPUAlloc)=(\S*)")
REASON = re.compile(r" Reason=(.*?)(?: \[[^\s@\]]+@[^\]]*\].*)?$")
"""A reason, and behind it who gave it and when, and optional fields."""
OUT_OF_SERVICE = frozenset(("DRAIN", "DOWN", "FAIL", "ERROR"))
AT_WORK = frozenset(("ALLOCATED", "MIXED", "COMPLETING"))
FAULTS = (
    ("Unable to contact slurm controller", "slurmctld does not answer", "Check that it runs"),
    ("timed out", "slurmctld does not answer in time", "Check its load and its log"),
    ("authentication", "the login of Slurm is refused", "Check that munged runs, with the key of the cluster"),
    ("Invalid user id", "this user may not drain nodes", "Use a user who is an operator or administrator of Slurm"),
    ("permission denied", "this user may not drain nodes", "Use a user who is an operator or administrator of Slurm"),
)
"""Words of the errors of Slurm, the problem, and a remedy."""


@dataclass(frozen=True)
class SlurmNode:
    """A node as Slurm shows it. states: its state and the flags of it."""

    name: str
    states: frozenset[str]
    allocated_cpus: int
    reason: str

    @property
    def is_out(self) -> bool:
        return not self.states.isdisjoint(OUT_OF_SERVICE)

    @property
    def is_at_work(self) -> bool:
        return self.allocated_cpus > 0 or not self.states.isdisjoint(AT_WORK)

    @cached_property
    def deploy(self) -> str | None:
        """The ID of the deploy that drained it; None where it was not railfab."""
        first, _, rest = self.reason.partition(" ")
        return rest.partition(" ")[0] if first == OURS and "DRAIN" in self.states else None


@dataclass(frozen=True, slots=True)
class Slurm:
    """The nodes of a cluster by the commands of Slurm. names: of the hosts in it."""

    commands: SchedulerCommands
    names: HostNames = field(default_factory=HostNames)
    name: str = "slurm"

    def hold(self, hosts: Sequence[str], reason: str) -> Mapping[str, str]:
        nodes = self._nodes(hosts)
        drained = {host: node for host, node in nodes.items() if node.is_out and node.deploy != reason}
        free = [node.name for node in nodes.values() if not node.is_out]
        self._update(free, "state=drain", f"reason={OURS} {reason}")
        return {host: node.reason or "no reason given" for host, node in drained.items()}

    def busy(self, hosts: Sequence[str]) -> Mapping[str, str]:
        """The jobs on these hosts; a node at work whose jobs Slurm does not show to this user is busy too."""
        nodes = self._nodes(hosts)
        jobs: dict[str, list[str]] = {}
        for names in _portions([node.name for node in nodes.values()]):
            for job, on in self._jobs(names):
                for name in on:
                    jobs.setdefault(name, []).append(job)
        shown = {host: listed(jobs[node.name], most=3) for host, node in nodes.items() if node.name in jobs}
        at_work = [host for host, node in nodes.items() if node.is_at_work and host not in shown]
        later = self._nodes(at_work)  # jobs may have ended before squeue was asked
        hidden = [host for host, node in later.items() if node.is_at_work]
        return shown | dict.fromkeys(hidden, "a job that Slurm does not show to this user")

    def held(self, hosts: Sequence[str]) -> Mapping[str, str]:
        return {host: node.deploy for host, node in self._nodes(hosts).items() if node.deploy is not None}

    def release(self, hosts: Sequence[str], reason: str) -> tuple[str, ...]:
        ours = {host: node.name for host, node in self._nodes(hosts).items() if node.deploy == reason}
        self._update(list(ours.values()), "state=resume")
        return tuple(ours)

    def _nodes(self, hosts: Sequence[str]) -> dict[str, SlurmNode]:
        """The nodes by host. Raises SchedulerError for hosts that Slurm does not know."""
        shown = {node.name: node for names in _portions(self.names.of(hosts)) for node in self._shown(names)}
        if missing := [self.names[host] for host in hosts if self.names[host] not in shown]:
            remedy = "Name the nodes of the hosts in a file, and the file in change.scheduler.hosts"
            raise SchedulerError("Slurm", f"knows no node {listed(missing)}", remedy)
        return {host: shown[self.names[host]] for host in hosts}

    def _shown(self, names: str) -> Iterator[SlurmNode]:
        try:
            printed = self.commands.output("scontrol", "--oneliner", "show", "node", names)
        except NonZeroExit as failed:
            if "not found" not in failed.printed:
                raise _error(failed) from None
            printed = failed.printed
        return (_node(line) for line in printed.splitlines() if line.startswith("NodeName="))

    def _jobs(self, names: str) -> Iterator[tuple[str, list[str]]]:
        """The jobs on some nodes, and all nodes of each."""
        for line in self._asked("squeue", "--all", "--noheader", f"--nodelist={names}", "--format=%i|%t|%u|%N|%j"):
            number, state, user, nodes, job = (*line.split("|", maxsplit=4), "", "", "", "")[:5]
            if nodes and state != "PD":  # the name of a job may have lines
                yield f"job {number} ({job}) of {user}", list(expanded(nodes))

    def _update(self, nodes: Sequence[str], *settings: str) -> None:
        for names in _portions(nodes):
            self._asked("scontrol", "update", f"nodename={names}", *settings)

    def _asked(self, program: str, *arguments: str) -> list[str]:
        try:
            return self.commands.output(program, *arguments).splitlines()
        except NonZeroExit as failed:
            raise _error(failed) from None


def _portions(names: Sequence[str]) -> Iterator[str]:
    """Names as hostlists of a length that a command takes."""
    return (hostlist(names[start : start + AT_ONCE]) for start in range(0, len(names), AT_ONCE))


def _node(line: str) -> SlurmNode:
    settings: dict[str, str] = {}
    for key, value in SETTING.findall(line):
        settings.setdefault(key, value)
    reason = REASON.search(line)
    return SlurmNode(
        name=settings["NodeName"],
        states=frozenset(state.rstrip("*~#!%$@^-") for state in settings.get("State", "").split("+")),
        allocated_cpus=int(settings.get("CPUAlloc") or 0),
        reason=reason[1] if reason else "",
    )


def _error(failed: NonZeroExit) -> SchedulerError:
    for words, problem, remedy in FAULTS:
        if words.lower() in failed.said.lower():
            return SchedulerError("Slurm", problem, remedy)
    said = failed.said or f"exit code {failed.code}"
    return SchedulerError("Slurm", f"refuses a command ({said})", "Run `scontrol ping` as railfab does")
