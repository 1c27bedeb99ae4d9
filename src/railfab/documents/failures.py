"""The table of failure domains: the effect of each single failure."""

from __future__ import annotations

from collections.abc import Iterable

from railfab.documents.table import Table
from railfab.topology.failures import FailureDomain

COLUMNS = ("network", "what_fails", "example", "count", "gpus", "lost_percent", "cut_off", "towards")


def failure_table(domains: Iterable[FailureDomain]) -> Table:
    """One row per effect: GPUs that lose bandwidth, their average loss, and the GPUs that lose all."""
    rows = [
        (
            domain.net,
            domain.kind,
            domain.example,
            domain.count,
            domain.gpus,
            f"{domain.lost_percent:g}",
            domain.cut_off,
            domain.towards,
        )
        for domain in domains
    ]
    return Table(name="failure-domains", columns=COLUMNS, rows=rows)
