"""Alerts on telemetry itself, and on the twin. Maintenance of a switch silences those on its telemetry."""

from __future__ import annotations

from railfab.dashboards.alerts.terms import DEVICE, NOT_OVERLOADED, PERCENT
from railfab.dashboards.promql import pace
from railfab.dashboards.rules import Alert, AlertSeverity, Silence

SLOW_PACE = 0.25
"""A twin that simulates less than this share of real time takes minutes for what takes seconds."""

NOT_DIALED = "unless on (fabric, device) fabric_collector_session_state == 0"
"""A target that waits for its first dial, behind others or in an overload, is not known to be down."""

OBSERVATION = (
    Alert(
        alert="FabricTelemetryStale",
        condition=(
            "time() - (fabric_collector_last_update_timestamp_seconds > 0)"
            f" > clamp_min(3 * fabric_collector_sample_interval_seconds, 60) {NOT_OVERLOADED}"
        ),
        severity=AlertSeverity.WARNING,
        summary=f"{DEVICE}: no update of {{{{ $labels.subscription }}}} for {{{{ $value | humanizeDuration }}}}",
        description=(
            "The telemetry of this device is stale for {{ $value | humanizeDuration }}. Check"
            " fabric_collector_errors_total for the reason, then whether the gNMI server of the device answers."
        ),
    ),
    Alert(
        alert="FabricCollectorSessionDown",
        condition=f"max_over_time(fabric_collector_session_up[30s]) == 0\n{NOT_OVERLOADED}\n{NOT_DIALED}",
        lasting="30s",
        severity=AlertSeverity.CRITICAL,
        summary=f"{DEVICE} has no telemetry session",
        description=(
            "The collector receives no data from this device, so its other alerts cannot fire. The reason is in"
            " fabric_collector_errors_total: unreachable, login refused, TLS, and so on."
        ),
    ),
    Alert(
        alert="FabricTelemetryLagging",
        condition=(
            "max by (fabric, device) (max_over_time(fabric_collector_backlog_seconds[2m]))"
            " > 10 + 5 * max by (fabric, device) (fabric_collector_sample_interval_seconds)"
            f" {NOT_OVERLOADED}"
        ),
        severity=AlertSeverity.WARNING,
        summary=f"{DEVICE}: samples arrive {{{{ $value | humanizeDuration }}}} late",
        description=(
            "This device sends more slowly than it samples, so that its values are {{ $value | humanizeDuration }}"
            " older than at best. Check the path to it and the load of its gNMI server, or sample less often."
        ),
    ),
    Alert(
        alert="FabricCollectorOverloaded",
        condition="max by (fabric) (fabric_collector_overloaded) == 1",
        silence=Silence.NEVER,
        lasting="1m",
        severity=AlertSeverity.WARNING,
        summary="the collector reads its targets later than they send",
        description=(
            "The collector was late for half of the last 30 s. It keeps its sessions and begins none, and alerts on"
            " single targets wait until it keeps up. Give it more cores (`--processes`), or sample less often"
            " (`--interval`)."
        ),
    ),
    Alert(
        alert="FabricTwinSlow",
        condition=f"avg by (fabric) ({pace('1m')}) < {SLOW_PACE}",
        silence=Silence.NEVER,
        lasting="2m",
        severity=AlertSeverity.WARNING,
        summary=f"the twin simulates {PERCENT} of real time",
        description=(
            f"Fabric and job need more CPU than the twin gets: it simulates {PERCENT} of real time. Rates are"
            " those of a simulated second and remain right, but what happens in the twin takes longer, and alerts that"
            " wait count real time. Use a smaller fabric or job, raise --cpu of `railfab twin` or `railfab up`, or end"
            " other programs on this machine."
        ),
    ),
    Alert(
        alert="FabricTwinUnmodelled",
        condition="max by (fabric, device) (fabric_twin_unmodelled_leaves) > 0",
        severity=AlertSeverity.WARNING,
        summary=f"{DEVICE}: {{{{ $value }}}} lines of its configuration have no effect on the twin",
        description=(
            "The twin keeps {{ $value }} lines of this switch's configuration without simulating them, so that a"
            " mistake in them has no symptom here. `railfab twin status` lists them."
        ),
    ),
    Alert(
        alert="FabricTwinFailed",
        condition="fabric_twin_failure_info == 1",
        silence=Silence.NEVER,
        severity=AlertSeverity.CRITICAL,
        summary="the simulation failed: {{ $labels.error }}",
        description=(
            "An error stopped the job of the twin; its switches continue to answer, without traffic. The log of the"
            " twin has the traceback; start the job again, and report the error."
        ),
    ),
)
