"""The gate of the configuration: new texts of a wave must not have errors that the former ones did not have.

A setting that merely differs from the intent is no error here, as texts of files are meant to differ.
It reads no switch: a commit has read back what the switch runs. The far ends of links count as they will be at the
end of the deploy, else as the intent has them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from railfab.deploy.gates.contract import GateFailure
from railfab.device import LoadBalancing, polarised_tiers
from railfab.errors import RailfabError
from railfab.fabric import Design
from railfab.fabric.audit import configuration_findings, folded
from railfab.findings import DifferenceCode, Finding, Severity
from railfab.platforms import platform

DIFFERS, POLARISED = DifferenceCode.CONFIGURATION_DIFFERS, DifferenceCode.HASH_POLARISED


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
    _balancing: dict[str, LoadBalancing | None] = field(default_factory=dict, init=False)

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
        errors = [
            finding
            for finding in configuration_findings(self.fabric, chosen)
            if finding.severity is Severity.ERROR and finding.code not in (DIFFERS, POLARISED)
        ]
        return [*errors, *self._polarised(texts, switches)]

    def _polarised(self, texts: Mapping[str, str], switches: Sequence[str]) -> Iterator[Finding]:
        """Switches of the wave, and those beside them, that hash as the next tier does."""
        topology = self.fabric.topology
        beside = (peer.node for name in switches for _, peer, _ in topology.ports_of(name))
        near = [name for name in dict.fromkeys((*switches, *beside)) if name in self.fabric.models]
        yield from polarised_tiers(topology, {name: self._balancing_of(name, texts.get(name)) for name in near})

    def _balancing_of(self, name: str, text: str | None) -> LoadBalancing | None:
        """text: None for that of the intent. One that does not parse has a finding of its own."""
        if text is None or text == self.fabric.texts[name]:
            return self.fabric.models[name].load_balancing
        if text not in self._balancing:
            try:
                self._balancing[text] = platform(self.fabric.models[name].platform).parse(text).load_balancing
            except RailfabError:
                self._balancing[text] = None
        return self._balancing[text]
