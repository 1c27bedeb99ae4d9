"""Design documents whose switches are all of Cumulus Linux, and the switches of them that tests look at."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from railfab.device import DeviceModel
from railfab.fabric import Design, design

EVERY = os.environ.get("RAILFAB_SWITCHES") == "all"
"""Whether all switches of the intents are judged (`make oracles`), or one of each role and intent."""

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

MODEL, PLATFORM = re.compile(r"(\bmodel: )[\w.-]+"), re.compile(r"(\bplatform: )\w+")


def with_cumulus(repository: Path, name: str, folder: Path) -> Design:
    """A design document with a Spectrum-4 switch for every switch."""
    original = repository / "inventory" / "fabrics" / f"{name}.yml"
    if name in NATIVE:
        return design(original)
    text = original.read_text()
    chosen = "sn5600" if "800" in name else "sn5400"
    text = PLATFORM.sub(r"\1cumulus", MODEL.sub(rf"\1{chosen}", text)).replace("transport: uet", "transport: rocev2")
    file = folder / f"{name}.yml"
    file.write_text(text.replace("lossless: {pfc: false}", "lossless: {pfc: true}"))
    return design(file)


def judged(fabric: Design) -> Iterator[DeviceModel]:
    """The switches to judge: all, or the first of each role."""
    seen: set[str] = set()
    for name, model in fabric.models.items():
        role = name.rstrip("0123456789").rpartition("-")[2]
        if EVERY or role not in seen:
            yield model
        seen.add(role)
