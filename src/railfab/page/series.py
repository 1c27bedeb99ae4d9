"""A question for a series, and its answer from the history of the page."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

from railfab.page.history import KEPT, History, PastValues
from railfab.page.plan import PagePlan, QueueBounds
from railfab.page.security import RequestDeclined, query_number
from railfab.page.totals import number

PORT_METRICS = (*KEPT, "utilisation")
SWITCH_METRICS = ("sessions_up", "sent_gbps")
RAIL_METRIC = "rail_gbps"
JOB_METRICS = ("step_s", "communication_s", "compute_s")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesQuestion:
    """A metric of a port, a switch, a rail or a job, in a time [s, Unix]."""

    metric: str
    switch: str
    interface: str
    rail: int | None
    job: str
    from_s: float
    to_s: float

    @classmethod
    def of(cls, query: Mapping[str, str]) -> SeriesQuestion:
        """The question of a query. Raises RequestDeclined."""
        return cls(
            metric=query.get("metric", ""),
            switch=query.get("switch", ""),
            interface=query.get("interface", ""),
            rail=None if (rail := query_number(query, "rail")) is None else round(rail),
            job=query.get("job", ""),
            from_s=query_number(query, "from") or 0.0,
            to_s=query_number(query, "to") or time.time(),
        )


PastOfJob = Callable[[str, str], PastValues | None]
"""The past of a number of a job, by the names of both."""


class RingSeries:
    """Answers from the history that the page itself keeps. past_of_job: None where no job is known."""

    def __init__(self, plan: PagePlan, history: History, past_of_job: PastOfJob | None = None) -> None:
        self._plan, self._history, self._past_of_job = plan, history, past_of_job

    def answer(self, question: SeriesQuestion) -> dict[str, Any]:
        """The series as uPlot reads it. Raises RequestDeclined for what is not of the fabric."""
        past, label = self._past(question)
        is_asked = (past.at_s >= question.from_s) & (past.at_s <= question.to_s)
        values = [number(value) for value in past.values[is_asked].tolist()]
        return {
            "unit": past.unit,
            "columns": [past.at_s[is_asked].round(3).tolist(), values],
            "labels": [label],
            "thresholds": thresholds(self._plan, question),
        }

    def _past(self, question: SeriesQuestion) -> tuple[PastValues, str]:
        metric, plan = question.metric, self._plan
        if metric == RAIL_METRIC and question.rail in plan.rails:
            return self._history.of_rail(question.rail), f"rail {question.rail}"
        if metric in JOB_METRICS and self._past_of_job is not None:
            past = self._past_of_job(metric, question.job)
            if past is not None:
                return past, f"job {question.job}"
        switch = plan.switch_numbers.get(question.switch)
        if metric in SWITCH_METRICS and switch is not None:
            return self._history.of_switch(metric, switch), question.switch
        port = plan.port_numbers.get((question.switch, question.interface))
        if metric in PORT_METRICS and port is not None:
            return self._history.of_port(metric, port), f"{question.switch} {question.interface}"
        raise unknown_series(question)


def unknown_series(question: SeriesQuestion) -> RequestDeclined:
    """The refusal of a question for what is not of the fabric."""
    asked = " ".join(filter(None, (question.metric, question.switch, question.interface)))
    known = ", ".join((*PORT_METRICS, *SWITCH_METRICS, RAIL_METRIC, *JOB_METRICS))
    problem = f"there is no series {asked[:120]!r}: use one of {known} with a switch, port, rail or job of this fabric"
    return RequestDeclined(HTTPStatus.NOT_FOUND, problem)


def thresholds(plan: PagePlan, question: SeriesQuestion) -> list[dict[str, Any]]:
    """The lines of a chart: the thresholds of a queue, or the rate of a port."""
    port = plan.port_numbers.get((question.switch, question.interface))
    if port is None:
        return []
    if question.metric == "queue_bytes":
        names = (name.removesuffix("_bytes") for name in QueueBounds._fields)
        values = plan.bounds[port].tolist()
        return [{"name": name, "value": value} for name, value in zip(names, values, strict=True)]
    if question.metric in ("transmit_gbps", "receive_gbps"):
        return [{"name": "rate", "value": float(plan.rate_gbps[port])}]
    return []
