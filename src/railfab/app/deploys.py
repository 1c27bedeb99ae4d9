"""The switches that deploys of a state folder are changing, or have changed just now."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

from railfab.errors import RailfabError

SETTLES_WITHIN_S = 120.0
"""Time after a deploy in which sessions come up and rates of a minute forget what it interrupted [s]."""


def switches_in_deploys(state: Path, fabric: str) -> frozenset[str]:
    """Those that a running deploy has begun to change, and those of deploys that ended within SETTLES_WITHIN_S.

    Without the extra `deploy` there are none: nothing is deployed from here.
    """
    try:
        return frozenset(_switches(state, fabric))
    except (ImportError, RailfabError):
        return frozenset()


def _switches(state: Path, fabric: str) -> Iterator[str]:
    from railfab.deploy.journal import RECORD, Journal

    journal = Journal(state, fabric)
    for record in journal.deploys():
        written_s = (journal.folder / record.deploy / RECORD).stat().st_mtime
        if record.running or (record.finished and time.time() - written_s < SETTLES_WITHIN_S):
            yield from record.switches
