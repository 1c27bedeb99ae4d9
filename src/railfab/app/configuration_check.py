"""The running configurations against the intent, again and again beside a collector, and switches in maintenance."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Self

from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from railfab.app.deploys import switches_in_deploys
from railfab.endpoints import Endpoint, Endpoints, read_credentials
from railfab.errors import RailfabError, each
from railfab.fabric import Design, require_sessions
from railfab.fabric.audit import SwitchAudit, findings_of_audits, switch_audit
from railfab.findings import Finding, Severity
from railfab.metrics import metric
from railfab.platforms import Platform, has_platform, platform
from railfab.repeated_warnings import RepeatedWarnings
from railfab.telemetry.exposition import family

logger = logging.getLogger(__name__)

CHECK_INTERVAL_S = 60.0
READERS = 8
"""Switches that are read in parallel."""
READ_WITHIN_S = 10.0
"""Time that a switch has for each call; one that hangs delays only those for which no other reader is free [s]."""
BEGINS_WITHIN_S = 60.0
"""Time for which the first comparison waits for the first samples at most [s]."""
POLL_S = 1.0


class ConfigurationCheck(Collector):
    """Compares the configuration of every endpoint with the intent each interval_s; a context manager.

    Exposes the findings by switch and code (notes are none), the time of each comparison, and the switches in
    maintenance: those that a deploy from this state folder changes or has just changed, and those that are drained.
    A switch that cannot be read keeps its last findings; its time says how old they are, and of one that has never
    been read, when this began. One of a platform that reads no running configuration is not compared. One whose
    configuration has not changed since is not audited again, which takes far longer than to read it.
    interval_s: 0 is never; then only the maintenance is exposed, with the drains of the intent. has_samples: whether
    the first samples have arrived; the first comparison waits for them for BEGINS_WITHIN_S at most, as both at once
    make a collector late.
    """

    def __init__(
        self,
        fabric: Design,
        endpoints: Endpoints,
        *,
        state: Path,
        interval_s: float,
        has_samples: Callable[[], bool] = lambda: True,
    ) -> None:
        self._fabric, self._endpoints = fabric, endpoints
        self._state, self._interval_s = state, interval_s
        self._has_samples = has_samples
        self._stop_requested = threading.Event()
        self._thread = threading.Thread(target=self._run, name="railfab-configuration-check", daemon=True)
        self._compared = tuple(_readable(endpoints.nodes if interval_s else ()))
        self._digests: dict[str, bytes] = {}
        self._audits: dict[str, SwitchAudit] = {}
        self._findings: tuple[Finding, ...] = ()
        self._read_s = dict.fromkeys((one.name for one in self._compared), time.time())
        self._checked_s = self._read_s
        self._drained = frozenset() if interval_s else frozenset(fabric.intent.drain)
        self._warnings: dict[str, RepeatedWarnings] = {}

    def __enter__(self) -> Self:
        if self._interval_s:
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop_requested.set()

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of the last comparison; notes are none."""
        return self._findings

    def describe(self) -> Iterable[Family]:
        """No metric: which switches answer is known later."""
        return []

    def collect(self) -> Iterator[Family]:
        fabric = {"fabric": self._fabric.intent.fabric}
        maintenance = [({"device": name, **fabric, "reason": reason}, 1.0) for name, reason in self._maintenance()]
        yield family(metric("fabric_maintenance_info"), maintenance)
        if self._interval_s:
            yield from self._comparison(fabric)

    def _comparison(self, fabric: dict[str, str]) -> Iterator[Family]:
        for name, is_hazard in (("fabric_configuration_findings", False), ("fabric_configuration_hazards", True)):
            counts = Counter((each.switch, str(each.code)) for each in self._findings if each.is_hazard is is_hazard)
            samples = [
                ({"device": device, **fabric, "code": code}, float(count))
                for (device, code), count in sorted(counts.items())
            ]
            yield family(metric(name), samples)
        checked = [({"device": name, **fabric}, at_s) for name, at_s in sorted(self._checked_s.items())]
        yield family(metric("fabric_configuration_checked_timestamp_seconds"), checked)
        yield family(metric("fabric_configuration_check_interval_seconds"), [(fabric, self._interval_s)])

    def check(self) -> None:
        """Read every switch once, and compare each as soon as it has answered."""
        answers = self._answers()
        counted = self._digests
        for _ in self._compared:
            name, text = answers.get()
            if text is not None:
                self._compare(name, text)
            if answers.empty():  # the findings between switches are not counted for each of many that answer at once
                if self._digests != counted:
                    self._count()
                    counted = self._digests
                self._checked_s = self._read_s

    def _compare(self, name: str, text: str) -> None:
        """Audit a configuration that is new or has changed. A defect of the audit leaves only this one unchecked."""
        digest = sha256(text.encode()).digest()
        try:
            if digest != self._digests.get(name):
                logger.debug("%s: configuration is new or has changed", name)
                self._audits[name] = switch_audit(self._fabric, name, text)
        except Exception:  # any defect: its old time says that it is not compared
            logger.exception("%s: configuration could not be compared with the intent", name)
            return
        self._digests = {**self._digests, name: digest}
        self._read_s = {**self._read_s, name: time.time()}

    def _count(self) -> None:
        """Count the findings of the audits, and between the ends of links."""
        findings = findings_of_audits(self._fabric, self._audits)
        self._findings = tuple(finding for finding in findings if finding.severity is not Severity.NOTE)
        self._drained = frozenset(name for name, audit in self._audits.items() if audit.model and audit.model.drain)

    def _run(self) -> None:
        latest_s = time.monotonic() + BEGINS_WITHIN_S
        while not self._has_samples() and time.monotonic() < latest_s:
            if self._stop_requested.wait(POLL_S):
                return
        while not self._stop_requested.is_set():
            try:
                self.check()
            except Exception:  # any defect: the next comparison may work, and old times say that this one did not
                logger.exception("the configurations could not be compared with the intent")
            self._stop_requested.wait(self._interval_s)

    def _names(self) -> tuple[str, ...]:
        return tuple(endpoint.name for endpoint in self._endpoints.nodes)

    def _answers(self) -> SimpleQueue[tuple[str, str | None]]:
        """The name and the configuration of every endpoint, as they answer.

        The threads are daemons: the end of the process does not wait for a switch that hangs.
        """
        waiting: SimpleQueue[Endpoint] = SimpleQueue()
        answers: SimpleQueue[tuple[str, str | None]] = SimpleQueue()
        for endpoint in self._compared:
            waiting.put(endpoint)
        for _ in range(min(READERS, len(self._compared))):
            threading.Thread(target=self._read_all, args=(waiting, answers), daemon=True).start()
        return answers

    def _read_all(self, waiting: SimpleQueue[Endpoint], answers: SimpleQueue[tuple[str, str | None]]) -> None:
        """Read the switches that wait."""
        with suppress(Empty):
            while True:
                endpoint = waiting.get_nowait()
                text = None
                try:
                    text = self._read(endpoint)
                except Exception:  # any defect of a session: the others are read
                    logger.exception("%s: configuration could not be read", endpoint.name)
                answers.put((endpoint.name, text))

    def _read(self, endpoint: Endpoint) -> str | None:
        """The running configuration of a switch; None, and one line in the log, when it cannot be read."""
        try:
            text = _running_text(endpoint)
        except RailfabError as error:
            warnings = self._warnings.setdefault(endpoint.name, RepeatedWarnings(logger, endpoint.name))
            warnings.warning(f"configuration not compared with the intent: {error}")
            return None
        self._warnings.pop(endpoint.name, None)
        return text

    def _maintenance(self) -> Iterator[tuple[str, str]]:
        """Switches in maintenance, and why."""
        names = self._names()
        deploying = switches_in_deploys(self._state, self._fabric.intent.fabric)
        for reason, switches in (("drain", self._drained), ("deploy", deploying)):
            yield from ((name, reason) for name in sorted(switches.intersection(names)))


def _running_text(endpoint: Endpoint) -> str:
    """The running configuration of a switch. Raises RailfabError."""
    read, credentials = platform(endpoint.platform).running_text, read_credentials(endpoint)
    if read is not None:
        return read(endpoint, credentials, read_within_s=READ_WITHIN_S)
    connect = platform(endpoint.platform).session_factory(endpoint.name)
    with connect(endpoint, credentials, read_within_s=READ_WITHIN_S) as session:
        return session.running().text


def _readable(endpoints: Iterable[Endpoint]) -> Iterator[Endpoint]:
    """The endpoints whose configurations can be read; the others are logged, in one line for each platform."""
    others = []
    for endpoint in endpoints:
        if has_platform(endpoint.platform) and not _can_be_read(platform(endpoint.platform)):
            others.append((endpoint.name, endpoint.platform))
        else:
            yield endpoint
    try:
        require_sessions(others)
    except RailfabError as error:
        for one in each(error):
            logger.warning("configurations are not compared with the intent: %s: %s", one.where, one.problem)


def _can_be_read(own: Platform) -> bool:
    return own.session is not None or own.running_text is not None
