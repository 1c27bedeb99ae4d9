"""The gate of the configuration: new texts of a wave must not have errors that the former ones did not have.

A setting that merely differs from the intent is no error here, as texts of files are meant to differ.
It reads no switch: a commit has read back what the switch runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from railfab.deploy.gates.contract import GateFailure
from railfab.fabric import Design
from railfab.fabric.audit import configuration_findings, folded
from railfab.findings import DifferenceCode, Finding, Severity

DIFFERS = DifferenceCode.CONFIGURATION_DIFFERS


@dataclass
class ConfigurationGate:
    """Compares the errors of the configurations of a wave, as `railfab audit` reports them, with those of the former.

    texts, former: the new and the former configuration of each switch.
    """

    fabric: Design
    texts: Mapping[str, str]
    former: Mapping[str, str]
    name: str = "configuration"
    before_undrain: bool = True

    def baseline(self, switches: Sequence[str]) -> None:
        """Nothing: the former configurations are kept by the roll-out."""

    def failures(self, switches: Sequence[str]) -> tuple[GateFailure, ...]:
        return tuple(self._new(switches))

    def saved(self) -> Any:
        return None

    def restore(self, value: Any) -> None:
        """Nothing, as `baseline`."""

    def _new(self, switches: Sequence[str]) -> Iterator[GateFailure]:
        errors = self._errors(self.texts, switches)
        if not errors:
            return
        known = {(finding.code, finding.where) for finding in self._errors(self.former, switches)}
        for finding in folded([each for each in errors if (each.code, each.where) not in known]):
            problem = f"{finding.problem}. {finding.remedy}"
            yield GateFailure(self.name, finding.where, "in order", str(finding.code), "no new error", problem)

    def _errors(self, texts: Mapping[str, str], switches: Sequence[str]) -> list[Finding]:
        chosen = {name: texts[name] for name in switches if name in texts}
        return [
            finding
            for finding in configuration_findings(self.fabric, chosen)
            if finding.severity is Severity.ERROR and finding.code is not DIFFERS
        ]
