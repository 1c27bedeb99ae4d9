"""Series of the past from a Prometheus, which keeps them longer than the page does."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from typing import Any

from railfab.dashboards.promql import simulated_rate
from railfab.endpoints.http_client import HttpClient
from railfab.errors import EndpointError
from railfab.page.plan import PagePlan
from railfab.page.series import PORT_METRICS, RAIL_METRIC, SWITCH_METRICS, RingSeries, SeriesQuestion, thresholds
from railfab.page.totals import number
from railfab.units import BITS_PER_BYTE
from railfab.yaml_reader.sections import Faulty, values_in

RANGE, ALERTS, CONFIGURATION = "/api/v1/query_range", "/api/v1/alerts", "/api/v1/status/config"
DEFAULT_SCRAPE_S = 15.0
"""Where a Prometheus does not tell [s]."""
DURATION = re.compile(r"([0-9.]+)(ms|s|m|h|d)")
UNITS_S = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
MOST_POINTS = 600
WINDOW = "1m"
LONGEST_S = 14 * 86_400.0
"""The longest time of one question [s]."""
GBPS = f"* {BITS_PER_BYTE} / 1e9"


@dataclass(frozen=True, slots=True)
class PrometheusPast:
    """A Prometheus that is asked for the past and for alerts. path: of its URL, without a slash at the end."""

    client: HttpClient
    path: str

    def scrape_interval_s(self) -> float:
        """The longest time between two scrapes, as it is configured [s]. Raises EndpointError."""
        answer = self.client.request(self.path + CONFIGURATION)
        try:
            configuration, _ = values_in(json.loads(answer.body)["data"]["yaml"])
            jobs = configuration.get("scrape_configs") or ()
            texts = [job["scrape_interval"] for job in jobs if "scrape_interval" in job]
            return max(map(_seconds, texts), default=DEFAULT_SCRAPE_S)
        except (AttributeError, KeyError, TypeError, ValueError, Faulty):
            return DEFAULT_SCRAPE_S

    def points(self, expr: str, from_s: float, to_s: float, step_s: float) -> list[list[Any]]:
        """Times and values of the first series, None where there is none. Raises EndpointError."""
        form = {"query": expr, "start": f"{from_s:.3f}", "end": f"{to_s:.3f}", "step": f"{step_s:.3f}"}
        answer = self.client.request(self.path + RANGE, form=form)
        try:
            result = json.loads(answer.body)["data"]["result"]
            known = {round(float(at_s), 3): float(value) for at_s, value in (result[0]["values"] if result else ())}
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise self.invalid() from None
        times = [round(from_s + place * step_s, 3) for place in range(int((to_s - from_s) / step_s) + 1)]
        return [times, [number(known.get(at_s, math.nan)) for at_s in times]]

    def alerts(self) -> list[dict[str, Any]]:
        """Its alerts, firing or pending. Raises EndpointError."""
        answer = self.client.request(self.path + ALERTS)
        try:
            return [
                {"state": str(alert["state"]), "labels": dict(alert["labels"]), "notes": dict(alert["annotations"])}
                for alert in json.loads(answer.body)["data"]["alerts"]
            ]
        except (AttributeError, KeyError, TypeError, ValueError):
            raise self.invalid() from None

    def invalid(self) -> EndpointError:
        """The error of an answer that is none."""
        return self.client.failed("invalid", "answers not as Prometheus does", "Check its URL")


def _seconds(duration: str) -> float:
    """The time of a duration of Prometheus, such as `1m30s` [s]. Raises ValueError."""
    parts = DURATION.findall(duration)
    if not parts:
        raise ValueError(duration)
    return sum(float(count) * UNITS_S[unit] for count, unit in parts)


class RangeSeries:
    """Answers from a Prometheus. ring: of the page, for what it does not have, and while it does not answer."""

    def __init__(self, plan: PagePlan, past: PrometheusPast, ring: RingSeries, *, step_s: float) -> None:
        self._plan, self._past, self._ring, self._step_s = plan, past, ring, step_s

    def answer(self, question: SeriesQuestion) -> dict[str, Any]:
        """The series as uPlot reads it. Raises RequestDeclined for what is not of the fabric."""
        ring = self._ring.answer(question)
        expr = self._expr(question)
        if expr is None:
            return ring
        from_s = max(question.from_s or question.to_s - 1800.0, question.to_s - LONGEST_S)
        step_s = max(self._step_s, (question.to_s - from_s) / MOST_POINTS)
        try:
            points = self._past.points(expr, from_s, question.to_s, step_s)
        except EndpointError:
            return ring
        return {**ring, "columns": points, "thresholds": thresholds(self._plan, question)}

    def _expr(self, question: SeriesQuestion) -> str | None:
        """The query of a series; None of one that Prometheus does not have, such as the steps of a job."""
        of_fabric = _matcher("fabric", self._plan.fabric)
        device = _matcher("device", question.switch)
        port = (of_fabric, device, _matcher("interface", question.interface))
        sent = "fabric_interface_transmit_bytes_total"
        if question.metric in PORT_METRICS:
            return self._of_port(question, *port)
        if question.metric in SWITCH_METRICS:
            rate = f"sum({simulated_rate(sent, WINDOW, of_fabric, device)}) {GBPS}"
            return rate if question.metric == "sent_gbps" else f"sum(fabric_bgp_session_up{{{of_fabric}, {device}}})"
        if question.metric == RAIL_METRIC and question.rail is not None:
            rate = simulated_rate(sent, WINDOW, of_fabric)
            rail = f'fabric_interface_info{{{of_fabric}, rail="{question.rail}"}}'
            return f"sum(({rate}) and on (fabric, device, interface) {rail}) {GBPS}"
        return None

    def _of_port(self, question: SeriesQuestion, *port: str) -> str | None:
        queues = "|".join(sorted(self._plan.roce_queues.get(question.switch, ())))
        roce = (*port, f"queue=~{json.dumps(queues)}")

        def rate(name: str, *matchers: str) -> str:
            return f"sum({simulated_rate(name, WINDOW, *matchers)})"

        sent = f"{rate('fabric_interface_transmit_bytes_total', *port)} {GBPS}"
        received = f"{rate('fabric_interface_receive_bytes_total', *port)} {GBPS}"
        packets = rate("fabric_queue_transmit_packets_total", *roce)
        pauses = [rate(f"fabric_pfc_{way}_frames_total", *port) for way in ("transmit", "receive")]
        drops = [
            _of_known("max", rate(f"fabric_{part}_dropped_packets_total", *port), rate(discards, *port))
            for part, discards in (
                ("queue", "fabric_interface_transmit_discards_total"),
                ("pfc", "fabric_interface_receive_discards_total"),
            )
        ]
        place = self._plan.port_numbers[question.switch, question.interface]
        return {
            "transmit_gbps": sent,
            "receive_gbps": received,
            "utilisation": f"({sent} > {received} or {received}) / {self._plan.ports[place].rate_gbps}",
            "queue_bytes": f"max(fabric_queue_depth_bytes{{{', '.join(roce)}}})",
            "ecn_share": f"{rate('fabric_queue_ecn_marked_packets_total', *roce)} / ({packets} > 0) or {packets} * 0",
            "pause_frames_per_s": _of_known("sum", *pauses),
            "drops_per_s": _of_known("sum", *drops),
        }.get(question.metric)


def _of_known(fold: str, *exprs: str) -> str:
    """An expression of those that have a value; nothing where none has."""
    labelled = (f'label_replace({expr}, "part", "{place}", "", "")' for place, expr in enumerate(exprs))
    return f"{fold}({' or '.join(labelled)})"


def _matcher(label: str, value: str) -> str:
    return f"{label}={json.dumps(value)}"
