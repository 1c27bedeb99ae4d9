"""Schedulers of jobs as a gate of a roll-out."""

from railfab.deploy.schedulers.commands import SchedulerCommands
from railfab.deploy.schedulers.contract import Scheduler, SchedulerError
from railfab.deploy.schedulers.idle import idle, released
from railfab.deploy.schedulers.kubeconfig import server_of_kubeconfig, server_of_pod
from railfab.deploy.schedulers.kubernetes import Kubernetes
from railfab.deploy.schedulers.slurm import Slurm

__all__ = [
    "Kubernetes",
    "Scheduler",
    "SchedulerCommands",
    "SchedulerError",
    "Slurm",
    "idle",
    "released",
    "server_of_kubeconfig",
    "server_of_pod",
]
