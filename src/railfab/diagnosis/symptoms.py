"""Symptoms of a fabric: what its counters, ports, sessions and jobs show that a healthy one does not."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from statistics import median

from railfab.deploy.gates import TelemetrySeries
from railfab.diagnosis.model import FaultPlace, Symptom, SymptomKind
from railfab.diagnosis.observations import SESSION_UP, Observations, PortName

PFC_DROPS = "fabric_pfc_dropped_packets_total"
QUEUE_DROPS, QUEUE_SENT = "fabric_queue_dropped_packets_total", "fabric_queue_transmit_packets_total"
QUEUE_BYTES, MARKS = "fabric_queue_transmit_bytes_total", "fabric_queue_ecn_marked_packets_total"
DISCARDS = (
    ("fabric_interface_receive_discards_total", PFC_DROPS),
    ("fabric_interface_transmit_discards_total", QUEUE_DROPS),
)
"""Counters of discards, each with the counter of those that a full buffer explains."""
TRANSMIT_ERRORS = "fabric_interface_transmit_errors_total"
ERRORS = ("fabric_interface_receive_errors_total", "fabric_interface_receive_fcs_errors_total")
UNCORRECTED, BIT_ERRORS = "fabric_interface_fec_uncorrected_codewords_total", "fabric_interface_pre_fec_ber_ratio"
PAUSES_SENT, PAUSES_RECEIVED = "fabric_pfc_transmit_frames_total", "fabric_pfc_receive_frames_total"
STORMS = "fabric_pfc_watchdog_storms_detected_total"
TRANSITIONS = "fabric_interface_carrier_transitions_total"
BFD_UP = "fabric_bfd_session_up"
ROCE_QUEUES = "fabric_roce_queue_info"
STEP_SUM, STEP_COUNT = "training_step_duration_seconds_sum", "training_step_duration_seconds_count"
IDEAL, RUNNING = "training_step_ideal_seconds_total", "training_job_running"

ALERTS = "ALERTS"
"""Series of Prometheus itself, one for each alert that is pending or firing."""

PACKETS = 10
"""Packets in a window below which discards and queue drops are those of a change of routes."""
LOST_SHARE = 0.001
"""Share of the packets of a queue above which its drops are not those of a short burst."""
HOST_PAUSES = 10.0
"""Pause frames/s of a NIC; one that takes what it receives sends none."""
PAUSES_S = 200.0
"""Pause frames/s that a switch sends under more than a short burst."""
FLAPS = 3
"""Changes of a link's state in a window; a link that fails has one, one that was replaced two."""
LEAST_BIT_ERRORS = 1e-9
WRONG_CLASS_SHARE = 0.01
"""Share of a port's rate in lossy queues that RoCE does not leave there."""
STALLED_S = 15.0
"""Time in which no step ends, for a job whose ideal steps are far shorter [s]."""


def symptoms_of(seen: Observations) -> tuple[Symptom, ...]:
    """Every symptom, by kind in the order of SymptomKind, then by place."""
    order = list(SymptomKind)
    shown = chain.from_iterable(finder(seen) for finder in FINDERS)
    return tuple(sorted(shown, key=lambda symptom: (order.index(symptom.kind), symptom.place)))


def _lost(seen: Observations) -> Iterator[Symptom]:
    for port, packets in _ports(seen, (PFC_DROPS,)).items():
        if packets > 0:
            yield _symptom(SymptomKind.LOSSLESS_DROPS, port, "drops packets of a lossless class", packets, "packets")


def _queue_drops(seen: Observations) -> Iterator[Symptom]:
    sent = {series.labels: value for series, value in seen.window.grown(QUEUE_SENT)}
    for series, dropped in seen.window.grown(QUEUE_DROPS):
        share = dropped / (dropped + sent.get(series.labels, 0.0))
        if dropped > PACKETS and share > LOST_SHARE and _is_intended(seen, series):
            text = f"drops {share:.1%} of the packets of queue {series['queue']}"
            yield _symptom(SymptomKind.QUEUE_DROPS, _port(series), text, dropped, "packets")


def _discards(seen: Observations) -> Iterator[Symptom]:
    for metric, counted in DISCARDS:
        known = seen.window.port_growth((counted,))
        for port, packets in _ports(seen, (metric,)).items():
            if packets > PACKETS + 1.25 * known.get(port, 0.0):
                yield _symptom(SymptomKind.DISCARDS, port, "discards packets that no queue counts", packets, "packets")
    for port, packets in _ports(seen, (TRANSMIT_ERRORS,)).items():
        if packets > PACKETS:
            yield _symptom(SymptomKind.DISCARDS, port, "cannot send packets", packets, "packets")


def _damaged(seen: Observations) -> Iterator[Symptom]:
    limit = seen.fabric.intent.change.gates.errors
    for port, packets in _ports(seen, ERRORS).items():
        if packets > limit:
            yield _symptom(SymptomKind.DAMAGED, port, "receives damaged packets", packets, "packets")


def _bit_errors(seen: Observations) -> Iterator[Symptom]:
    """Ports with uncorrected codewords, and those with many times the bit errors of ports of their rate."""
    limit = seen.fabric.intent.change.gates.bit_errors
    ratios = {port: ratio for port, ratio in seen.window.port_values(BIT_ERRORS).items() if port in seen.ends}
    usual = _usual_ratios(seen, ratios)
    uncorrected = _ports(seen, (UNCORRECTED,))
    for port in ratios.keys() | uncorrected.keys():
        ratio, codewords = ratios.get(port, 0.0), uncorrected.get(port, 0.0)
        least = LEAST_BIT_ERRORS + limit * usual.get(seen.ends[port].port.rate_gbps, 0.0)
        if codewords > 0 or ratio > least:
            text = f"receives {ratio:.2g} of its bits wrong, {codewords:,.0f} codewords beyond correction"
            place = FaultPlace(*port)
            yield Symptom(
                kind=SymptomKind.BIT_ERRORS, place=place, text=text, value=f"{ratio:.2g}", limit=f"{least:.2g}"
            )


def _usual_ratios(seen: Observations, ratios: Mapping[PortName, float]) -> Mapping[int, float]:
    """Median of the bit errors of the ports of each rate: optics of 400G have some at their best."""
    by_rate: dict[int, list[float]] = {}
    for port, ratio in ratios.items():
        by_rate.setdefault(seen.ends[port].port.rate_gbps, []).append(ratio)
    return {rate: median(values) for rate, values in by_rate.items()}


def _pauses(seen: Observations) -> Iterator[Symptom]:
    for series, storms in seen.window.grown(STORMS):
        if _is_intended(seen, series):
            text = "has a lossless queue that a pause held until the watchdog acted"
            yield _symptom(SymptomKind.STORM, _port(series), text, storms, "storms")
    for port, rate in _rates(seen, PAUSES_RECEIVED).items():
        if rate > HOST_PAUSES and seen.ends[port].is_host:
            text = f"is paused by {seen.ends[port].peer.node}"
            yield _symptom(SymptomKind.HOST_PAUSES, port, text, rate, "frames/s", f"{HOST_PAUSES:g}")


def _switch_pauses(seen: Observations) -> Iterator[Symptom]:
    """Switches that ask for many pauses, and those among them that mark nothing."""
    sent: dict[str, float] = {}
    for (switch, _), rate in _rates(seen, PAUSES_SENT).items():
        sent[switch] = sent.get(switch, 0.0) + rate
    marking = {series.device for series, _ in seen.window.grown(MARKS)}
    for switch, rate in sent.items():
        if rate > seen.fabric.intent.change.gates.unmarked_pauses and switch not in marking:
            text = "sends pause frames and marks no packet"
            yield _symptom(SymptomKind.UNMARKED_PAUSES, (switch, ""), text, rate, "frames/s")
        elif rate > PAUSES_S:
            yield _symptom(SymptomKind.PAUSES, (switch, ""), "sends pause frames", rate, "frames/s", f"{PAUSES_S:g}")


def _wrong_class(seen: Observations) -> Iterator[Symptom]:
    """Ports that carry much in lossy queues, and next to nothing in those of RoCE."""
    roce = {(series.device, series["queue"]) for series, _ in seen.window.latest(ROCE_QUEUES)}
    lossless: dict[PortName, float] = {}
    lossy: dict[PortName, float] = {}
    for series, rate in seen.window.rates(QUEUE_BYTES):
        if _is_intended(seen, series):
            sums = lossless if (series.device, series["queue"]) in roce else lossy
            sums[_port(series)] = sums.get(_port(series), 0.0) + rate
    for port, rate in lossy.items():
        limit = WRONG_CLASS_SHARE * seen.ends[port].port.rate_gbps * 125e6
        if roce and rate > limit and 10 * lossless.get(port, 0.0) < rate:
            text = "carries RoCE outside its lossless class"
            yield _symptom(SymptomKind.WRONG_CLASS, port, text, rate / 125e6, "Gb/s")


def _links(seen: Observations) -> Iterator[Symptom]:
    for port, end in seen.ends.items():
        if seen.is_up(port) is False:
            off = " (disabled)" if seen.is_enabled(port) is False else ""
            text = f"is down{off}, its link to {end.peer.node} does not work"
            yield Symptom(kind=SymptomKind.LINK_DOWN, place=FaultPlace(*port), text=text)
    for port, changes in _ports(seen, (TRANSITIONS,)).items():
        if changes >= FLAPS:
            yield _symptom(SymptomKind.FLAP, port, "went down and up again", changes, "changes", f"{FLAPS}")


def _sessions(seen: Observations) -> Iterator[Symptom]:
    """Sessions of BGP and BFD that are down, at the ports of their neighbors where these are at the end of a cable."""
    for metric, kind, name in ((SESSION_UP, SymptomKind.SESSION_DOWN, "BGP"), (BFD_UP, SymptomKind.BFD_DOWN, "BFD")):
        for series, up in seen.window.latest(metric):
            if not up and series.device in seen.fabric.models and series.device not in seen.silent:
                port = seen.session_ports.get((series.device, series["peer"]), (series.device, ""))
                yield Symptom(kind=kind, place=FaultPlace(*port), text=f"has no {name} session with {series['peer']}")


def _unreachable(seen: Observations) -> Iterator[Symptom]:
    for name in seen.silent:
        yield Symptom(kind=SymptomKind.SILENT, place=FaultPlace(name), text="sends no telemetry")
    for name, error in seen.unread.items():
        yield Symptom(kind=SymptomKind.UNREAD, place=FaultPlace(name), text=f"could not be read: {error.problem}")


def _alerts(seen: Observations) -> Iterator[Symptom]:
    """Alerts that fire in the Prometheus from which the telemetry comes; a collector has none."""
    for series, fires in seen.window.latest(ALERTS):
        if fires and series["alertstate"] == "firing":
            place = FaultPlace(series.device, series["interface"], series["host"])
            if place == FaultPlace() and series["job_id"]:
                place = FaultPlace.of_job(series["job_id"])
            text = f"has the alert {series['alertname']}"
            yield Symptom(kind=SymptomKind.ALERT, place=place, text=text, value=series["severity"])


def _jobs(seen: Observations) -> Iterator[Symptom]:
    """Jobs that end no steps, and those whose steps take much longer than their ideal."""
    window, limit = seen.window, seen.fabric.intent.change.gates.step_time
    running = {series["job_id"] for series, value in window.latest(RUNNING) if value}
    most = {metric: _most_by_job(window.growth, metric) for metric in (STEP_SUM, STEP_COUNT, IDEAL)}
    longest_s = max(window.seconds.values(), default=0.0)
    for job in sorted(running):
        steps, ideal_s = most[STEP_COUNT].get(job, 0.0), most[IDEAL].get(job, 0.0)
        taken_s = most[STEP_SUM].get(job, 0.0)
        place = FaultPlace.of_job(job)
        if not steps and longest_s > STALLED_S and _usual_step_s(seen, job) * 3 < longest_s:
            yield Symptom(kind=SymptomKind.JOB_STALLED, place=place, text=f"has ended no step for {longest_s:.0f} s")
        elif steps and ideal_s and taken_s > limit * ideal_s:
            yield Symptom(
                kind=SymptomKind.JOB_SLOW,
                place=place,
                text=f"takes {taken_s / ideal_s:.1f} times as long as its ideal steps",
                value=f"{taken_s / steps:.3g} s a step",
                limit=f"{limit * ideal_s / steps:.3g} s",
            )


def _usual_step_s(seen: Observations, job: str) -> float:
    """Mean time of all steps of a job so far [s]; infinite before the first."""
    values = seen.window.last
    pairs = [
        (values.get(TelemetrySeries(STEP_SUM, series.labels), 0.0), count)
        for series, count in seen.window.latest(STEP_COUNT)
        if series["job_id"] == job and count
    ]
    return max((taken / count for taken, count in pairs), default=float("inf"))


def _most_by_job(values: Mapping[TelemetrySeries, float], metric: str) -> Mapping[str, float]:
    most: dict[str, float] = {}
    for series, value in values.items():
        if series.metric == metric:
            most[series["job_id"]] = max(value, most.get(series["job_id"], 0.0))
    return most


def _ports(seen: Observations, metrics: tuple[str, ...]) -> Mapping[PortName, float]:
    """The growth of counters by port of the intent."""
    return {port: value for port, value in seen.window.port_growth(metrics).items() if port in seen.ends}


def _rates(seen: Observations, metric: str) -> Mapping[PortName, float]:
    """The growth of a counter a second, by port of the intent."""
    rates: dict[PortName, float] = {}
    for series, rate in seen.window.rates(metric):
        if _is_intended(seen, series):
            rates[_port(series)] = rates.get(_port(series), 0.0) + rate
    return rates


def _is_intended(seen: Observations, series: TelemetrySeries) -> bool:
    return _port(series) in seen.ends


def _port(series: TelemetrySeries) -> PortName:
    return series.device, series["interface"]


def _symptom(kind: SymptomKind, port: PortName, text: str, value: float, unit: str, limit: str = "") -> Symptom:
    return Symptom(kind=kind, place=FaultPlace(*port), text=text, value=f"{_number(value)} {unit}", limit=limit)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


FINDERS: tuple[Callable[[Observations], Iterator[Symptom]], ...] = (
    _jobs,
    _lost,
    _queue_drops,
    _discards,
    _damaged,
    _bit_errors,
    _pauses,
    _switch_pauses,
    _wrong_class,
    _links,
    _sessions,
    _unreachable,
    _alerts,
)
