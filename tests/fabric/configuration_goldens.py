"""Rendered configurations that are committed: a leaf, a spine and a super-spine of every fabric and lab.

Of each switch, the file has one port and one LAG of each kind, which is short enough to be read; the hash is that of
the whole configuration.

python -m tests.fabric.configuration_goldens [FABRIC ...]      writes them anew
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Collection, Mapping
from functools import cache
from pathlib import Path

from tests.fabric.sampled import sampled_file
from tests.fabric.thinned import thinned

from railfab.fabric import Design
from railfab.fabric.design import external_text, render_text
from railfab.platforms import platform

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "configurations"
HASHES = "SHA256"


def intents() -> dict[str, Path]:
    """The intent files that are committed, by the name of their fabric."""
    paths = [*(ROOT / "inventory" / "fabrics").glob("*.yml"), *(ROOT / "labs").glob("*/intent.yml")]
    return {path.parent.name if path.stem == "intent" else path.stem: path for path in sorted(paths)}


@cache
def sampled(name: str) -> Design:
    """One switch of each kind."""
    return sampled_file(intents()[name])


def golden(name: str) -> dict[str, str]:
    """Configurations of one switch of each network, role and platform, by file name."""
    fabric = sampled(name)
    found = {HASHES: ""}
    for switch in sorted(fabric.models):
        model, planned = fabric.models[switch], thinned(fabric.planned_models[switch], fabric.topology)
        file = f"{switch}.{platform(model.platform).suffix}"
        found[file] = external_text(planned) + render_text(thinned(model, fabric.topology))
        found[HASHES] += f"{hashlib.sha256(fabric.texts[switch].encode()).hexdigest()}  {file}\n"
    return found


def committed(name: str) -> dict[str, str]:
    return {path.name: path.read_text() for path in (GOLDEN / name).iterdir()}


def write(folder: Path, configurations: Mapping[str, Mapping[str, str]]) -> None:
    """Write the folders of these fabrics, and remove what their folders had before."""
    for name, files in configurations.items():
        shutil.rmtree(folder / name, ignore_errors=True)
        (folder / name).mkdir(parents=True)
        for file, text in files.items():
            (folder / name / file).write_text(text)


def remove_stale(folder: Path, names: Collection[str]) -> None:
    """Remove the folders of all other fabrics."""
    for stale in folder.iterdir():
        if stale.name not in names:
            shutil.rmtree(stale)


if __name__ == "__main__":
    write(GOLDEN, {name: golden(name) for name in sys.argv[1:] or intents()})
    remove_stale(GOLDEN, intents())
