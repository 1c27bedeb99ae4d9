"""Findings of an audit, as tests compare them."""

from __future__ import annotations

from collections.abc import Iterable

from railfab.findings import Finding, Severity


def wrong(found: Iterable[Finding]) -> list[Finding]:
    """The errors and warnings."""
    return [one for one in found if one.severity is not Severity.NOTE]


def reasons(found: Iterable[Finding]) -> set[str]:
    """The names of the hazards, and the codes of the other findings."""
    return {
        one.problem.partition(": ")[0].removeprefix("hazard ") if one.code == "hazard" else one.code for one in found
    }
