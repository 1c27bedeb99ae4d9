"""Design documents whose switches are all of Junos."""

from __future__ import annotations

from pathlib import Path

from tests.platforms.other_switches import with_switches

from railfab.fabric import Design

INTENTS = (
    *("dual-esi", "dual-plane", "dual-rail", "dual-vlan", "multi-pod", "multi-rail", "multi-rail-own"),
    *("pod64", "pod64-800g", "pod64-bundle", "rail-blocks", "shared-nic", "single-switch"),
)
"""Design documents whose switches can all be QFX5240; the one with an MLAG pair asks for what the switch lacks."""


def with_junos(repository: Path, name: str, folder: Path) -> Design:
    """A design document with a QFX5240 for every switch."""
    document = repository / "inventory" / "fabrics" / f"{name}.yml"
    return with_switches(document, folder, model="qfx5240-64od", platform="junos")
