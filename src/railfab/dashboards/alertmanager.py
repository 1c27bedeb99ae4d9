"""Configuration of Alertmanager: one page for one cause.

Alerts of one fabric are one notification; critical ones page, warnings make a ticket. What follows from an alert that
fires in the same fabric does not notify again.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from railfab.dashboards.alerts import ALERTS
from railfab.dashboards.rules import AlertSeverity

PAGES, TICKETS = "pages", "tickets"
GROUP_WAIT_S, GROUP_INTERVAL_S, REPEAT_INTERVAL_S = 30, 300, 43200
"""Time in which the first alerts of a cause gather, until what is new of it notifies again, and until all does [s]."""

SEVERITIES = {alert.alert: alert.severity for alert in ALERTS}
JOB = ("FabricJobSlow", "FabricJobStalled")
LOAD = (
    "FabricEcmpImbalance",
    "FabricEcnMarkRatioHigh",
    "FabricHeadroomNearlyExhausted",
    "FabricHostPauses",
    "FabricPfcPauseImbalance",
    "FabricPfcStormEstimated",
    "FabricPfcWithoutEcn",
    "FabricRailAsymmetry",
    "FabricUplinkOversubscribed",
)
LOSS = ("FabricInterfaceDiscards", "FabricQueueDrops", "FabricReceiveErrors")
ROUTING = ("FabricBfdDown", "FabricBgpFlapping", "FabricBgpSessionDown", "FabricPrefixesLost")


@dataclass(frozen=True, slots=True)
class Inhibition:
    """Alerts that follow from others while these fire. equal: labels that both have alike."""

    causes: tuple[str, ...]
    consequences: tuple[str, ...]
    equal: tuple[str, ...] = ("fabric",)

    def documents(self) -> Iterator[dict[str, Any]]:
        """The rules. A warning inhibits warnings alone: what pages is not silenced by what does not."""
        for severity, targets in ((AlertSeverity.CRITICAL, []), (AlertSeverity.WARNING, [_of(AlertSeverity.WARNING)])):
            causes = [name for name in self.causes if SEVERITIES[name] is severity]
            if causes:
                yield {
                    "source_matchers": [_any_of(causes)],
                    "target_matchers": [_any_of(self.consequences), *targets],
                    "equal": list(self.equal),
                }


INHIBITIONS = (
    Inhibition(("FabricCollectorSessionDown",), ("FabricTelemetryStale",), ("fabric", "device")),
    Inhibition(("FabricPortDisabled",), ("FabricLinkDown",)),
    Inhibition(
        ("FabricPortDisabled", "FabricLinkDown", "FabricLinkFlap", "FabricFecDegraded"),
        (*ROUTING, *LOSS, *LOAD, *JOB, "FabricCablingMismatch", "FabricCollectorSessionDown", "FabricTelemetryStale"),
    ),
    Inhibition(("FabricFecDegraded",), ("FabricLinkFlap", "FabricLinkDown")),
    Inhibition(
        ("FabricBgpSessionDown", "FabricDaemonDown"), ("FabricPrefixesLost", "FabricBfdDown", *LOSS, *LOAD, *JOB)
    ),
    Inhibition(("FabricPfcWatchdogTriggered",), (*LOSS, *LOAD, *JOB, "FabricLosslessDrops")),
    Inhibition(("FabricLosslessDrops",), (*LOSS, *LOAD, *JOB)),
    Inhibition(("FabricPrefixesLost", "FabricRoceOutsideItsClass"), (*LOSS, *JOB)),
    Inhibition((*LOSS, *LOAD), JOB),
    Inhibition(("FabricNicSettingsLost",), ("FabricNicSettingWrong",), ("fabric", "host")),
)
"""What follows from what. An alert that both causes and follows is inhibited by its cause alone."""


def alertmanager_config() -> dict[str, Any]:
    """Content of alertmanager.yml. Where its two receivers notify is written into the file by hand."""
    return {
        "route": {
            "receiver": TICKETS,
            "group_by": ["fabric"],
            "group_wait": f"{GROUP_WAIT_S}s",
            "group_interval": f"{GROUP_INTERVAL_S}s",
            "repeat_interval": f"{REPEAT_INTERVAL_S}s",
            "routes": [{"matchers": [_of(AlertSeverity.CRITICAL)], "receiver": PAGES}],
        },
        "inhibit_rules": [rule for inhibition in INHIBITIONS for rule in inhibition.documents()],
        "receivers": [{"name": PAGES}, {"name": TICKETS}],
    }


def _of(severity: AlertSeverity) -> str:
    return f'severity="{severity.value}"'


def _any_of(names: Iterable[str]) -> str:
    return f'alertname=~"{"|".join(names)}"'
