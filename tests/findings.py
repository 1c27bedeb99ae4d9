"""Findings of an audit, as tests compare them."""

from __future__ import annotations

from collections.abc import Iterable

from railfab.findings import Finding, Severity


def wrong(found: Iterable[Finding]) -> list[Finding]:
    """The errors and warnings."""
    return [one for one in found if one.severity is not Severity.NOTE]


def reasons(found: Iterable[Finding]) -> set[str]:
    """The codes of findings."""
    return {one.code for one in found}
