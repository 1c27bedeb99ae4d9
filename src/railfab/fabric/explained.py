"""One cause, one finding: values that differ from the intent in nothing but lines that hazards name."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass

from railfab.device import Change, DeviceModel, changes, partly_changed
from railfab.fabric.design import render_text
from railfab.platforms import Difference, Side, platform
from railfab.topology.grouping import grouped

QUANTITY = re.compile(r"\d+(?:\.\d+)?")
WHOLE = "qos"
"""Part of a model whose names refer to each other, so that only numbers of it are rendered without the rest."""


def explained_changes(
    intended: DeviceModel, configured: DeviceModel, named: Set[str], deciding: Set[str]
) -> Iterator[Change]:
    """The changes from a configuration to the intent that lines of hazards explain.

    named: texts of the differences that hazards name. deciding: those of all differences that may change the model.
    Where these are all named, every change is explained. Otherwise a part of the model is explained where the intent
    with this part of the configuration is rendered with differences that are all among those named.
    """
    if named and named >= deciding:
        yield from changes(configured, intended)
    elif named:
        attribution = _Attribution(intended, configured, frozenset(named), render_text(intended))
        yield from attribution.explained(changes(configured, intended))


def with_replaced(named: Set[str], differences: Iterable[Difference]) -> frozenset[str]:
    """The texts that hazards name, with those of the missing lines that a named line takes the place of.

    A line takes the place of another of its section where both begin with the same words up to the first number, or
    without a number up to the last word.
    """
    differences = tuple(differences)
    heads = {_head(line.path) for line in differences if line.side is Side.ADDED and line.text in named}
    missing = (line for line in differences if line.side is Side.MISSING)
    return frozenset(named) | {line.text for line in missing if _head(line.path) in heads}


def _head(path: str) -> tuple[str, ...]:
    """The section of a line, and the words that identify the line in it."""
    section, _, line = path.rpartition(": ")
    words = line.removeprefix("no ").removeprefix("delete ").split(" ")
    number = next((place for place, word in enumerate(words) if QUANTITY.fullmatch(word)), len(words) - 1)
    return (section, *words[: max(number, 1)])


@dataclass(frozen=True, slots=True)
class _Attribution:
    """rendered: configuration of the intent."""

    intended: DeviceModel
    configured: DeviceModel
    named: frozenset[str]
    rendered: str

    def explained(self, differing: Sequence[Change], names: tuple[str, ...] = ()) -> Iterator[Change]:
        """Yield those of the changes below a field: all of them, or those of some of the fields further below."""
        texts = self._texts(names) if _stands_alone(differing, names) else None
        if texts and texts <= self.named:
            yield from differing
        elif texts is None or texts & self.named:
            below = [change for change in differing if len(change.steps) > len(names)]
            for same in grouped(below, lambda change: change.steps[len(names)].field):
                yield from self.explained(same, (*names, same[0].steps[len(names)].field))

    def _texts(self, names: tuple[str, ...]) -> frozenset[str]:
        """The differences that this part of the configuration makes."""
        text = render_text(partly_changed(self.intended, self.configured, names))
        differences = platform(self.intended.platform).differences(text, self.rendered)
        return frozenset(difference.text for difference in differences)


def _stands_alone(differing: Sequence[Change], names: tuple[str, ...]) -> bool:
    """Whether these changes below a field can be rendered without those of other fields."""
    values = (value for change in differing for value in (change.before, change.after))
    return WHOLE not in names[:-1] or all(isinstance(value, int | float) for value in values)
