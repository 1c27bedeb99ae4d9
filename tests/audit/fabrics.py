"""The fabrics whose rendered configurations `tests/audit/*.yml` edit."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from tests.platforms.other_switches import with_switches
from tests.platforms.small_fabrics import design_of, switch_model

from railfab.fabric import Design, design
from railfab.topology.catalogue import catalogue

INTENTS, LABS = Path("inventory/fabrics"), Path("labs")
SHORT = {"leaf": "pod1-seg1-leaf1", "spine": "pod1-spine1"}
"""Names of switches as a case has them."""


@cache
def fabric_of(platform: str, name: str) -> Design:
    """A fabric of one platform: `routed` has unnumbered sessions where the platform has them, `numbered` has none,
    `mlag-spines` is dual-mlag with spines; any other name is a folder of labs, or a file of inventory/fabrics.
    """
    if name in ("routed", "numbered"):
        return design_of(platform, platform, numbered=name == "numbered")
    if (lab := LABS / name / "intent.yml").exists():
        return design(lab)
    folder = Path(mkdtemp())
    document = _mlag_with_spines(folder) if name == "mlag-spines" else INTENTS / f"{name}.yml"
    return with_switches(document, folder, model=_model(platform), platform=platform)


def _mlag_with_spines(folder: Path) -> Path:
    """The document of a pair whose keepalive runs over spines, which some platforms need."""
    document = folder / "mlag-spines.yml"
    spines = "  spines: {count: 2, model: any, rate_gbps: 400}\n"
    document.write_text(
        (INTENTS / "dual-mlag.yml").read_text().replace("fabric: dual-mlag", "fabric: mlag-spines") + spines
    )
    return document


def _model(platform: str) -> str:
    """A switch model that runs this platform where a document names none, which several models run beside another."""
    models = catalogue()
    model = switch_model(platform)
    if models[model].platform == platform:
        return model
    return next(model for model, switch in models.items() if switch.platform == platform)


def switch_of(fabric: Design, name: str) -> str:
    """The name of a switch: `leaf` and `spine` are the first ones."""
    return SHORT[name] if SHORT.get(name) in fabric.models else name
