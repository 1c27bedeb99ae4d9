"""A lab that is up for as long as a context lasts, as the twin is one."""

from __future__ import annotations

import logging
from pathlib import Path
from types import TracebackType
from typing import Self

from railfab.endpoints import STATE_DIR, Endpoints, state_option
from railfab.errors import LabError
from railfab.fabric import Design
from railfab.lab.contract import LabPlace, Progress, lab_plan
from railfab.lab.registry import backend

logger = logging.getLogger(__name__)


class Lab:
    """A running lab; a context manager. It has `endpoints` while the context lasts.

    state: directory of its endpoints file. configured: boot the switches with their configurations instead of without.
    backend: `netns`, which needs root, or `containerlab`. progress: receives a line for each step.
    Entering raises LabError when a lab of the fabric is up already in this directory, and as `Backend.up` does. Leaving
    removes the lab, unless it was removed and started again from elsewhere meanwhile.
    """

    def __init__(
        self,
        design: Design,
        *,
        state: Path = STATE_DIR,
        configured: bool = False,
        backend: str = "netns",
        progress: Progress = logger.info,
    ) -> None:
        self.design = design
        self.endpoints: Endpoints
        self._state = state
        self._configured = configured
        self._backend = backend
        self._progress = progress

    @property
    def place(self) -> LabPlace:
        return LabPlace(fabric=self.design.intent.fabric, folder=self.design.path.parent, state=self._state)

    def __enter__(self) -> Self:
        plan = lab_plan(self.design, self._state, configured=self._configured)
        start = backend(self._backend).up(plan, self._progress)
        if not start.booted:
            remedy = f"Remove it with railfab lab down {self.design.path}{state_option(self._state)}"
            raise LabError(f"lab {plan.place.fabric}", "is up already", remedy)
        self.endpoints = start.endpoints
        self._passwords = _passwords(self.endpoints)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        present = _passwords(self.endpoints)
        if present and present != self._passwords:
            logger.warning("lab %s was started again from elsewhere, and stays up", self.place.fabric)
            return
        backend(self._backend).down(self.place, self._progress)


def _passwords(endpoints: Endpoints) -> set[tuple[str, int]]:
    """The files with the passwords of a lab that exist, and when each was written: a lab that boots writes them."""
    paths = {Path(node.credentials) for node in endpoints.nodes if node.credentials}
    return {(str(path), path.stat().st_mtime_ns) for path in paths if path.exists()}
