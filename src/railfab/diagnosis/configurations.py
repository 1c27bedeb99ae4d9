"""Causes in configurations: differences between what switches run and the intent, by kind."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from railfab.device.diff import Change, changes
from railfab.diagnosis.catalogue import causes, kind_of_hazard
from railfab.diagnosis.model import CandidateCause, Evidence, EvidenceKind, FaultPlace
from railfab.diagnosis.observations import Observations
from railfab.fabric.audit import COUNTED, SwitchAudit, switch_audit
from railfab.fabric.impact import KindOfDifference, kinds_of
from railfab.findings import Finding, Severity
from railfab.platforms import platform
from railfab.platforms.interruptions import UNKNOWN, change_kinds
from railfab.text.counted import counted

SHOWN = 3
"""Differences of one kind on one switch that are evidence; of further ones there is the number."""
HAZARD_WEIGHT = 3.0
"""Weight of a difference that harms RoCE."""


def configured_causes(seen: Observations) -> Iterator[CandidateCause]:
    """A cause for each kind of difference, with all switches that have it."""
    by_code: dict[str, list[CandidateCause]] = {}
    for name, (running, _) in seen.inspected.items():
        if name not in seen.fabric.models:
            continue
        audit = switch_audit(seen.fabric, name, running.text, drained=running.drained)
        for cause in _switch_causes(seen, name, audit):
            by_code.setdefault(cause.code, []).append(cause)
    for code, of_code in by_code.items():
        yield CandidateCause(
            code=code,
            places=tuple(place for cause in of_code for place in cause.places),
            evidence=tuple(evidence for cause in of_code for evidence in cause.evidence),
            words=of_code[0].words,
            configured=True,
            weight=max(cause.weight for cause in of_code),
        )


def _switch_causes(seen: Observations, name: str, audit: SwitchAudit) -> Iterator[CandidateCause]:
    """The causes on one switch; none where all differences are what its chip rounds or what is the operator's."""
    wrong = [finding for finding in audit.findings if finding.severity is not Severity.NOTE]
    if not wrong:
        return
    kinds: dict[str, list[KindOfDifference]] = {}
    if audit.model is not None and audit.intended is not None:
        interruptions = platform(audit.intended.platform).interruptions()
        for kind in kinds_of(interruptions, changes(audit.intended, audit.model)):
            kinds.setdefault(kind.code, []).append(kind)
    harmful: dict[str, list[Finding]] = {}
    for finding in wrong:
        if finding.is_hazard:
            harmful.setdefault(kind_of_hazard().get(str(finding.code), UNKNOWN), []).append(finding)
    left = _independent(kinds, harmful, wrong)
    for code in left:
        hazards, of_code = harmful.get(code, []), kinds.get(code, ())
        yield CandidateCause(
            code=code,
            places=tuple(_places(seen, name, of_code)),
            evidence=(*_differences(name, of_code), *_findings(name, hazards or ([] if harmful else wrong[:SHOWN]))),
            words=_words(code, hazards or wrong),
            configured=True,
            weight=HAZARD_WEIGHT if hazards else 0.0,
        )


def _independent(kinds: Collection[str], harmful: Collection[str], wrong: Sequence[Finding]) -> tuple[str, ...]:
    """The kinds that do not follow from another one; lines outside the model where the audit names them, or alone.

    kinds: of differences of the model. harmful: of hazards; several follow from one difference, but one alone says
    better what is wrong than the settings in which it shows, and so do all where the model has no difference.
    """
    modelled = [code for code in kinds if code != UNKNOWN]
    named = [code for code in harmful if code != UNKNOWN]
    hazards = {finding.code for finding in wrong if finding.is_hazard}
    if named and (not modelled or (len(hazards) == 1 and named[0] not in modelled)):
        modelled = named
    covered = frozenset().union(*(causes()[code].covers for code in modelled))
    left = [code for code in modelled if code not in covered]
    if any(finding.code in COUNTED for finding in wrong):
        left.append(UNKNOWN)
    return tuple(left) or (UNKNOWN,)


def _places(seen: Observations, name: str, kinds: Iterable[KindOfDifference]) -> Iterator[FaultPlace]:
    """The ports that differ, else the switch."""
    interfaces = dict.fromkeys(kind.name for kind in kinds if (name, kind.name) in seen.ends)
    if interfaces:
        yield from (FaultPlace(name, interface) for interface in interfaces)
    else:
        yield FaultPlace(name)


def _words(code: str, wrong: Sequence[Finding]) -> str:
    """The name of what differs; of what is in no model, the place that the audit names."""
    if code != UNKNOWN:
        return change_kinds()[code].words
    first = wrong[0]
    return first.where.removeprefix(first.switch).strip(": ") or first.problem


def _differences(name: str, kinds: Sequence[KindOfDifference]) -> Iterator[Evidence]:
    place = FaultPlace(name)
    for kind in kinds[:SHOWN]:
        text = f"line that one of switch and intent has: {kind.name}" if kind.change is None else _problem(kind.change)
        yield Evidence(kind=EvidenceKind.CONFIGURATION, place=place, text=text, source="running configuration")
    if len(kinds) > SHOWN:
        text = f"and {counted(len(kinds) - SHOWN, 'difference')} more of this kind"
        yield Evidence(kind=EvidenceKind.CONFIGURATION, place=place, text=text, source="running configuration")


def _problem(change: Change) -> str:
    """A difference from the intent to what the switch runs, as its problem."""
    return f"{change.path} {replace(change, before=change.after, after=change.before).problem}"


def _findings(name: str, findings: Iterable[Finding]) -> Iterator[Evidence]:
    for finding in findings:
        text = f"{finding.problem} [{finding.code}]"
        yield Evidence(kind=EvidenceKind.CONFIGURATION, place=FaultPlace(name), text=text, source="railfab audit")
