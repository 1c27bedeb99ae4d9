"""One mistake has one kind and one severity, whatever the platform."""

from __future__ import annotations

from collections import defaultdict

import pytest
from tests.audit.cases import PLATFORMS, cases
from tests.platforms.small_fabrics import design_of

from railfab.fabric.audit import SwitchAudit, findings_of_audits, switch_audit
from railfab.findings import Finding, Severity
from railfab.platforms import platform
from railfab.platforms.hazard_kinds import hazard_kinds

LEAF, SECOND = "pod1-seg1-leaf1", "pod1-seg2-leaf1"


def test_a_mistake_of_several_platforms_has_one_kind_and_one_severity() -> None:
    """The mistakes with the same words."""
    judged: dict[str, set[tuple[str, str]]] = defaultdict(set)
    for case in cases("mistakes"):
        judged[case.words.casefold()].add((case.said["kind"], case.said.get("severity", "error")))
    assert {words: kinds for words, kinds in judged.items() if len(kinds) > 1} == {}


def test_a_consequence_of_several_platforms_has_one_severity() -> None:
    severities: dict[tuple[str, str], set[Severity]] = defaultdict(set)
    for name in PLATFORMS:
        for hazard in platform(name).hazards():
            severities[hazard.kind, hazard.consequence].add(hazard.severity)
    assert {place for place, several in severities.items() if len(several) > 1} == set()


@pytest.mark.parametrize("name", PLATFORMS)
def test_another_severity_than_that_of_the_kind_has_a_consequence_of_its_own(name: str) -> None:
    kinds = hazard_kinds()
    without = [
        hazard.lines or hazard.paths
        for hazard in platform(name).hazards()
        if hazard.severity is not kinds[hazard.kind].severity and hazard.consequence == kinds[hazard.kind].consequence
    ]
    assert without == []


def router_id_findings(audits: dict[str, SwitchAudit]) -> list[Finding]:
    findings = findings_of_audits(design_of("eos", "eos"), audits)
    return [finding for finding in findings if finding.code == "wrong-router-id"]


def test_a_router_id_of_two_audited_switches_that_neither_is_to_have_is_an_error() -> None:
    design = design_of("eos", "eos")
    texts = {name: design.texts[name] for name in (LEAF, SECOND)}
    ids = {name: str(design.models[name].bgp.router_id) for name in texts if design.models[name].bgp}
    audits = {
        name: switch_audit(design, name, text.replace(f"router-id {ids[name]}", "router-id 10.254.200.1"))
        for name, text in texts.items()
    }
    assert [finding.severity for finding in router_id_findings({LEAF: audits[LEAF]})] == [Severity.WARNING]
    duplicates = router_id_findings(audits)
    assert [finding.severity for finding in duplicates] == [Severity.ERROR, Severity.ERROR]
    assert SECOND in duplicates[0].problem
    assert LEAF in duplicates[1].problem
