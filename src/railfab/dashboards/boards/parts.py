"""Panels and expressions that several boards have."""

from __future__ import annotations

from railfab.dashboards.board import GREEN, ORANGE, RED, Listing, Query
from railfab.dashboards.selection import alerts, selector

STALE_AFTER_S = 60
SILENT_DEVICES = (
    "max by (fabric, device) ((time()"
    f" - {selector('fabric_collector_last_update_timestamp_seconds')} > bool {STALE_AFTER_S})"
    f" or ({selector('fabric_collector_session_up')} == bool 0))"
)
"""1 for each switch without telemetry session or without update, 0 for each other one."""

BGP_STATES = {
    "1": ("idle", RED),
    "2": ("connect", ORANGE),
    "3": ("active", ORANGE),
    "4": ("opensent", ORANGE),
    "5": ("openconfirm", ORANGE),
    "6": ("established", GREEN),
}
BFD_STATES = {"0": ("down", RED), "1": ("up", GREEN)}
UP_STATES = BFD_STATES


def active_alerts(names: tuple[str, ...]) -> Listing:
    """The alerts of these names that are firing or pending; of no name: all."""
    return Listing(
        title="Active alerts",
        description="Alerts on the question of this board that are firing or pending; a click leads to the runbook.",
        queries=(
            Query(f"max by (alertstate, severity, alertname, fabric, device, interface, peer) ({alerts(names)})"),
        ),
        empty="none",
        columns={
            "alertstate": "State",
            "severity": "Severity",
            "alertname": "Alert",
            "fabric": "Fabric",
            "device": "Switch",
            "interface": "Port",
            "peer": "Peer",
        },
        first="State",
    )
