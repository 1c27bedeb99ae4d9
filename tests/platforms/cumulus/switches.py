"""Design documents whose switches are all of Cumulus Linux."""

from __future__ import annotations

from pathlib import Path

from tests.platforms.other_switches import with_switches

from railfab.fabric import Design, design

NATIVE = ("single-switch", "single-rail", "gpu1024")
"""Design documents that name switches of Cumulus Linux."""
OTHERS = (
    "dual-esi",
    "dual-mlag",
    "dual-rail",
    "dual-vlan",
    "multi-pod",
    "multi-rail-own",
    "pod64-800g",
    "pod64-bundle",
    "rail-blocks",
    "routed",
    "shared-nic",
)
"""Design documents whose switches can all be those of Cumulus Linux; the others want 1 Gb/s or packets sprayed."""


def with_cumulus(repository: Path, name: str, folder: Path) -> Design:
    """A design document with a Spectrum-4 switch for every switch."""
    document = repository / "inventory" / "fabrics" / f"{name}.yml"
    if name in NATIVE:
        return design(document)
    return with_switches(document, folder, model="sn5600" if "800" in name else "sn5400", platform="cumulus")
