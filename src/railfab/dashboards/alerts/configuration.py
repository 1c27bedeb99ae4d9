"""Alerts on configurations that differ from the intent, from the check that `railfab collect` and `up` repeat."""

from __future__ import annotations

from railfab.dashboards.alerts.terms import DEVICE, NOT_OVERLOADED, NUMBER
from railfab.dashboards.rules import Alert, AlertSeverity

CONFIGURATION = (
    Alert(
        alert="FabricConfigurationDrift",
        condition="fabric_configuration_findings > 0",
        severity=AlertSeverity.WARNING,
        summary=f"{DEVICE}: {NUMBER} differences to the intent ({{{{ $labels.code }}}})",
        description=(
            f"The running configuration differs from the intent: {NUMBER} findings of this code. `railfab verify` lists"
            " them and `railfab deploy --plan` shows the lines; deploy the intent, or change it."
        ),
    ),
    Alert(
        alert="FabricConfigurationHazard",
        condition="fabric_configuration_hazards > 0",
        severity=AlertSeverity.WARNING,
        summary=f"{DEVICE}: {NUMBER} hazards to RoCE in the running configuration ({{{{ $labels.code }}}})",
        description=(
            f"The running configuration has {NUMBER} settings of this kind that the switch accepts and that break or"
            " slow RoCE. `railfab verify` names them and their consequences; deploy the intent."
        ),
    ),
    Alert(
        alert="FabricConfigurationUnchecked",
        condition=(
            "time() - fabric_configuration_checked_timestamp_seconds\n"
            "> on (fabric) group_left () "
            "clamp_min(3 * max by (fabric) (fabric_configuration_check_interval_seconds), 900)\n"
            f"{NOT_OVERLOADED}"
        ),
        severity=AlertSeverity.WARNING,
        summary=f"{DEVICE}: configuration not compared with the intent for {{{{ $value | humanizeDuration }}}}",
        description=(
            "The running configuration could not be read for {{ $value | humanizeDuration }}, so that drift is not"
            " noticed. Read the log of the collector for the reason."
        ),
    ),
)
