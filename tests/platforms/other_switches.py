"""Design documents with one switch model in all places, and the switches of a design that its platform is judged by."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from railfab.device import DeviceModel
from railfab.fabric import Design, design

EVERY = os.environ.get("RAILFAB_SWITCHES") == "all"
"""Whether all switches of the intents are judged (`make oracles`), or one of each role and intent."""

MODEL, PLATFORM = re.compile(r"(\bmodel: )[\w.-]+"), re.compile(r"(\bplatform: )\w+")


def with_switches(document: Path, folder: Path, *, model: str, platform: str) -> Design:
    """A design document with one switch model, and with lossless RoCE, which every platform can render."""
    text = PLATFORM.sub(rf"\g<1>{platform}", MODEL.sub(rf"\g<1>{model}", document.read_text()))
    text = text.replace("transport: uet", "transport: rocev2").replace(
        "lossless: {pfc: false}", "lossless: {pfc: true}"
    )
    file = folder / document.name
    file.write_text(text)
    return design(file)


def judged(switches: Iterable[DeviceModel]) -> Iterator[DeviceModel]:
    """The switches of a fabric to judge: all, or the first of each role."""
    seen: set[str] = set()
    for model in switches:
        role = model.name.rstrip("0123456789").rpartition("-")[2]
        if EVERY or role not in seen:
            yield model
        seen.add(role)
