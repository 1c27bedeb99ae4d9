"""Design documents with a DS5000 for every switch."""

from __future__ import annotations

import re
from pathlib import Path

from railfab.fabric import Design, design

MODEL, PLATFORM = re.compile(r"(\bmodel: )[\w.-]+"), re.compile(r"(\bplatform: )\w+")


def with_sonic(repository: Path, name: str, folder: Path) -> Design:
    """A design document with a DS5000 for every switch, and RoCE, which alone can be rendered."""
    text = (repository / "inventory" / "fabrics" / f"{name}.yml").read_text()
    text = PLATFORM.sub(r"\1sonic", MODEL.sub(r"\1ds5000", text)).replace("transport: uet", "transport: rocev2")
    file = folder / f"{name}.yml"
    file.write_text(text.replace("lossless: {pfc: false}", "lossless: {pfc: true}"))
    return design(file)
