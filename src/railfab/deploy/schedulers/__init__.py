"""Schedulers of jobs as a gate of a roll-out."""

from railfab.deploy.schedulers.contract import Scheduler, SchedulerError
from railfab.deploy.schedulers.idle import idle, released

__all__ = ["Scheduler", "SchedulerError", "idle", "released"]
