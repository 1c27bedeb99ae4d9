"""The face `hazards.yml` of a platform: configuration that a switch accepts and that breaks or slows RoCE.

A hazard is data: a place, conditions on the values there, and the consequence. It is looked for in the differences
between a configuration and the rendered intent, because what the intent itself says is not a hazard but a design.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from railfab.findings import HazardCode, Severity
from railfab.platforms.hazard_kinds import HazardKind, hazard_kinds
from railfab.platforms.setting_patterns import SettingPattern, place_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Hazard(SettingPattern):
    """Pattern of a kind on one platform.

    consequence, severity, remedy: those of the kind, unless the platform has its own. source: document and section
    that says so.
    """

    kind: HazardCode
    consequence: str
    severity: Severity
    remedy: str
    source: str


def hazard_of(entry: Mapping[str, Any]) -> Hazard:
    """The hazard of an entry of `hazards.yml`. Raises ValueError, naming its kind, for one that is not valid."""
    try:
        fields = dict(entry)
        kind = _kind(fields.pop("kind", None))
        hazard = Hazard(
            kind=kind.code,
            consequence=fields.pop("consequence", kind.consequence),
            severity=Severity(fields.pop("severity", kind.severity)),
            remedy=fields.pop("remedy", kind.remedy),
            **place_of(fields),
            **fields,
        )
        _check(hazard)
    except (ValueError, TypeError, KeyError, re.error) as error:
        raise ValueError(f"hazard {entry.get('kind', entry)}: {error}") from None
    return hazard


@dataclass(frozen=True, slots=True, kw_only=True)
class HazardGap:
    """Reason why a platform has no pattern of a kind.

    instead: kinds of the platform by which the mistake is found. Without them, its switches cannot be configured with
    the mistake, as the source says.
    """

    reason: str
    source: str = ""
    instead: tuple[HazardCode, ...] = ()


def gaps_of(entries: Iterable[Mapping[str, Any]], hazards: Iterable[Hazard]) -> Mapping[HazardCode, HazardGap]:
    """The gaps by kind, of `gaps` of `hazards.yml`: `kinds`, the kinds that are given `instead`, `reason` and `source`.

    Raises ValueError for an entry that is not valid, for a kind that has another entry or a pattern, and for a kind
    given instead that has no pattern.
    """
    patterns, gaps = {hazard.kind for hazard in hazards}, dict[HazardCode, HazardGap]()
    for entry in entries:
        fields = dict(entry)
        codes = [_kind(code).code for code in fields.pop("kinds")]
        instead = tuple(_kind(code).code for code in fields.pop("instead", ()))
        gap = HazardGap(instead=instead, **fields)
        if not gap.reason or gap.reason.endswith(".") or not (gap.instead or gap.source):
            raise ValueError(f"gap {', '.join(codes)}: needs a reason without a full stop, and a source or `instead`")
        if without := [code for code in instead if code not in patterns]:
            raise ValueError(f"gap {', '.join(codes)}: {', '.join(without)}, given instead, has no pattern")
        if several := [code for code in codes if code in patterns or code in gaps]:
            raise ValueError(f"gap {', '.join(several)}: has a pattern or another gap")
        gaps.update(dict.fromkeys(codes, gap))
    return gaps


def _kind(code: str | None) -> HazardKind:
    if code is None or code not in hazard_kinds():
        raise ValueError("needs a `kind` of hazard_kinds.yml")
    return hazard_kinds()[code]


def _check(hazard: Hazard) -> None:
    if hazard.severity is Severity.NOTE:
        raise ValueError("`severity` is error or warning")
    if not (hazard.consequence and hazard.source) or hazard.consequence.endswith("."):
        raise ValueError("needs a source, and a consequence without a full stop")
