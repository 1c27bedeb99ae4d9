"""Nornir runs over the switches of a fabric: preview, apply, roll back, verify; and the journal of deploys."""

from railfab.deploy.cabling import Cabling, CablingGap, CablingState, LinkCabling, read_cabling
from railfab.deploy.drain import check_verb, operate, operate_all, remaining_in_turn, remaining_traffic
from railfab.deploy.drift import DriftState, SwitchDrift, drift, drift_all
from railfab.deploy.inventory import RailfabInventory
from railfab.deploy.journal import DeployRecord, Journal, OpenDeploy, new_change
from railfab.deploy.kept_sessions import KeptSessions
from railfab.deploy.run import Outcome, Preview, Readings, apply_all, nornir_of, preview_all, read_configurations
from railfab.deploy.tasks import configure, inspect, observe, preview, read_running
from railfab.deploy.upgrade import Upgraded, UpgradeLimits, UpgradeRun, drained_by_upgrades
from railfab.deploy.upgrade_tasks import end_drain, install, reload
from railfab.deploy.verify import Verification, verify_all
from railfab.deploy.waves import Wave, waves_of

__all__ = [
    "Cabling",
    "CablingGap",
    "CablingState",
    "DeployRecord",
    "DriftState",
    "Journal",
    "KeptSessions",
    "LinkCabling",
    "OpenDeploy",
    "Outcome",
    "Preview",
    "RailfabInventory",
    "Readings",
    "SwitchDrift",
    "UpgradeLimits",
    "UpgradeRun",
    "Upgraded",
    "Verification",
    "Wave",
    "apply_all",
    "check_verb",
    "configure",
    "drained_by_upgrades",
    "drift",
    "drift_all",
    "end_drain",
    "inspect",
    "install",
    "new_change",
    "nornir_of",
    "observe",
    "operate",
    "operate_all",
    "preview",
    "preview_all",
    "read_cabling",
    "read_configurations",
    "read_running",
    "reload",
    "remaining_in_turn",
    "remaining_traffic",
    "verify_all",
    "waves_of",
]
