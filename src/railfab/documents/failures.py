"""The table of failure domains: the effect of each single failure."""

from __future__ import annotations

from collections.abc import Iterable

from railfab.documents.table import Table
from railfab.topology.failures import FailureDomain

COLUMNS = (
    "network",
    "what_fails",
    "example",
    "count",
    "affected",
    "unit",
    "lost_percent",
    "cut_off",
    "slowest_flow_percent",
    "service",
)


def failure_table(domains: Iterable[FailureDomain]) -> Table:
    """One row per effect: units that lose some of a service, their average loss, the units that lose all, and the rate
    of the slowest flow."""
    rows = [
        (
            domain.net,
            domain.kind,
            domain.example,
            domain.count,
            domain.affected,
            domain.unit,
            domain.lost_percent,
            domain.cut_off,
            domain.slowest_percent,
            domain.service,
        )
        for domain in domains
    ]
    return Table(name="failure-domains", columns=COLUMNS, rows=rows)
