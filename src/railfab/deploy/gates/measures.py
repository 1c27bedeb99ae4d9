"""What the telemetry gate measures: of each check, values by series, from two readings of a window."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from math import inf

from railfab.deploy.gates import checks
from railfab.deploy.gates.contract import TelemetryReading, TelemetrySeries
from railfab.deploy.gates.rates import growth, rates, seconds
from railfab.topology import CabledPort

SENT = "fabric_interface_transmit_bytes_total"
MAINTENANCE = "fabric_maintenance_info"
DROPPED, QUEUE_DROPPED = "fabric_pfc_dropped_packets_total", "fabric_queue_dropped_packets_total"
PAUSED = ("fabric_pfc_receive_pause_estimated_seconds_total", "fabric_pfc_receive_pause_seconds_total")
PAUSES = "fabric_pfc_transmit_frames_total"
STORMS = "fabric_pfc_watchdog_storms_detected_total"
MARKED, QUEUE_SENT = "fabric_queue_ecn_marked_packets_total", "fabric_queue_transmit_packets_total"
ERRORS = (
    "fabric_interface_receive_errors_total",
    "fabric_interface_receive_fcs_errors_total",
    "fabric_interface_fec_uncorrected_codewords_total",
)
BIT_ERRORS = "fabric_interface_pre_fec_ber_ratio"
QUEUES = "fabric_roce_queue_info"
OF_SWITCHES = (
    SENT,
    DROPPED,
    QUEUE_DROPPED,
    *PAUSED,
    PAUSES,
    STORMS,
    MARKED,
    QUEUE_SENT,
    *ERRORS,
    BIT_ERRORS,
    QUEUES,
)
STEP_SUM, STEP_COUNT = "training_step_duration_seconds_sum", "training_step_duration_seconds_count"
RUNNING = "training_job_running"
OF_FABRIC = (STEP_SUM, STEP_COUNT, RUNNING, MAINTENANCE, SENT)
BYTES_OF_GB = 125e6
"""Bytes/s of a gigabit a second."""

PACKETS_S = 1000.0
"""Packets/s of a queue from which on its share of marks means something."""
LOADED = 0.01
"""Share of its rate that each host port of a rail sends where a job loads that rail as a whole."""
LEAST_RAIL = 1e8
"""Traffic of a rail from which on rails are compared [bytes/s]."""
STEPS = 3
"""Usual steps that a window has room for, where none has ended, for a job that stands still."""
Port = tuple[str, str]
"""Names of a switch and of one of its interfaces."""
Measures = Mapping[str, Mapping[str, float]]
"""By the name of their check, values by the text of their series."""


def switch_measures(before: TelemetryReading, after: TelemetryReading, switches: Collection[str]) -> Measures:
    """The values of ports and queues, and those of these switches as a whole."""
    measured: dict[str, dict[str, float]] = defaultdict(dict)
    rate, grown = rates(before, after), growth(before, after)
    queues = [series for series in after.values if series.metric == QUEUES]
    lossless = {(series.device, series["queue"]) for series in queues if series["priority"]}
    for series, per_s in rate.items():
        if series.metric == DROPPED or (
            series.metric == QUEUE_DROPPED and (series.device, series["queue"]) in lossless
        ):
            measured[checks.LOSSLESS_DROPS.name][str(series)] = per_s
        elif series.metric in PAUSED:
            measured[checks.PAUSED_TIME.name][str(series)] = min(per_s, 1.0)
        elif series.metric == STORMS:
            measured[checks.STORM.name][str(series)] = grown[series]
        elif series.metric in ERRORS:
            measured[checks.DAMAGED.name][str(series)] = 60 * per_s
    measured[checks.BITS.name] = {
        str(series): value for series, value in after.values.items() if series.metric == BIT_ERRORS
    }
    measured[checks.ECN.name] = dict(_marked(rate, after))
    measured[checks.UNMARKED.name] = dict(_unmarked(rate, switches))
    return measured


def _marked(rate: Mapping[TelemetrySeries, float], after: TelemetryReading) -> Iterator[tuple[str, float]]:
    """Share of packets that each busy queue of RoCE marks."""
    roce = {(series.device, series["queue"]) for series in after.values if series.metric == QUEUES}
    for series, marked in rate.items():
        if series.metric == MARKED and (series.device, series["queue"]) in roce:
            sent = rate.get(TelemetrySeries(QUEUE_SENT, series.labels), 0.0)
            if sent > PACKETS_S:
                yield str(series), marked / sent


def _unmarked(rate: Mapping[TelemetrySeries, float], switches: Collection[str]) -> Iterator[tuple[str, float]]:
    """Pause frames/s of each of these switches, zero where it marks packets."""
    sums: dict[tuple[str, str], float] = defaultdict(float)
    for series, per_s in rate.items():
        if series.metric in (PAUSES, MARKED) and series.device in switches:
            sums[series.metric, series.device] += per_s
    for (metric, device), pauses in sums.items():
        if metric == PAUSES:
            marks = sums.get((MARKED, device), 0.0)
            yield str(TelemetrySeries(PAUSES, (("device", device),))), 0.0 if marks else pauses


def rail_measures(before: TelemetryReading, after: TelemetryReading, ports: Mapping[int, list[CabledPort]]) -> Measures:
    """The share that each rail lacks of the traffic of the busiest one, where a job loads one of them as a whole.

    ports: the host ports of switches by rail. None while a switch is drained, which is uneven on purpose, and none of a
    rail whose switches have no new samples.
    """
    rate = rates(before, after)
    if any(series.metric == MAINTENANCE and series["reason"] == "drain" for series in after.values):
        return {}
    sent: dict[int, float] = {}
    loaded = False
    for rail, of_rail in ports.items():
        values = [rate.get(_sent(port)) for port in of_rail]
        known = [value for value in values if value is not None]
        if len(known) == len(values):
            sent[rail] = sum(known)
            loaded |= all(
                value > LOADED * port.rate_gbps * BYTES_OF_GB for value, port in zip(known, of_rail, strict=True)
            )
    most = max(sent.values(), default=0.0)
    if not loaded or most < LEAST_RAIL:
        return {}
    return {checks.RAILS.name: {f"{SENT} of rail {rail}": 1 - value / most for rail, value in sent.items()}}


def _sent(port: CabledPort) -> TelemetrySeries:
    return TelemetrySeries(SENT, (("device", port.node), ("interface", port.name)))


def step_measures(before: TelemetryReading, after: TelemetryReading, usual_s: Mapping[str, float]) -> Measures:
    """The mean time of the steps of each running job, of its slowest host [s].

    usual_s: that before the wave; a job that ends no step while several of these fit stands still: infinity.
    """
    grown = growth(before, after)
    window_s = max(seconds(before, after).values(), default=0.0)
    ended = {series["job_id"] for series, value in after.values.items() if series.metric == RUNNING and not value}
    times: dict[str, float] = {}
    for series, steps in grown.items():
        job = series["job_id"]
        if series.metric != STEP_COUNT or job in ended:
            continue
        name = str(TelemetrySeries("training_step_duration_seconds", (("job_id", job),)))
        if steps > 0:
            taken = grown.get(TelemetrySeries(STEP_SUM, series.labels), 0.0) / steps
            times[name] = max(taken, times.get(name, 0.0))
        elif STEPS * usual_s.get(name, inf) < window_s:
            times[name] = inf
    return {checks.STEP_TIME.name: times}
