"""Nornir runs over the switches of a fabric: preview, apply, roll back, verify."""

from railfab.deploy.inventory import RailfabInventory
from railfab.deploy.previous_configurations import PreviousConfigurations, load_previous
from railfab.deploy.run import Outcome, apply_all, inspect_all, nornir_of, preview_all, read_configurations
from railfab.deploy.tasks import inspect, preview, read_running, reconcile
from railfab.deploy.verify import unmodelled_differences, verify_all

__all__ = [
    "Outcome",
    "PreviousConfigurations",
    "RailfabInventory",
    "apply_all",
    "inspect",
    "inspect_all",
    "load_previous",
    "nornir_of",
    "preview",
    "preview_all",
    "read_configurations",
    "read_running",
    "reconcile",
    "unmodelled_differences",
    "verify_all",
]
