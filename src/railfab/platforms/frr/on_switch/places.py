"""Places on the switch, limits of commands, and errors as answers."""

from __future__ import annotations

from pathlib import Path

RUN = Path("/var/run/frr")
FOLDER = RUN / "railfab"
"""Separate for each switch even on a shared file system; lost on reboot, as unsaved changes are."""
ETC = Path("/etc/frr")
STARTUP = ETC / "frr.conf"

SHOW_WITHIN_S, TEST_WITHIN_S, RELOAD_WITHIN_S = 15, 60, 90
"""Limits of commands that show, of frr-reload.py that compares, and of frr-reload.py that changes [s]."""


class ChangeRefused(Exception):
    """An answer that is an error. kind: `commit`, `device`, `unsupported`, or `pending` with the change as problem."""

    def __init__(self, kind: str, problem: str, remedy: str) -> None:
        super().__init__(problem)
        self.kind = kind
        self.problem = problem
        self.remedy = remedy
