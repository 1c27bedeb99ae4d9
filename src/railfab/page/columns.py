"""The columns of a reading: which series of the catalogue add up to which number of a port, switch or session."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from railfab.page.plan import PagePlan

Labels = Mapping[str, str]
Numbers = NDArray[np.float64]


class Fold(StrEnum):
    """How the series of one place become a number."""

    SUM = "sum"
    MAX = "max"


class Queues(StrEnum):
    """The queues whose series count."""

    ALL = "all"
    ROCE = "roce"
    LOSSLESS = "lossless"


@dataclass(frozen=True, slots=True)
class Column:
    """A number of each port, or of each switch. metrics: of the catalogue. labels: that a series must have."""

    name: str
    metrics: tuple[str, ...]
    fold: Fold = Fold.SUM
    queues: Queues = Queues.ALL
    labels: Mapping[str, str] = field(default_factory=dict)


PORT_COLUMNS = (
    Column("transmit_bytes", ("fabric_interface_transmit_bytes_total",)),
    Column("receive_bytes", ("fabric_interface_receive_bytes_total",)),
    Column("queue_bytes", ("fabric_queue_depth_bytes",), Fold.MAX, Queues.ROCE),
    Column("marked_packets", ("fabric_queue_ecn_marked_packets_total",), queues=Queues.ROCE),
    Column("sent_packets", ("fabric_queue_transmit_packets_total",), queues=Queues.ROCE),
    Column("pauses_sent", ("fabric_pfc_transmit_frames_total",)),
    Column("pauses_received", ("fabric_pfc_receive_frames_total",)),
    Column("lossless_drops", ("fabric_queue_dropped_packets_total",), queues=Queues.LOSSLESS),
    Column("ingress_drops", ("fabric_pfc_dropped_packets_total",)),
    Column("drops", ("fabric_queue_dropped_packets_total",)),
    Column("receive_discards", ("fabric_interface_receive_discards_total",)),
    Column("transmit_discards", ("fabric_interface_transmit_discards_total",)),
    Column("is_up", ("fabric_interface_oper_up",), Fold.MAX),
    Column("bit_error_ratio", ("fabric_interface_pre_fec_ber_ratio",), Fold.MAX),
    Column("uncorrected_codewords", ("fabric_interface_fec_uncorrected_codewords_total",)),
)
"""Of ports. Counters are kept as they are: rates are computed between two samples of a switch."""

SWITCH_COLUMNS = (
    Column("is_streaming", ("fabric_collector_session_up",), Fold.MAX),
    Column(
        "arrived_s", ("fabric_collector_last_update_timestamp_seconds",), Fold.MAX, labels={"subscription": "sample"}
    ),
    Column("lag_s", ("fabric_collector_ingest_lag_seconds",), Fold.MAX),
    Column("simulated_s", ("fabric_twin_simulated_seconds_total",), Fold.MAX),
    Column("overloaded", ("fabric_collector_overloaded",), Fold.MAX),
    Column("drained", ("fabric_maintenance_info",), labels={"reason": "drain"}),
    Column("deploying", ("fabric_maintenance_info",), labels={"reason": "deploy"}),
    Column("differences", ("fabric_configuration_findings", "fabric_configuration_hazards")),
)
"""Of switches."""

SESSION = "fabric_bgp_session_up"
METRICS = frozenset((SESSION, *(metric for column in (*PORT_COLUMNS, *SWITCH_COLUMNS) for metric in column.metrics)))
"""The metrics that a source needs."""


class VectorLayout:
    """Where the numbers of a plan are in one vector: columns of ports, columns of switches, sessions."""

    def __init__(self, plan: PagePlan) -> None:
        self._plan = plan
        self._switches_at = len(PORT_COLUMNS) * len(plan.ports)
        self._sessions_at = self._switches_at + len(SWITCH_COLUMNS) * len(plan.switches)
        self.size = self._sessions_at + len(plan.sessions)
        self._of_ports = _by_metric(PORT_COLUMNS)
        self._of_switches = _by_metric(SWITCH_COLUMNS)
        self.is_sum = self._sums()

    def places(self, metric: str, labels: Labels) -> Iterator[int]:
        """The places that a series counts at; none for one that is not of the plan."""
        device = labels.get("device", "")
        switch = self._plan.switch_numbers.get(device)
        if switch is None:
            return
        if metric == SESSION:
            number = self._plan.session_numbers.get((device, labels.get("peer", "")))
            yield from () if number is None else (self._sessions_at + number,)
            return
        for place, column in self._of_switches.get(metric, ()):
            if column.labels.items() <= labels.items():
                yield self._switches_at + place * len(self._plan.switches) + switch
        port = self._plan.port_numbers.get((device, labels.get("interface", "")))
        if port is not None:
            for place, column in self._of_ports.get(metric, ()):
                if self._counts(column, device, labels):
                    yield place * len(self._plan.ports) + port

    def folded(self, places: NDArray[np.int64], values: Numbers) -> Numbers:
        """One vector of these values; NaN where there is none."""
        sums = np.bincount(places, values, minlength=self.size).astype(np.float64)
        highest = np.full(self.size, -np.inf)
        np.maximum.at(highest, places, values)
        folded = np.where(self.is_sum, sums, highest)
        folded[np.bincount(places, minlength=self.size) == 0] = np.nan
        return folded

    def of_ports(self, vector: Numbers) -> dict[str, Numbers]:
        """The columns of ports of a vector."""
        return _split(vector[: self._switches_at], PORT_COLUMNS)

    def of_switches(self, vector: Numbers) -> dict[str, Numbers]:
        """The columns of switches of a vector."""
        return _split(vector[self._switches_at : self._sessions_at], SWITCH_COLUMNS)

    def of_sessions(self, vector: Numbers) -> Numbers:
        """Whether each session is up, of a vector."""
        return vector[self._sessions_at :]

    def _counts(self, column: Column, device: str, labels: Labels) -> bool:
        """Whether the queue of a series counts in a column."""
        if column.queues is Queues.ALL:
            return True
        queues = self._plan.roce_queues if column.queues is Queues.ROCE else self._plan.lossless_queues
        return labels.get("queue") in queues.get(device, ())

    def _sums(self) -> NDArray[np.bool_]:
        counts = [len(self._plan.ports)] * len(PORT_COLUMNS) + [len(self._plan.switches)] * len(SWITCH_COLUMNS)
        folds = [column.fold is Fold.SUM for column in (*PORT_COLUMNS, *SWITCH_COLUMNS)]
        return np.concatenate((np.repeat(folds, counts), np.zeros(len(self._plan.sessions), bool)))


def _by_metric(columns: Sequence[Column]) -> dict[str, list[tuple[int, Column]]]:
    by_metric: dict[str, list[tuple[int, Column]]] = {}
    for place, column in enumerate(columns):
        for metric in column.metrics:
            by_metric.setdefault(metric, []).append((place, column))
    return by_metric


def _split(vector: Numbers, columns: Sequence[Column]) -> dict[str, Numbers]:
    rows = vector.reshape(len(columns), -1)
    return {column.name: rows[place] for place, column in enumerate(columns)}
