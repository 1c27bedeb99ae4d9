"""`links.csv` and `flows.csv` as rows."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from railfab.sim.replay.tables import CsvTable, Errors, Number, column, read_table, whole_column

_PORT = Number(0, 1 << 20)
_RATE_BPS = Number(1e6, 1e14, whole=False)
_DELAY_NS = Number(1, 1e9, whole=False)
_TIME_NS = Number(0, 1e15, whole=False)
_SIZE_BYTES = Number(1, 1e12)
NO_FLOW = -1
RESULTS = ("actual_start_ns", "fct_ns", "rx_data_pkts", "rx_ce_pkts")
"""Columns of the reference's flows.csv that ns-3 has measured."""


@dataclass(frozen=True, slots=True)
class CableRow:
    a: int
    a_port: int
    b: int
    b_port: int
    rate_gbps: float
    delay_ns: float


@dataclass(frozen=True, slots=True)
class FlowRow:
    """after: the flow that it starts gap_ns after; None: it starts at start_ns."""

    id: int
    source: int
    target: int
    size_bytes: int
    start_ns: int
    after: int | None
    gap_ns: int


def read_cables(path: Path, nodes: int, errors: Errors) -> tuple[list[CableRow], CsvTable]:
    node = Number(0, nodes - 1)
    table = read_table(path, ("a", "a_port", "b", "b_port", "rate_bps", "delay_ns"))
    columns = (
        whole_column(table, "a", node, errors),
        whole_column(table, "a_port", _PORT, errors),
        whole_column(table, "b", node, errors),
        whole_column(table, "b_port", _PORT, errors),
        [rate / 1e9 for rate in column(table, "rate_bps", _RATE_BPS, errors)],
        column(table, "delay_ns", _DELAY_NS, errors),
    )
    return [CableRow(*cells) for cells in zip(*columns, strict=True)], table


def read_flows(path: Path, nodes: int, errors: Errors) -> tuple[list[FlowRow], CsvTable]:
    node = Number(0, nodes - 1)
    table = read_table(path, ("flow", "src", "dst", "size_bytes", "start_ns", "after", "gap_ns"))
    after = whole_column(table, "after", Number(NO_FLOW), errors)

    def waits(row: int) -> bool:
        return after[row] != NO_FLOW

    columns = (
        whole_column(table, "flow", Number(0), errors),
        whole_column(table, "src", node, errors),
        whole_column(table, "dst", node, errors),
        whole_column(table, "size_bytes", _SIZE_BYTES, errors),
        [round(value) for value in column(table, "start_ns", _TIME_NS, errors, unused=waits)],
        [None if flow == NO_FLOW else flow for flow in after],
        [round(value) for value in column(table, "gap_ns", _TIME_NS, errors, unused=lambda row: not waits(row))],
    )
    return [FlowRow(*cells) for cells in zip(*columns, strict=True)], table
