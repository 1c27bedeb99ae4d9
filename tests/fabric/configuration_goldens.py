"""Rendered configurations that are committed: the first leaf, spine and super-spine of every fabric and lab.

python -m tests.fabric.configuration_goldens [FABRIC ...]      writes them anew
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

from railfab.device import unsupported
from railfab.errors import RailfabError
from railfab.fabric import design
from railfab.intent import FabricIntent, load_intent
from railfab.platforms import platform, platform_names
from railfab.topology.dimensions import Dimensions

ROOT = Path(__file__).parents[2]
GOLDEN = ROOT / "tests" / "golden" / "configurations"


def intents() -> dict[str, Path]:
    """The intent files that are committed, by the name of their fabric."""
    paths = [*(ROOT / "inventory" / "fabrics").glob("*.yml"), *(ROOT / "labs").glob("*/intent.yml")]
    return {path.parent.name if path.stem == "intent" else path.stem: path for path in sorted(paths)}


def rendered() -> list[str]:
    """Names of the fabrics that can be rendered today."""
    return [name for name, path in intents().items() if _can_be_rendered(path)]


def _can_be_rendered(path: Path) -> bool:
    intent = load_intent(path)
    if any(unsupported(intent)) or not _platforms(intent) <= set(platform_names()):
        return False
    try:
        return bool(design(path).models)
    except RailfabError:
        return False


def _platforms(intent: FabricIntent) -> set[str]:
    """Platforms of an intent's switches; known before the fabric, which may be large, is wired."""
    sizes = Dimensions(intent)
    tiers = ((sizes.segments, sizes.leaf_model), (sizes.spines, sizes.spine_model), (sizes.supers, sizes.super_model))
    return {tier.platform or model.platform for tier, model in tiers if tier is not None and model is not None}


def golden(name: str) -> dict[str, str]:
    """Configurations of one switch of each role, by file name."""
    fabric = design(intents()[name])
    first = {node.role: node.name for node in reversed(fabric.topology.switches())}
    texts = fabric.configurations()
    return {f"{switch}.{platform(fabric.models[switch].platform).suffix}": texts[switch] for switch in first.values()}


def committed(name: str) -> dict[str, str]:
    return {path.name: path.read_text() for path in (GOLDEN / name).iterdir()}


def write(name: str, configurations: Mapping[str, str]) -> None:
    shutil.rmtree(GOLDEN / name, ignore_errors=True)
    (GOLDEN / name).mkdir(parents=True)
    for file, text in configurations.items():
        (GOLDEN / name / file).write_text(text)


if __name__ == "__main__":
    for fabric_name in sys.argv[1:] or rendered():
        write(fabric_name, golden(fabric_name))
