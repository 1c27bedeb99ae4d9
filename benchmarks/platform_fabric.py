"""The fabrics of SR Linux of this folder with models of another vendor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

FABRICS = Path(__file__).resolve().parent / "fabrics"
MODELS = {
    "cumulus": "sn5600",
    "eos": "7060x6-64pe",
    "junos": "qfx5240-64od",
    "nxos": "n9364e-sg2-o",
    "sonic": "ais800-64d",
    "srlinux": "7220-ixr-h5-64d",
}


def intent(
    folder: Path,
    platform: str,
    *,
    switches: int = 256,
    pods: int | None = None,
    super_spines: int | None = None,
) -> Path:
    """Write the intent of the fabric of so many switches.

    pods: instead of its own; a single one is without super-spines, unless their number is given.
    """
    document: dict[str, Any] = yaml.safe_load((FABRICS / f"srlinux-{switches}.yml").read_text())
    backend = document["backend"]
    if pods is not None:
        backend["pods"] = pods
    if super_spines is not None:
        backend["super_spines"]["count"] = super_spines
    elif pods == 1:
        del backend["super_spines"]
    for tier in {"segments", "spines", "super_spines"} & backend.keys():
        backend[tier] |= {"model": MODELS[platform], "platform": platform}
    path = folder / "intent.yml"
    path.write_text(yaml.safe_dump(document | {"fabric": f"scale-{platform}"}, sort_keys=False))
    return path
