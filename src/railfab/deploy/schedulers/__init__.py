"""Schedulers of jobs as a gate of a roll-out."""

from railfab.deploy.schedulers.commands import SchedulerCommands
from railfab.deploy.schedulers.configured import HostsBehind, hosts_behind, scheduler_of
from railfab.deploy.schedulers.contract import Scheduler, SchedulerError
from railfab.deploy.schedulers.idle import idle, released
from railfab.deploy.schedulers.kubernetes import Kubernetes
from railfab.deploy.schedulers.slurm import Slurm

__all__ = [
    "HostsBehind",
    "Kubernetes",
    "Scheduler",
    "SchedulerCommands",
    "SchedulerError",
    "Slurm",
    "hosts_behind",
    "idle",
    "released",
    "scheduler_of",
]
