"""The face `interruptions.yml` of a platform: which kinds of changes interrupt forwarding there, and who says so.

The kinds are those of `change_kinds.yml`, where each field of a device model has one. A kind of which neither a
standard nor the platform says anything counts as interrupting.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import Any

from railfab.device.diff import Change
from railfab.yaml_reader.packaged import packaged

PACKAGE = "railfab.platforms"
UNKNOWN = "unknown"
"""The kind of a difference that no other kind covers."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeKind:
    """One kind of change. words: of a reason. standard: that says that it interrupts on every platform, and why."""

    code: str
    words: str
    fields: tuple[str, ...] = ()
    standard: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruption:
    """Whether a kind of change interrupts forwarding on a platform. source: document and section, or measurement."""

    interrupts: bool
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Interruptions:
    """by_kind: of a platform. lines: patterns of lines that are in no model, with the code of their kind.

    The group `name` of a pattern is what the line is about, such as a port.
    """

    by_kind: Mapping[str, Interruption] = field(default_factory=dict)
    lines: tuple[tuple[re.Pattern[str], str], ...] = ()

    def of(self, code: str) -> Interruption | None:
        """Knowledge about a kind; None where there is none."""
        if standard := change_kinds()[code].standard:
            return Interruption(interrupts=True, source=standard)
        return self.by_kind.get(code)

    def interrupts(self, code: str) -> bool:
        """Whether a kind interrupts, or is not known to leave forwarding alone."""
        known = self.of(code)
        return known is None or known.interrupts

    def kind_of_line(self, line: str) -> tuple[str, str]:
        """The code of the kind of a line that is in no model, and what it is about: by default the line itself."""
        for pattern, code in self.lines:
            if match := pattern.fullmatch(line):
                return code, match.groupdict().get("name") or line
        return UNKNOWN, line


@cache
def change_kinds() -> Mapping[str, ChangeKind]:
    """The kinds of `change_kinds.yml` by code, in its order."""
    entries = packaged(PACKAGE, "change_kinds.yml").items()
    kinds = (ChangeKind(code=code, fields=tuple(entry.pop("fields", ())), **entry) for code, entry in entries)
    return MappingProxyType({kind.code: kind for kind in kinds})


def kind_of(change: Change) -> str:
    """The code of the kind of a difference between two models; UNKNOWN without one."""
    codes = _codes()
    return next((codes[path] for path in _paths(change) if path in codes), UNKNOWN)


@cache
def _codes() -> Mapping[str, str]:
    """The code of each path. Raises ValueError for a path of two kinds."""
    codes: dict[str, str] = {}
    for kind in change_kinds().values():
        for path in kind.fields:
            if codes.setdefault(path, kind.code) != kind.code:
                raise ValueError(f"{path} is of the kinds {codes[path]} and {kind.code}")
    return codes


def _paths(change: Change) -> Iterator[str]:
    """The paths by which the kinds may name the field of a change, the most exact one first."""
    names = [step.field for step in change.steps]
    sign = _sign(change)
    if (change.steps[0].key or "").startswith("loopback"):
        yield f"{'.'.join(['loopbacks', *names[1:]])}{sign}"
    path = ".".join(names)
    yield f"{path}{sign}"
    if sign in ("+", "-") and change.steps[-1].key is None:
        yield path
    if change.is_order:
        return
    for depth in range(len(names) - 1, 0, -1):
        yield f"{'.'.join(names[:depth])}.*"


def _sign(change: Change) -> str:
    if change.is_order:
        return " order"
    if change.steps[-1].key is None:
        return {(): "-", True: "+", False: "-"}.get(change.after, "") if isinstance(change.after, bool | tuple) else ""
    return "+" if change.before is None else "-" if change.after is None else ""


def interruptions_of(document: Mapping[str, Any]) -> Interruptions:
    """The content of `interruptions.yml`. Raises ValueError, naming the entry, for one that is not valid.

    `kinds`: a list of `kinds` (codes), `interrupts` and `source`. `lines`: a list of `line`, a regular expression, and
    `kind`.
    """
    by_kind: dict[str, Interruption] = {}
    for entry in document["kinds"]:
        interruption = Interruption(interrupts=entry["interrupts"], source=entry["source"])
        for code in _checked(entry["kinds"]):
            if not interruption.source or interruption.source.endswith("."):
                raise ValueError(f"{code}: needs a source, without a full stop")
            if code in by_kind or code == UNKNOWN or change_kinds()[code].standard:
                raise ValueError(f"{code}: has another entry, or a standard in change_kinds.yml")
            by_kind[code] = interruption
    patterns = [(re.compile(entry["line"]), entry["kind"]) for entry in document.get("lines", ())]
    list(_checked(code for _, code in patterns))
    return Interruptions(by_kind=by_kind, lines=tuple(patterns))


def _checked(codes: Iterable[str]) -> Iterator[str]:
    for code in codes:
        if code not in change_kinds():
            raise ValueError(f"{code}: is no kind of change_kinds.yml")
        yield code
