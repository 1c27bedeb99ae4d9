"""Alerts on training jobs, from the metrics that jobs or the twin expose. Maintenance does not silence them."""

from __future__ import annotations

from railfab.dashboards.alerts.terms import LIMITS, NUMBER
from railfab.dashboards.promql import held, wall_seconds
from railfab.dashboards.rules import Alert, AlertSeverity, Silence

STEP_S = "job_id:training_step_duration_seconds:mean1m"
STEPS = "max by (fabric, job_id) (increase(training_step_duration_seconds_count[{}]))"
SECONDS = "max by (fabric, job_id) (increase(training_step_duration_seconds_sum[{}]))"
RATE = "max by (fabric, job_id) (rate(training_step_{}[1m]))"
OVER_IDEAL = f"{RATE.format('duration_seconds_sum')} / on (fabric, job_id) ({RATE.format('ideal_seconds_total')} > 0)"
USUAL_S = f"{SECONDS.format('30m')} / on (fabric, job_id) ({STEPS.format('30m')} > 0)"

JOBS = (
    Alert(  # long steps are not judged: six of the usual length fit into the window, of real time
        alert="FabricJobStalled",
        condition=(
            f"{wall_seconds(USUAL_S)} < 10\n"
            f"and on (fabric, job_id) {STEPS.format('1m')} == 0\n"
            f"unless on (fabric, job_id) {held('training_job_running', '1m')} == 0"
        ),
        silence=Silence.NEVER,
        lasting="15s",
        severity=AlertSeverity.CRITICAL,
        summary="Job {{ $labels.job_id }} has ended no step for a minute",
        description=(
            f"Steps of this job usually take {NUMBER} s, and none has ended within a minute. Look for ports and"
            " prefixes that are missing, then for the first host whose traffic stopped."
        ),
    ),
    Alert(
        alert="FabricJobSlow",
        condition=(
            f"{OVER_IDEAL} > {LIMITS.step_time:g}\n"
            f"or on (fabric, job_id) {STEP_S} / on (fabric, job_id) min_over_time({STEP_S}[1h])"
            f" > {LIMITS.step_time:g}\n"
            "unless on (fabric, job_id) training_step_ideal_seconds_total"
        ),
        silence=Silence.NEVER,
        lasting="30s",
        severity=AlertSeverity.WARNING,
        summary='Job {{ $labels.job_id }}: steps take {{ printf "%.1f" $value }} times as long as they should',
        description=(
            'Steps of this job take {{ printf "%.1f" $value }} times as long as its ideal ones, or without these as in'
            " the best minute of the last hour. Look for drops, pauses, marks and uneven uplinks at this time; without"
            " any, the cause is in a host."
        ),
    ),
)
