"""Other switch models and platforms for the shape of each design: `design_pairs.yml`.

python -m tests.fabric.design_pairs      writes what each platform refuses anew
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from tests.fabric.sampled import sampled

from railfab.errors import RailfabError, each
from railfab.fabric import Design
from railfab.intent import FabricIntent, load_intent
from railfab.intent.starters import designs
from railfab.topology import wire

ROOT = Path(__file__).parents[2]
FABRICS = ROOT / "inventory" / "fabrics"
FILE = Path(__file__).parent / "design_pairs.yml"
HEAD = """\
# Two other (model, platform) pairs for the switches of the backend of each design, with its counts and speeds. Other
# networks stay. refused: features that the platform lacks, by name; without it, the platform renders the design.
# python -m tests.fabric.design_pairs      writes the refusals anew
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pair:
    design: str
    model: str
    platform: str
    refused: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.design}-{self.platform}-{self.model}"


def pairs() -> list[Pair]:
    """In the order of the list of designs."""
    document: dict[str, list[dict[str, Any]]] = yaml.load(FILE.read_text(), yaml.CSafeLoader)
    return [
        Pair(design=name, **{**entry, "refused": tuple(entry.get("refused", ()))})
        for name in designs()
        for entry in document[name]
    ]


def with_pair(pair: Pair) -> FabricIntent:
    """The intent of a design with other switches on every tier of its backend."""
    intent = load_intent(FABRICS / f"{pair.design}.yml")
    document = intent.model_dump(exclude_unset=True)
    for tier in ("segments", "spines", "super_spines"):
        if document["backend"].get(tier) is not None:
            document["backend"][tier].update(model=pair.model, platform=pair.platform)
    return FabricIntent.model_validate(document)


NAMED = re.compile(
    r"platform \w+ does not support (?P<lacks>\w+)(?: on [\w ]+)?$|(?P<later>\w+) cannot be rendered for platform"
    r"|(?P<limit>\w+) \d+ is (above|below) platform"
)


def rendered(pair: Pair) -> Design | tuple[str, ...]:
    """One switch of each kind; or the features and limits that the platform refuses, sorted. Raises other errors."""
    try:
        intent = with_pair(pair)
        return sampled(intent, wire(intent), FABRICS / f"{pair.design}.yml")
    except RailfabError as error:
        found = [NAMED.match(one.problem) for one in each(error)]
        if None in found:
            raise
        return tuple(sorted({match["lacks"] or match["later"] or match["limit"] for match in found if match}))


def refusals(pair: Pair) -> tuple[str, ...]:
    """What the platform refuses; none of a platform that renders the design."""
    found = rendered(pair)
    return () if isinstance(found, Design) else found


def write() -> None:
    text = HEAD
    for name in designs():
        text += f"{name}:\n"
        for pair in (pair for pair in pairs() if pair.design == name):
            refused = ", ".join(refusals(pair))
            fields = f"model: {pair.model}, platform: {pair.platform}" + (f", refused: [{refused}]" if refused else "")
            text += f"  - {{{fields}}}\n"
    FILE.write_text(text)


if __name__ == "__main__":
    write()
