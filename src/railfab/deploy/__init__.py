"""Nornir runs over the switches of a fabric: preview, roll out in waves, roll back, verify; the journal of deploys."""

from railfab.deploy.abort import abort_all
from railfab.deploy.cabling import Cabling, CablingGap, CablingState, LinkCabling, read_cabling
from railfab.deploy.change_plan import ChangePlan, plan_of, refuse_later_changes
from railfab.deploy.drain import check_verb, drained_now, operate, operate_all, remaining_in_turn, remaining_traffic
from railfab.deploy.drift import DriftState, SwitchDrift, drift, drift_all
from railfab.deploy.inventory import RailfabInventory
from railfab.deploy.journal import DeployRecord, Journal, OpenDeploy, new_change
from railfab.deploy.kept_sessions import KeptSessions
from railfab.deploy.replace import Replaced, Replacement
from railfab.deploy.risk import GroupLoss, WaveRisk, risk_of
from railfab.deploy.rollout import Rollout
from railfab.deploy.rollout_settings import Observer, RolloutResult, RolloutSettings
from railfab.deploy.run import Outcome, Preview, Readings, apply_all, nornir_of, preview_all, read_configurations
from railfab.deploy.snapshot import (
    FabricSnapshot,
    TakenSnapshot,
    check_writable,
    read_snapshot,
    take_snapshot,
    whole_configurations,
    write_snapshot,
)
from railfab.deploy.snapshot_diff import SnapshotDifference, SwitchDifference, compare_snapshots
from railfab.deploy.snapshot_target import SnapshotTarget, is_snapshot, snapshot_target
from railfab.deploy.tasks import configure, inspect, observe, preview, read_running
from railfab.deploy.upgrade import Upgraded, UpgradeLimits, UpgradeRun, drained_by_upgrades
from railfab.deploy.upgrade_tasks import end_drain, install, reload
from railfab.deploy.verify import Verification, verify_all
from railfab.deploy.waves import Wave, waves_of

__all__ = [
    "Cabling",
    "CablingGap",
    "CablingState",
    "ChangePlan",
    "DeployRecord",
    "DriftState",
    "FabricSnapshot",
    "GroupLoss",
    "Journal",
    "KeptSessions",
    "LinkCabling",
    "Observer",
    "OpenDeploy",
    "Outcome",
    "Preview",
    "RailfabInventory",
    "Readings",
    "Replaced",
    "Replacement",
    "Rollout",
    "RolloutResult",
    "RolloutSettings",
    "SnapshotDifference",
    "SnapshotTarget",
    "SwitchDifference",
    "SwitchDrift",
    "TakenSnapshot",
    "UpgradeLimits",
    "UpgradeRun",
    "Upgraded",
    "Verification",
    "Wave",
    "WaveRisk",
    "abort_all",
    "apply_all",
    "check_verb",
    "check_writable",
    "compare_snapshots",
    "configure",
    "drained_by_upgrades",
    "drained_now",
    "drift",
    "drift_all",
    "end_drain",
    "inspect",
    "install",
    "is_snapshot",
    "new_change",
    "nornir_of",
    "observe",
    "operate",
    "operate_all",
    "plan_of",
    "preview",
    "preview_all",
    "read_cabling",
    "read_configurations",
    "read_running",
    "read_snapshot",
    "refuse_later_changes",
    "reload",
    "remaining_in_turn",
    "remaining_traffic",
    "risk_of",
    "snapshot_target",
    "take_snapshot",
    "verify_all",
    "waves_of",
    "whole_configurations",
    "write_snapshot",
]
