"""Nornir runs over the switches of a fabric: preview, apply, roll back, verify; and the journal of deploys."""

from railfab.deploy.cabling import Cabling, CablingState, LinkCabling
from railfab.deploy.drain import check_verb, operate, operate_all, remaining_traffic
from railfab.deploy.inventory import RailfabInventory
from railfab.deploy.journal import DeployRecord, Journal, OpenDeploy, new_change
from railfab.deploy.kept_sessions import KeptSessions
from railfab.deploy.run import Outcome, Preview, Readings, apply_all, nornir_of, preview_all, read_configurations
from railfab.deploy.tasks import configure, inspect, preview, read_running
from railfab.deploy.verify import Verification, verify_all

__all__ = [
    "Cabling",
    "CablingState",
    "DeployRecord",
    "Journal",
    "KeptSessions",
    "LinkCabling",
    "OpenDeploy",
    "Outcome",
    "Preview",
    "RailfabInventory",
    "Readings",
    "Verification",
    "apply_all",
    "check_verb",
    "configure",
    "inspect",
    "new_change",
    "nornir_of",
    "operate",
    "operate_all",
    "preview",
    "preview_all",
    "read_configurations",
    "read_running",
    "remaining_traffic",
    "verify_all",
]
