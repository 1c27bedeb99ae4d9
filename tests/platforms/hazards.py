"""Hazards that an edit of a rendered configuration has, as the tests of every platform compare them."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from railfab.device import DeviceModel
from railfab.platforms import Platform
from railfab.platforms.hazards import Hazard
from railfab.platforms.setting_patterns import matches


def patterns(
    own: Platform, text: str, rendered: str, intended: DeviceModel, configured: DeviceModel | None = None
) -> list[Hazard]:
    """The patterns that match a difference between a configuration and the rendered one."""
    return [hazard for hazard, _ in matches(own.hazards(), own.differences(text, rendered), intended, configured)]


def kinds(matched: Iterable[Hazard]) -> set[str]:
    return {hazard.kind for hazard in matched}


def without_edit(own: Platform, edits: Iterable[tuple[str, Callable[[], Iterable[Hazard]]]]) -> list[Hazard]:
    """The patterns that no edit of their kind matches.

    edits: the kind of each, and what finds the patterns that it matches; not asked where none of the kind is left.
    """
    left = [*own.hazards()]
    for kind, matched in edits:
        if any(hazard.kind == kind for hazard in left):
            hazards = [hazard for hazard in matched() if hazard.kind == kind]
            left = [hazard for hazard in left if hazard not in hazards]
    return left
