"""Switch operating systems: one folder each, found by name, mostly data."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules

from railfab.errors import UnknownPlatform
from railfab.platforms.admission import admit
from railfab.platforms.contract import (
    Capabilities,
    Confidence,
    Dialect,
    LabFacts,
    Platform,
    Session,
    Support,
    TelemetryMap,
    TelemetryRule,
    Tree,
)

__all__ = [
    "Capabilities",
    "Confidence",
    "Dialect",
    "LabFacts",
    "Platform",
    "Session",
    "Support",
    "TelemetryMap",
    "TelemetryRule",
    "Tree",
    "admit",
    "platform",
    "platform_names",
]

ENTRY_POINTS = "railfab.platforms"


def platform_names() -> tuple[str, ...]:
    """Every platform there is: the folders of this room and what other distributions register, sorted."""
    folders = {module.name for module in iter_modules(__path__) if module.ispkg}
    return tuple(sorted(folders | {point.name for point in entry_points(group=ENTRY_POINTS)}))


@cache
def platform(name: str) -> Platform:
    """The platform of that name. Raises UnknownPlatform."""
    if name not in platform_names():
        raise UnknownPlatform(f"platform {name!r}", "is not known", f"Use one of {', '.join(platform_names())}")
    for point in entry_points(group=ENTRY_POINTS):
        if point.name == name:
            found: Platform = point.load()
            return found
    found = import_module(f"{__name__}.{name}").PLATFORM
    return found
