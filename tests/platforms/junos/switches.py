"""Design documents whose switches are all of Junos, and the switches of them that tests look at."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from railfab.device import DeviceModel
from railfab.fabric import Design, design

EVERY = os.environ.get("RAILFAB_SWITCHES") == "all"
"""Whether all switches of the intents are judged (`make oracles`), or one of each role and intent."""

INTENTS = (
    *("dual-esi", "dual-plane", "dual-rail", "dual-vlan", "multi-pod", "multi-rail", "multi-rail-own"),
    *("pod64", "pod64-800g", "pod64-bundle", "rail-blocks", "shared-nic", "single-switch"),
)
"""Design documents whose switches can all be QFX5240; the one with an MLAG pair asks for what the switch lacks."""

MODEL, PLATFORM = re.compile(r"(\bmodel: )[\w.-]+"), re.compile(r"(\bplatform: )\w+")


def with_junos(repository: Path, name: str, folder: Path) -> Design:
    """A design document with a QFX5240 for every switch, and RoCE, which alone can be rendered."""
    text = (repository / "inventory" / "fabrics" / f"{name}.yml").read_text()
    text = PLATFORM.sub(r"\1junos", MODEL.sub(r"\1qfx5240-64od", text)).replace("transport: uet", "transport: rocev2")
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
