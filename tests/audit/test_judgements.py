"""An audit judges edits of a configuration as an experienced engineer of its platform does: `tests/audit/*.yml`."""

from __future__ import annotations

from collections import Counter

import pytest
from tests.audit.cases import LISTS, PLATFORMS, Case, cases

from railfab.findings import DifferenceCode, Severity
from railfab.platforms import platform

LEAST = {"mistakes": 40, "harmless": 20, "spellings": 5}
"""Number of cases of each platform."""
FOLLOWS = {DifferenceCode.CONFIGURATION_DIFFERS, DifferenceCode.UNMODELLED_DIFFERENCE}
"""Codes that may follow from any mistake: the value itself differs from the intent."""


@pytest.mark.parametrize("case", [*cases("mistakes")], ids=str)
def test_a_mistake_has_its_finding(case: Case) -> None:
    findings = case.findings
    worst_last = sorted(findings, key=lambda finding: list(Severity).index(finding.severity), reverse=True)
    severities = {str(finding.code): str(finding.severity) for finding in worst_last}
    said = [finding.line for finding in findings]
    assert severities.get(case.said["kind"]) == case.said.get("severity", "error"), said
    assert severities.keys() - FOLLOWS <= {case.said["kind"], *case.said.get("also", ())}, said


@pytest.mark.parametrize("case", [*cases("harmless")], ids=str)
def test_a_harmless_edit_has_none(case: Case) -> None:
    assert [finding.line for finding in case.findings] == []


@pytest.mark.parametrize("case", [*cases("spellings")], ids=str)
def test_another_spelling_is_read_as_the_same(case: Case) -> None:
    assert [finding.line for finding in case.findings] == []
    read, rendered = platform(case.platform), case.design.texts[case.name]
    text = read.aligned(case.text, rendered)[0] if read.aligned else case.text
    assert read.parse(text) == read.parse(rendered)


@pytest.mark.parametrize("name", PLATFORMS)
def test_a_platform_has_enough_cases_each_with_words_of_its_own_and_a_source(name: str) -> None:
    for kind, least in LEAST.items():
        listed = list(cases(kind, [name]))
        assert len(listed) >= least, kind
        assert [words for words, number in Counter(case.words for case in listed).items() if number > 1] == []
        assert all(case.source and case.said.keys() >= {LISTS[kind]} for case in listed)
