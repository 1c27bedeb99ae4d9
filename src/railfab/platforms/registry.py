"""Finds platforms by name: subpackages of railfab.platforms and entry points of other packages."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import TYPE_CHECKING

from railfab.errors import UnknownPlatform
from railfab.platforms.contract import Platform

if TYPE_CHECKING:
    from importlib.metadata import EntryPoints

ENTRY_POINTS = "railfab.platforms"


@cache
def platform_names() -> tuple[str, ...]:
    """Names of all platforms, sorted."""
    return tuple(sorted(_folders() | _registered().names))


@cache
def has_platform(name: str) -> bool:
    """Whether there is a platform of that name. Other packages are asked only for names that are none of our own."""
    return _is_own(name) or name in _registered().names


def _is_own(name: str) -> bool:
    return name in _folders()


@cache
def _folders() -> frozenset[str]:
    """Names of the platforms in this package."""
    modules = iter_modules([str(Path(__file__).parent)])
    return frozenset(module.name for module in modules if module.ispkg) - {"shared"}


@cache
def _registered() -> EntryPoints:
    """Platforms registered by other packages; cached, since the lookup reads a file of every installed package."""
    from importlib.metadata import entry_points

    return entry_points(group=ENTRY_POINTS)


def registered_modules() -> tuple[str, ...]:
    """Modules of the platforms that other packages register, sorted."""
    return tuple(sorted({entry.module for entry in _registered()}))


@cache
def platforms_called(name: str) -> frozenset[str]:
    """The platforms that a name stands for in railfab or another tool; several for `linux`, none for an unknown one."""
    if has_platform(name):
        return frozenset((name,))
    plain = name.removesuffix("_ssh")  # netmiko has each of its names with it too
    return frozenset(known for known in platform_names() if platform(known).names & {name, plain})


@cache
def platform(name: str) -> Platform:
    """The platform of that name; one of our own before that of another package. Raises UnknownPlatform."""
    if not has_platform(name):
        raise UnknownPlatform(f"platform {name!r}", "does not exist", f"Use one of {', '.join(platform_names())}")
    if _is_own(name):
        built_in: Platform = import_module(f"railfab.platforms.{name}").PLATFORM
        return built_in
    registered: Platform = _registered()[name].load()
    return registered
