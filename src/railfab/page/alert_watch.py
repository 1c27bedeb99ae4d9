"""The alerts of a Prometheus as entries of the log."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

from railfab.page.event_log import EntryKind, EntrySeverity, EventLog
from railfab.page.range_series import PrometheusPast
from railfab.page.rates import PortRates

EVERY_S = 10.0
SEVERITIES: Mapping[str, EntrySeverity] = {
    "critical": EntrySeverity.CRITICAL,
    "page": EntrySeverity.CRITICAL,
    "warning": EntrySeverity.WARNING,
}


class AlertWatch:
    """Asks for the alerts that fire, and tells of those that begin and end."""

    def __init__(self, fabric: str, past: PrometheusPast, log: EventLog) -> None:
        self._fabric, self._past, self._log = fabric, past, log
        self._firing: dict[str, Mapping[str, Any]] = {}
        self._due_s = 0.0

    def watch(self, _: PortRates) -> None:
        """Ask every EVERY_S. Raises EndpointError when it does not answer."""
        if time.monotonic() < self._due_s:
            return
        self._due_s = time.monotonic() + EVERY_S
        alerts = [alert for alert in self._past.alerts() if self._is_firing(alert)]
        firing: dict[str, Mapping[str, Any]] = {json.dumps(alert["labels"], sort_keys=True): alert for alert in alerts}
        for key in firing.keys() - self._firing.keys():
            self._tell(firing[key])
        for key in self._firing.keys() - firing.keys():
            self._log.tell(EntryKind.ALERT, f"ended: {_title(self._firing[key])}", where=_where(self._firing[key]))
        self._firing = firing

    def _is_firing(self, alert: Mapping[str, Any]) -> bool:
        is_ours = alert["labels"].get("fabric", self._fabric) == self._fabric
        return bool(alert["state"] == "firing" and is_ours)

    def _tell(self, alert: Mapping[str, Any]) -> None:
        notes = alert["notes"]
        self._log.tell(
            EntryKind.ALERT,
            _title(alert),
            text=str(notes.get("description", "")),
            severity=SEVERITIES.get(alert["labels"].get("severity", ""), EntrySeverity.INFO),
            where=_where(alert),
            link=notes.get("runbook_url"),
        )


def _title(alert: Mapping[str, Any]) -> str:
    return str(alert["notes"].get("summary") or alert["labels"].get("alertname", "alert"))


def _where(alert: Mapping[str, Any]) -> tuple[str, ...]:
    labels = alert["labels"]
    return tuple(str(labels[name]) for name in ("device", "interface") if labels.get(name))
