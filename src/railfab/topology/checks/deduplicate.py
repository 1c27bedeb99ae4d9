"""Findings that are alike are one line: the first place, and how many more."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import replace

from railfab.findings import Finding


def alike(findings: Iterable[Finding]) -> Iterator[Finding]:
    """Findings whose text differs in nothing but the place, as one."""
    return alike_by(((found.severity, found.problem, found.remedy), found) for found in findings)


def alike_by(keyed: Iterable[tuple[Hashable, Finding]]) -> Iterator[Finding]:
    """Findings of one key as one: the first of them stands for all."""
    first: dict[Hashable, Finding] = {}
    more: dict[Hashable, int] = {}
    for key, found in keyed:
        if key in first:
            more[key] = more.get(key, 0) + 1
        else:
            first[key] = found
    for key, found in first.items():
        yield replace(found, where=f"{found.where} and {more[key]} more") if key in more else found
