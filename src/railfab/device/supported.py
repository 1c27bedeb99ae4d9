"""Features of an intent that a device model cannot express: they are planned, but not rendered."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.errors import NotRenderedYet, RailfabError, raise_all
from railfab.intent import FabricIntent

MOST_REFLECTORS = 16
"""Largest number of `profile.reflectors`."""


def refuse(intent: FabricIntent) -> None:
    """Raise NotRenderedYet or Problems for every feature that cannot be rendered."""
    raise_all(list(unsupported(intent)))


def unsupported(intent: FabricIntent) -> Iterator[RailfabError]:
    """One error for each feature of an intent that a device model cannot express."""
    if intent.profile.control_plane == "ibgp":
        yield from _idle_switches(intent)


def _idle_switches(intent: FabricIntent) -> Iterator[RailfabError]:
    """Switches that forward nothing: within one AS and without an IGP, only a reflector passes routes on."""
    reflectors, backend = intent.profile.reflectors, intent.backend
    for name, tier in (("spines", backend.spines), ("super-spines", backend.super_spines)):
        if tier is not None and tier.count > reflectors:
            problem = f"{reflectors} of {tier.count} {name} reflect routes, and the others would forward nothing"
            enough = f"Use {tier.count}" if tier.count <= MOST_REFLECTORS else "Use control_plane: ebgp"
            yield NotRenderedYet("profile.reflectors", problem, enough)
