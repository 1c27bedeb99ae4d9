"""What each platform renders for each feature: the settings by which an example with it differs from one without.

python -m tests.platforms.feature_goldens      writes tests/golden/features anew
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from railfab.device import DeviceModel
from railfab.errors import RailfabError
from railfab.platforms import Platform, Support, admit, platform, platform_names
from railfab.platforms.admission import support_of
from railfab.platforms.features import FEATURES
from railfab.testing.leaf_models import leaf

BASE = "pfc"
"""A feature that many others need, with all of a switch's QoS."""
GOLDEN = Path(__file__).parents[1] / "golden" / "features"


def examples(own: Platform) -> Iterator[tuple[str, DeviceModel]]:
    """A model of each feature that the platform renders, but of those whose example has another one that it lacks."""
    for feature in FEATURES:
        if support_of(own.capabilities, feature) is Support.YES:
            try:
                yield feature, admit(leaf(own.name, feature=feature), own)
            except RailfabError:
                continue


def golden(name: str) -> str:
    """A section for each feature, with the settings that it adds, changes and removes beside a plain example, or beside
    that of PFC where these are fewer."""
    own = platform(name)
    texts = {feature: own.text(own.render(model)) for feature, model in examples(own)}
    plain = own.text(own.render(admit(leaf(name), own)))
    bases = {"": plain, BASE: texts.get(BASE, plain)}
    return "".join(_section(own, feature, text, bases) for feature, text in texts.items() if text != plain)


def _section(own: Platform, feature: str, text: str, bases: Mapping[str, str]) -> str:
    found = {base: own.differences(text, other) for base, other in bases.items() if base != feature}
    base = min(found, key=lambda name: len(found[name]))
    lines = sorted(difference.text for difference in found[base])
    return "".join((f"{feature}{f' beside {base}' if base else ''}\n", *(f"  {line}\n" for line in lines)))


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name in platform_names():
        (GOLDEN / f"{name}.txt").write_text(golden(name))
