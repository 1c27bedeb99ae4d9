"""The running configurations against the intent, again and again beside a collector, and switches in maintenance."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from types import TracebackType
from typing import Self

from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from railfab.app.deploys import switches_in_deploys
from railfab.endpoints import Endpoint, Endpoints, read_credentials
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.fabric.audit import SwitchAudit, findings_of_audits, switch_audit
from railfab.findings import Severity
from railfab.metrics import metric
from railfab.platforms import platform
from railfab.telemetry.exposition import family

logger = logging.getLogger(__name__)

CHECK_INTERVAL_S = 60.0
READERS = 8
"""Switches that are read in parallel."""


class ConfigurationCheck(Collector):
    """Compares the configuration of every endpoint with the intent each interval_s; a context manager.

    Exposes the findings by switch and code (notes are none), the time of each comparison, and the switches in
    maintenance: those that a deploy from this state folder changes or has just changed, and those that are drained.
    A switch that cannot be read keeps its last findings; its time says how old they are. One whose configuration has
    not changed since is not audited again, which takes far longer than to read it.
    """

    def __init__(self, fabric: Design, endpoints: Endpoints, *, state: Path, interval_s: float) -> None:
        self._fabric, self._endpoints = fabric, endpoints
        self._state, self._interval_s = state, interval_s
        self._stop_requested = threading.Event()
        self._thread = threading.Thread(target=self._run, name="railfab-configuration-check", daemon=True)
        self._digests: dict[str, bytes] = {}
        self._audits: dict[str, SwitchAudit] = {}
        self._findings: Counter[tuple[str, str]] = Counter()
        self._checked_s: dict[str, float] = {}
        self._drained: frozenset[str] = frozenset()
        self._problems: dict[str, str] = {}

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop_requested.set()

    def describe(self) -> Iterable[Family]:
        """No metric: which switches answer is known later."""
        return []

    def collect(self) -> Iterator[Family]:
        counts = sorted(self._findings.items())
        findings = [({"device": device, "code": code}, float(count)) for (device, code), count in counts]
        checked = [({"device": name}, at_s) for name, at_s in sorted(self._checked_s.items())]
        maintenance = [({"device": name, "reason": reason}, 1.0) for name, reason in self._maintenance()]
        yield family(metric("fabric_configuration_findings"), findings)
        yield family(metric("fabric_configuration_checked_timestamp_seconds"), checked)
        yield family(metric("fabric_maintenance_info"), maintenance)

    def check(self) -> None:
        """Read every switch once and compare."""
        with ThreadPoolExecutor(READERS) as readers:
            texts = dict(zip(self._names(), readers.map(self._read, self._endpoints.nodes), strict=True))
        read = {name: text for name, text in texts.items() if text is not None}
        digests = {name: sha256(text.encode()).digest() for name, text in read.items()}
        changed = [name for name, digest in digests.items() if digest != self._digests.get(name)]
        if changed:
            logger.debug("configurations that are new or have changed: %s", ", ".join(changed))
            self._audits |= {name: switch_audit(self._fabric, name, read[name]) for name in changed}
            self._count()
        self._digests |= digests
        self._checked_s |= dict.fromkeys(read, time.time())

    def _count(self) -> None:
        """Count the findings of the audits, and between the ends of links."""
        found = findings_of_audits(self._fabric, self._audits)
        self._findings = Counter((one.switch, str(one.code)) for one in found if one.severity is not Severity.NOTE)
        self._drained = frozenset(name for name, audit in self._audits.items() if audit.model and audit.model.drain)

    def _run(self) -> None:
        while not self._stop_requested.is_set():
            try:
                self.check()
            except Exception:  # any defect: the next comparison may work, and old times say that this one did not
                logger.exception("the configurations could not be compared with the intent")
            self._stop_requested.wait(self._interval_s)

    def _names(self) -> tuple[str, ...]:
        return tuple(endpoint.name for endpoint in self._endpoints.nodes)

    def _read(self, endpoint: Endpoint) -> str | None:
        """The running configuration of a switch; None, and one line in the log, when it cannot be read."""
        try:
            with platform(endpoint.platform).session(endpoint, read_credentials(endpoint)) as session:
                text = session.running().text
        except RailfabError as error:
            if self._problems.get(endpoint.name) != str(error):
                logger.warning("configuration not compared with the intent: %s", error)
            self._problems[endpoint.name] = str(error)
            return None
        self._problems.pop(endpoint.name, None)
        return text

    def _maintenance(self) -> Iterator[tuple[str, str]]:
        """Switches in maintenance, and why."""
        names = self._names()
        deploying = switches_in_deploys(self._state, self._fabric.intent.fabric)
        for reason, switches in (("drain", self._drained), ("deploy", deploying)):
            yield from ((name, reason) for name in sorted(switches.intersection(names)))
