"""Configurations that begin to differ from the intent, or agree again, as entries of the log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from railfab.findings import Finding
from railfab.page.event_log import EntryKind, EntrySeverity, EventLog
from railfab.page.rates import PortRates
from railfab.text.counted import counted


class DriftWatch:
    """Tells of each change of what the last comparison of configurations has shown. findings: of all switches."""

    def __init__(self, findings: Callable[[], Iterable[Finding]], log: EventLog) -> None:
        self._findings, self._log = findings, log
        self._told: dict[str, frozenset[str]] = {}

    def watch(self, _: PortRates) -> None:
        """Tell of what is new."""
        by_switch: dict[str, list[Finding]] = defaultdict(list)
        for finding in self._findings():
            by_switch[finding.switch].append(finding)
        present = {switch: frozenset(map(str, findings)) for switch, findings in by_switch.items()}
        for switch in sorted(present.keys() | self._told.keys()):
            if present.get(switch) != self._told.get(switch):
                self._tell(switch, by_switch[switch])
        self._told = present

    def _tell(self, switch: str, findings: Sequence[Finding]) -> None:
        if not findings:
            title, text = f"the configuration of {switch} agrees with the intent again", ""
        else:
            title = f"the configuration of {switch} differs from the intent: {counted(len(findings), 'finding')}"
            text = str(findings[0])
        severity = EntrySeverity.WARNING if findings else EntrySeverity.INFO
        self._log.tell(EntryKind.DRIFT, title, text=text, severity=severity, where=(switch,))
