"""Past deploys of a fabric as marks on boards."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime

from railfab.dashboards import Mark
from railfab.deploy import DeployRecord, Journal
from railfab.text.counted import listed


def deploy_marks(fabric: str, journal: Journal) -> Iterator[Mark]:
    """A mark of each deploy, rollback and drain that began to change a switch and has ended, oldest first."""
    for record in journal.deploys():
        if record.began and record.ended:
            yield _mark(fabric, record)


def _mark(fabric: str, record: DeployRecord) -> Mark:
    results = listed([f"{number} {result}" for result, number in sorted(Counter(record.results.values()).items())])
    ending = f", stopped: {record.stopped}" if record.stopped else ""
    return Mark(
        text=f"{fabric}: {record.verb} {record.deploy} by {record.user}, {results or 'no result'}{ending}",
        tags=("railfab", f"fabric:{fabric}", f"deploy:{record.deploy}", f"verb:{record.verb}"),
        began=datetime.fromisoformat(record.began),
        ended=datetime.fromisoformat(record.ended),
    )
