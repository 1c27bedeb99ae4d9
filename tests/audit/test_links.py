"""An audit judges two ends of a link of different vendors: `tests/audit/links/links.yml`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.audit.edits import base_text, edited
from tests.platforms.small_fabrics import design_of

from railfab.fabric.audit import SwitchAudit, findings_of_audits, switch_audit
from railfab.findings import Severity

CASES: Mapping[str, list[dict[str, Any]]] = yaml.load(
    (Path(__file__).parent / "links/links.yml").read_text(), yaml.CSafeLoader
)
NAMES = {"leaf": "pod1-seg1-leaf1", "spine": "pod1-spine1"}
WORDS = {"mismatches": "mismatch", "harmless": "difference"}


def parameters(kind: str) -> Iterator[Any]:
    for case in CASES[kind]:
        yield pytest.param(case, id=f"{'-'.join(case['ends'])}: {case[WORDS[kind]]}")


def audits(case: Mapping[str, Any]) -> tuple[Any, dict[str, SwitchAudit]]:
    """The fabric of a case, and the audit of both ends after its edits."""
    design = design_of(*case["ends"], numbered=case.get("numbered", False))
    texts = {
        NAMES[end]: edited(platform, base_text(platform, design.texts[NAMES[end]]), case.get(end, ()))
        for end, platform in zip(NAMES, case["ends"], strict=True)
    }
    return design, {name: switch_audit(design, name, text) for name, text in texts.items()}


@pytest.mark.parametrize("case", [*parameters("mismatches")])
def test_a_mismatch_of_two_vendors_has_its_finding(case: Mapping[str, Any]) -> None:
    findings = findings_of_audits(*audits(case))
    severities = {str(finding.code): str(finding.severity) for finding in reversed(findings)}
    assert severities.get(case["code"]) == case.get("severity", "error"), [finding.line for finding in findings]


@pytest.mark.parametrize("case", [*parameters("harmless")])
def test_a_harmless_difference_of_two_vendors_has_no_finding_about_the_link(case: Mapping[str, Any]) -> None:
    design, audited = audits(case)
    ends = {name: SwitchAudit(audit.model, ()) for name, audit in audited.items()}
    findings = findings_of_audits(design, ends)
    assert [finding.line for finding in findings if finding.severity is not Severity.NOTE] == []


def test_there_are_enough_cases_of_both() -> None:
    assert len(CASES["mismatches"]) >= 30
    assert len(CASES["harmless"]) >= 10
