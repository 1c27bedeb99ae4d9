"""Design documents with a DS5000 for every switch."""

from __future__ import annotations

from pathlib import Path

from tests.platforms.other_switches import with_switches

from railfab.fabric import Design


def with_sonic(repository: Path, name: str, folder: Path) -> Design:
    """A design document with a DS5000 for every switch."""
    document = repository / "inventory" / "fabrics" / f"{name}.yml"
    return with_switches(document, folder, model="ds5000", platform="sonic")
