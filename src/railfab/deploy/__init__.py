"""Changes to switches with Nornir: diff, apply, read back, roll back, verify."""

from railfab.deploy.inventory import RailfabInventory, group_names
from railfab.deploy.previous import Previous, load_previous
from railfab.deploy.run import Outcome, apply_all, inspect_all, nornir_of, preview_all, read_configurations
from railfab.deploy.tasks import inspect, preview, read_running, reconcile
from railfab.deploy.verify import differences_unnamed, verify_all

__all__ = [
    "Outcome",
    "Previous",
    "RailfabInventory",
    "apply_all",
    "differences_unnamed",
    "group_names",
    "inspect",
    "inspect_all",
    "load_previous",
    "nornir_of",
    "preview",
    "preview_all",
    "read_configurations",
    "read_running",
    "reconcile",
    "verify_all",
]
