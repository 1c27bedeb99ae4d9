"""The scheduler that an intent names, and the hosts that it is asked about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from railfab.deploy.schedulers.commands import SchedulerCommands
from railfab.deploy.schedulers.contract import Scheduler
from railfab.deploy.schedulers.kubeconfig import server_of_kubeconfig, server_of_pod
from railfab.deploy.schedulers.kubernetes import Kubernetes
from railfab.deploy.schedulers.slurm import Slurm
from railfab.fabric import Design
from railfab.fabric.host_names import HostNames, read_host_names
from railfab.topology import Role
from railfab.topology.outages import NicOfNet, outages


@dataclass(frozen=True, slots=True)
class HostsBehind:
    """GPU servers behind switches that forward nothing. cut_off: those of which a NIC, or one port of it that has an
    address of its own, has no path left. less_redundant: others of which a NIC has fewer. Both sorted.
    """

    cut_off: tuple[str, ...]
    less_redundant: tuple[str, ...]


def hosts_behind(fabric: Design, switches: Iterable[str]) -> HostsBehind:
    """The GPU servers that lose NICs, or redundancy, while all of these switches are out."""
    lost, names, nodes = outages(fabric.topology), frozenset(switches), fabric.topology.by_name

    def servers(nics: Iterable[NicOfNet]) -> set[str]:
        return {host for host, *_ in nics if nodes[host].role is Role.HOST}

    cut_off = servers(lost.stopped(names))
    return HostsBehind(tuple(sorted(cut_off)), tuple(sorted(servers(lost.nics_without(names)[1]) - cut_off)))


@dataclass(frozen=True, slots=True)
class WithoutHold:
    """A scheduler that is asked alone: it goes on to start jobs on all hosts."""

    scheduler: Scheduler

    @property
    def name(self) -> str:
        return self.scheduler.name

    def hold(self, hosts: Sequence[str], reason: str) -> Mapping[str, str]:  # noqa: ARG002
        return {}

    def busy(self, hosts: Sequence[str]) -> Mapping[str, str]:
        return self.scheduler.busy(hosts)

    def held(self, hosts: Sequence[str]) -> Mapping[str, str]:
        return self.scheduler.held(hosts)

    def release(self, hosts: Sequence[str], reason: str) -> tuple[str, ...]:
        return self.scheduler.release(hosts, reason)


def scheduler_of(fabric: Design, environment: Mapping[str, str]) -> Scheduler | None:
    """The scheduler in `change.scheduler` of the intent; None without one. Nothing is asked yet.

    environment: names the API server of the pod that railfab runs in. Raises RailfabError for the files that it names.
    """
    settings = fabric.intent.change.scheduler
    if settings is None:
        return None
    folder = fabric.path.parent
    names = read_host_names(folder / settings.hosts, fabric.topology) if settings.hosts else HostNames()
    scheduler: Scheduler
    if settings.kind == "slurm":
        scheduler = Slurm(SchedulerCommands(prefix=settings.command, folder=settings.folder), names)
    elif settings.kubeconfig is not None:
        path = folder / Path(settings.kubeconfig).expanduser()
        scheduler = Kubernetes(server_of_kubeconfig(path, settings.context), names)
    else:
        scheduler = Kubernetes(server_of_pod(environment), names)
    return scheduler if settings.action == "hold" else WithoutHold(scheduler)
