"""The agent: compares the host with its plan again and again, and exposes what it knows."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from railfab.hostagent.checker import HostChecker
from railfab.hostagent.document import HostDocument
from railfab.hostagent.exposition import NicExposition
from railfab.hostagent.last_good import LastGood
from railfab.hostagent.link import LinkFiles
from railfab.hostagent.nic_counters import NicCounters
from railfab.hostagent.samples import exposition_of
from railfab.hosts.nic import System

logger = logging.getLogger(__name__)

CHECKS_EVERY_S = 60.0
"""Time between two comparisons, each of which runs programs [s]."""


class Agent:
    """Watches one host. settings: of nic.json. host: its name in the plan. with_counters: also exposes counters.

    state: folder that keeps what was as wanted; None keeps nothing, and what a reboot loses is not known.
    """

    def __init__(
        self,
        settings: Mapping[str, Any],
        host: str,
        system: System,
        *,
        with_counters: bool = False,
        state: Path | None = None,
    ) -> None:
        self._checker = HostChecker(settings, host, system, LastGood(state) if state is not None else None)
        self._wanted = len(settings["ports"])
        self._system, self._with_counters = system, with_counters
        self._links: list[LinkFiles] = []
        self._counters: list[NicCounters] = []
        self._exposition = NicExposition({})
        self._faults, self._unread = LastingFaults(), LastingFaults()
        self._lock = threading.Lock()

    def check(self) -> HostDocument:
        """Compare the host with its plan."""
        check = self._checker.check()
        links = [LinkFiles(port, self._system) for port in check.ports]
        counters = [NicCounters(port, self._system) for port in check.ports if self._with_counters]
        exposition = exposition_of(check, links, counters, wanted=self._wanted)
        with self._lock:
            self._close()
            self._links, self._counters, self._exposition = links, counters, exposition
        self._faults.report(check.document.faults)
        return check.document

    def run(self) -> None:
        """Compare again and again."""
        while True:
            try:
                self.check()
            except Exception:  # any defect: counters go on, and the age of the comparison says that it did not
                logger.exception("the settings could not be compared")
            time.sleep(CHECKS_EVERY_S)

    def exposed(self) -> bytes:
        """The exposition in the text format of Prometheus."""
        with self._lock:
            for counters in self._counters:
                counters.refresh()
            text = self._exposition.text()
            self._unread.report([problem for counters in self._counters for problem in counters.problems()])
        return text

    def _close(self) -> None:
        for links in self._links:
            links.close()
        for counters in self._counters:
            counters.close()


class LastingFaults:
    """Logs each fault when it begins and when it is over."""

    def __init__(self) -> None:
        self._logged: frozenset[str] = frozenset()

    def report(self, faults: Collection[str]) -> None:
        """Log the difference to the faults before."""
        now = frozenset(faults)
        for fault in sorted(now - self._logged):
            logger.warning("%s", fault)
        for fault in sorted(self._logged - now):
            logger.info("over: %s", fault)
        self._logged = now
