"""The running configurations against the intent, again and again beside a collector, and switches in maintenance."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from prometheus_client.metrics_core import Metric as Family
from prometheus_client.registry import Collector

from railfab.app.deploys import switches_in_deploys
from railfab.endpoints import Endpoint, Endpoints, read_credentials
from railfab.errors import ConfigError, Problems, RailfabError
from railfab.fabric import Design
from railfab.fabric.audit import configuration_findings
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
    A switch that cannot be read keeps its last findings; its time says how old they are.
    """

    def __init__(self, fabric: Design, endpoints: Endpoints, *, state: Path, interval_s: float) -> None:
        self._fabric, self._endpoints = fabric, endpoints
        self._state, self._interval_s = state, interval_s
        self._stop_requested = threading.Event()
        self._thread = threading.Thread(target=self._run, name="railfab-configuration-check", daemon=True)
        self._findings: Counter[tuple[str, str]] = Counter()
        self._texts: dict[str, str] = {}
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
        findings = [({"device": device, "code": code}, float(count)) for (device, code), count in self._counts()]
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
        self._texts |= read
        found = configuration_findings(self._fabric, self._texts)
        serious = (one for one in found if one.severity is not Severity.NOTE)
        self._findings = Counter((one.switch, str(one.code)) for one in serious)
        self._drained = frozenset(name for name, text in self._texts.items() if is_drained(self._fabric, name, text))
        self._checked_s |= dict.fromkeys(read, time.time())

    def _run(self) -> None:
        while not self._stop_requested.is_set():
            try:
                self.check()
            except Exception:
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

    def _counts(self) -> Iterator[tuple[tuple[str, str], int]]:
        return iter(sorted(self._findings.items()))

    def _maintenance(self) -> Iterator[tuple[str, str]]:
        known = frozenset(self._names())
        for reason, names in _reasons(self._drained, switches_in_deploys(self._state, self._fabric.intent.fabric)):
            yield from ((name, reason) for name in sorted(names & known))


def _reasons(drained: frozenset[str], deploying: frozenset[str]) -> Iterable[tuple[str, frozenset[str]]]:
    return (("drain", drained), ("deploy", deploying))


def is_drained(fabric: Design, name: str, text: str) -> bool:
    """Whether the configuration of a switch drains it."""
    if text == fabric.texts[name]:
        return fabric.models[name].drain
    with suppress(ConfigError, Problems):
        return platform(fabric.models[name].platform).parse(text).drain
    return False
