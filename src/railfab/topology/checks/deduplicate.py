"""Merge findings that repeat: one finding with the first place and the number of further places."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace

from railfab.findings import Finding


def deduplicate(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Merge findings that differ only in their place."""
    return deduplicate_by(((finding.severity, finding.problem, finding.remedy), finding) for finding in findings)


def deduplicate_by(keyed: Iterable[tuple[Hashable, Finding]]) -> Iterator[Finding]:
    """Merge findings with equal keys: the first one, with the number of the others in its place."""
    first: dict[Hashable, Finding] = {}
    more: dict[Hashable, int] = {}
    for key, finding in keyed:
        if key in first:
            more[key] = more.get(key, 0) + 1
        else:
            first[key] = finding
    for key, finding in first.items():
        yield replace(finding, where=f"{finding.where} and {more[key]} more") if key in more else finding
