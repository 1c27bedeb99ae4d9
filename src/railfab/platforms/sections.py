"""The face `sections.yml` of a platform: the sections of a configuration that decide how the fabric forwards.

A setting there that railfab neither models nor knows as a hazard may break RoCE unseen, unless it is on the list of
harmless settings. Elsewhere it belongs to the operator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from railfab.device import DeviceModel
from railfab.platforms.differences import Difference
from railfab.platforms.setting_patterns import SettingPattern, matches, place_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SectionPattern(SettingPattern):
    """Settings of a section of the fabric, or harmless ones there. reason: why they are."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sections:
    """fabric: settings in sections of the fabric. harmless: those among them that change nothing for RoCE."""

    fabric: tuple[SectionPattern, ...] = ()
    harmless: tuple[SectionPattern, ...] = ()


def settings_of_the_fabric(
    sections: Sections, differences: Iterable[Difference], intended: DeviceModel, configured: DeviceModel
) -> frozenset[str]:
    """The texts of those differences that are in a section of the fabric and not harmless."""
    differences = tuple(differences)
    within, harmless = (
        {difference.text for _, difference in matches(patterns, differences, intended, configured)}
        for patterns in (sections.fabric, sections.harmless)
    )
    return frozenset(within - harmless)


def sections_of(document: Mapping[str, Any]) -> Sections:
    """The sections of `sections.yml`: `fabric` and `harmless`, lists of `path` or `line`, conditions and a `reason`.

    Raises ValueError, naming the entry, for one that is not valid.
    """
    fabric, harmless = (tuple(map(_section_pattern, document[name])) for name in ("fabric", "harmless"))
    return Sections(fabric=fabric, harmless=harmless)


def _section_pattern(entry: Mapping[str, Any]) -> SectionPattern:
    try:
        fields = dict(entry)
        pattern = SectionPattern(**place_of(fields), **fields)
        if not pattern.reason or pattern.reason.endswith("."):
            raise ValueError("needs a reason without a full stop")
    except (ValueError, TypeError, re.error) as error:
        raise ValueError(f"section {entry.get('line', entry.get('path', entry))}: {error}") from None
    return pattern
