"""Series of the past from a Prometheus, which keeps them longer than the page does."""

from __future__ import annotations

import json
from typing import Any

from railfab.dashboards.promql import simulated_rate
from railfab.endpoints.http_client import HttpClient
from railfab.errors import EndpointError
from railfab.page.plan import PagePlan
from railfab.page.series import PORT_METRICS, RAIL_METRIC, SWITCH_METRICS, RingSeries, SeriesQuestion, thresholds
from railfab.page.totals import number
from railfab.units import BITS_PER_BYTE

RANGE, ALERTS = "/api/v1/query_range", "/api/v1/alerts"
MOST_POINTS = 600
WINDOW = "1m"
LONGEST_S = 14 * 86_400.0
"""The longest time of one question [s]."""
GBPS = f"* {BITS_PER_BYTE} / 1e9"


class RangeSeries:
    """Answers from a Prometheus. ring: of the page, for what it does not have, and while it does not answer."""

    def __init__(self, plan: PagePlan, client: HttpClient, path: str, ring: RingSeries, *, step_s: float) -> None:
        self._plan, self._client, self._path, self._ring, self._step_s = plan, client, path, ring, step_s

    def answer(self, question: SeriesQuestion) -> dict[str, Any]:
        """The series as uPlot reads it. Raises RequestRefused for what is not of the fabric."""
        ring = self._ring.answer(question)
        expr = self._expr(question)
        if expr is None:
            return ring
        from_s = max(question.from_s or question.to_s - 1800.0, question.to_s - LONGEST_S)
        step_s = max(self._step_s, (question.to_s - from_s) / MOST_POINTS)
        try:
            points = self._points(expr, from_s, question.to_s, step_s)
        except EndpointError:
            return ring
        return {**ring, "columns": points, "thresholds": thresholds(self._plan, question)}

    def _points(self, expr: str, from_s: float, to_s: float, step_s: float) -> list[list[Any]]:
        """Times and values, None where there is none. Raises EndpointError."""
        form = {"query": expr, "start": f"{from_s:.3f}", "end": f"{to_s:.3f}", "step": f"{step_s:.3f}"}
        answer = self._client.request(self._path + RANGE, form=form)
        try:
            result = json.loads(answer.body)["data"]["result"]
            known = {float(at_s): float(value) for at_s, value in (result[0]["values"] if result else ())}
        except (AttributeError, IndexError, KeyError, TypeError, ValueError):
            raise self._client.failed("invalid", "answers not as Prometheus does", "Check its URL") from None
        count = int((to_s - from_s) / step_s) + 1
        times = [round(from_s + place * step_s, 3) for place in range(count)]
        rounded = {round(at_s, 3): value for at_s, value in known.items()}
        return [times, [number(rounded.get(at_s, float("nan"))) for at_s in times]]

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
        place = self._plan.port_numbers[question.switch, question.interface]
        return {
            "transmit_gbps": sent,
            "receive_gbps": received,
            "utilisation": f"({sent} > {received} or {received}) / {self._plan.ports[place].rate_gbps}",
            "queue_bytes": f"max(fabric_queue_depth_bytes{{{', '.join(roce)}}})",
            "ecn_share": f"{rate('fabric_queue_ecn_marked_packets_total', *roce)} / ({packets} > 0) or {packets} * 0",
            "pause_frames_per_s": f"{pauses[0]} + {pauses[1]}",
            "drops_per_s": rate("fabric_queue_dropped_packets_total", *port),
        }.get(question.metric)


def _matcher(label: str, value: str) -> str:
    return f"{label}={json.dumps(value)}"
