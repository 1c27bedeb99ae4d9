"""The switches that deploys of a state folder are changing, or have changed just now."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from railfab.errors import RailfabError

SHOWN_FOR_S = 30.0
"""Time for which a deploy that has ended is shown, so that a scrape sees it; alerts wait longer (`Silence`) [s]."""
ATTEMPTS = 2
"""A deploy that begins may remove the oldest records while they are read."""


def switches_in_deploys(state: Path, fabric: str) -> frozenset[str]:
    """Those that a running deploy has begun to change, and those of deploys that ended within SHOWN_FOR_S.

    Without the extra `deploy` there are none: nothing is deployed from here.
    """
    for _ in range(ATTEMPTS):
        with suppress(ImportError, RailfabError, OSError):
            return frozenset(_switches(state, fabric))
    return frozenset()


def _switches(state: Path, fabric: str) -> Iterator[str]:
    from railfab.deploy.journal import RECORD, Journal

    journal = Journal(state, fabric)
    for record in journal.deploys():
        written_s = (journal.folder / record.folder / RECORD).stat().st_mtime
        away_s = abs(time.time() - written_s)  # a clock that was ahead has left times of the future
        if record.running or (record.finished and away_s < SHOWN_FOR_S):
            yield from record.switches
