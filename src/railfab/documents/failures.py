"""The failure-domain table: what each single failure costs."""

from __future__ import annotations

from collections.abc import Iterable

from railfab.documents.table import Table
from railfab.topology.failures import FailureDomain

COLUMNS = ("network", "what_fails", "example", "count", "gpus", "lost_percent", "cut_off", "towards")


def failure_table(domains: Iterable[FailureDomain]) -> Table:
    """One line for all elements whose failure costs the same: GPUs that lose bandwidth, how much of it, and how many
    lose all."""
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
