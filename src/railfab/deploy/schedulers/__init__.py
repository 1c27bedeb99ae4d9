"""Schedulers of jobs as a gate of a roll-out."""

from railfab.deploy.schedulers.commands import SchedulerCommands
from railfab.deploy.schedulers.contract import Scheduler, SchedulerError
from railfab.deploy.schedulers.idle import idle, released
from railfab.deploy.schedulers.slurm import Slurm

__all__ = ["Scheduler", "SchedulerCommands", "SchedulerError", "Slurm", "idle", "released"]
