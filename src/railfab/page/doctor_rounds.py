"""Diagnoses for the page: each takes a window of telemetry, so that the last one is shown while the next one runs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from http import HTTPStatus
from typing import Any

from railfab.diagnosis import FabricDiagnosis
from railfab.errors import RailfabError
from railfab.page.security import RequestDeclined
from railfab.text.folding import alike_as_one

logger = logging.getLogger(__name__)

AGAIN_AFTER_S = 30.0
"""Age of a diagnosis from which on another one is begun when somebody asks [s]."""
WINDOW_S = 20.0


class DoctorRounds:
    """Runs a diagnosis when it is asked for, one at a time. diagnose: takes the window [s]; raises RailfabError."""

    def __init__(self, diagnose: Callable[[float], FabricDiagnosis], window_s: float = WINDOW_S) -> None:
        self._diagnose, self._window_s = diagnose, window_s
        self._lock = threading.Lock()
        self._running = False
        self._ended_s: float | None = None
        self._document: dict[str, Any] | None = None
        self._problem = ""

    def document(self) -> dict[str, Any]:
        """The last diagnosis; `problem` is why later ones failed, empty where none did. Raises RequestDeclined while
        there is none."""
        with self._lock:
            is_due = self._ended_s is None or time.monotonic() - self._ended_s > AGAIN_AFTER_S
            if is_due and not self._running:
                self._running = True
                threading.Thread(target=self._run, name="railfab-page-doctor", daemon=True).start()
            if self._document is not None:
                return {**self._document, "problem": self._problem}
            problem = self._problem or f"the first diagnosis takes about {self._window_s:.0f} s: ask again"
        raise RequestDeclined(HTTPStatus.SERVICE_UNAVAILABLE, problem)

    def _run(self) -> None:
        document, problem = None, ""
        try:
            diagnosis = self._diagnose(self._window_s)
            lines = alike_as_one(diagnosis.unread.items())
            document = {**asdict(diagnosis), "unread": list(lines)}
        except RailfabError as error:
            problem = str(error)
        except Exception:  # any defect: the page goes on without a diagnosis
            logger.exception("the diagnosis failed")
            problem = "the diagnosis failed: see the log of the page"
        with self._lock:
            self._document, self._problem = document or self._document, problem
            self._running, self._ended_s = False, time.monotonic()
