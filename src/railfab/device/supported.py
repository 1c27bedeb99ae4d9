"""Features of an intent that a device model cannot express yet: they are planned, but not rendered."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.errors import RailfabError, UnsupportedFeature, raise_all
from railfab.intent import FabricIntent


def refuse(intent: FabricIntent) -> None:
    """Raise UnsupportedFeature or Problems for every feature that cannot be rendered."""
    raise_all(list(unsupported(intent)))


def unsupported(intent: FabricIntent) -> Iterator[RailfabError]:
    """One error for each feature of an intent that a device model cannot express."""
    for where, value, supported in _choices(intent):
        if value != supported:
            problem = f"configurations cannot be rendered with {value} yet"
            yield UnsupportedFeature(where, problem, f"`railfab plan` documents it; to render, use {supported}")
    for name in ("frontend", "storage", "management"):
        if getattr(intent, name) is not None:
            problem = "configurations of this network cannot be rendered yet"
            yield UnsupportedFeature(name, problem, "`railfab plan` documents it; to render, leave it out")


def _choices(intent: FabricIntent) -> Iterator[tuple[str, str, str]]:
    """Key, its value in the intent, and the value that can be rendered."""
    profile, backend = intent.profile, intent.backend
    yield "profile.control_plane", profile.control_plane, "ebgp"
    yield "profile.data_plane", profile.data_plane, "ethernet"
    yield "profile.family", profile.family, "ipv4"
    yield "profile.ecmp", profile.ecmp, "flow"
    yield "profile.transport", profile.transport, "rocev2"
    yield "hosts.attach", intent.hosts.attach, "routed"
    for name, tier in (("spines", backend.spines), ("super_spines", backend.super_spines)):
        if tier is not None:
            yield f"backend.{name}.bundle", "a port channel" if tier.bundle else "single links", "single links"
