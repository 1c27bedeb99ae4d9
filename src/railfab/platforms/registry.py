"""Finds platforms by name: subpackages of railfab.platforms and entry points of other packages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoints, entry_points
from pathlib import Path
from pkgutil import iter_modules

from railfab.errors import UnknownPlatform
from railfab.platforms.contract import Platform

ENTRY_POINTS = "railfab.platforms"


@cache
def platform_names() -> tuple[str, ...]:
    """Names of all platforms, sorted."""
    folders = {module.name for module in iter_modules([str(Path(__file__).parent)]) if module.ispkg} - {"shared"}
    return tuple(sorted(folders | _registered().names))


@cache
def _registered() -> EntryPoints:
    """Platforms registered by other packages; cached, since the lookup reads a file of every installed package."""
    return entry_points(group=ENTRY_POINTS)


@cache
def platform(name: str) -> Platform:
    """The platform of that name. Raises UnknownPlatform."""
    if name not in platform_names():
        raise UnknownPlatform(f"platform {name!r}", "does not exist", f"Use one of {', '.join(platform_names())}")
    for point in _registered():
        if point.name == name:
            found: Platform = point.load()
            return found
    own: Platform = import_module(f"railfab.platforms.{name}").PLATFORM
    return own
