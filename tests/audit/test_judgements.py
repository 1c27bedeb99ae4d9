"""An audit judges edits of a configuration as an experienced engineer of its platform does: `tests/audit/*.yml`."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from tests.audit.cases import LISTS, PLATFORMS, Case, cases

from railfab.findings import DifferenceCode, Severity
from railfab.platforms import platform

LEAST = {"mistakes": 40, "harmless": 20, "spellings": 5}
"""Number of cases of each platform."""
TRIED = {"mistakes": 20, "harmless": 10, "spellings": 5}
"""How many of them `make test` tries."""
FOLLOWS = {DifferenceCode.CONFIGURATION_DIFFERS, DifferenceCode.UNMODELLED_DIFFERENCE}
"""Codes that may follow from any mistake: the value itself differs from the intent."""


def shown(kind: str) -> list[Any]:
    """The cases of a list: of each platform at least TRIED of them in `make test`, the others in `make matrix`."""
    parameters = []
    for name in PLATFORMS:
        listed = list(cases(kind, [name]))
        step = max(1, len(listed) // TRIED[kind])
        for place, case in enumerate(listed):
            marks = () if place % step == 0 else pytest.mark.matrix
            parameters.append(pytest.param(case, id=str(case), marks=marks))
    return parameters


@pytest.mark.parametrize("case", shown("mistakes"))
def test_a_mistake_has_its_finding(case: Case) -> None:
    findings = case.findings
    worst_last = sorted(findings, key=lambda finding: list(Severity).index(finding.severity), reverse=True)
    severities = {str(finding.code): str(finding.severity) for finding in worst_last}
    said = [finding.line for finding in findings]
    assert severities.get(case.said["kind"]) == case.said.get("severity", "error"), said
    follows = set() if case.said.get("alone") else FOLLOWS
    assert severities.keys() - follows <= {case.said["kind"], *case.said.get("also", ())}, said


@pytest.mark.parametrize("case", shown("harmless"))
def test_a_harmless_edit_has_none(case: Case) -> None:
    assert [finding.line for finding in case.findings] == []


@pytest.mark.parametrize("case", shown("spellings"))
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
