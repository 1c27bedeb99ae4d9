"""How two models of one switch differ, in the words of the model and not of a platform."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from railfab.device.model import DeviceModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One field that differs. place: `bgp.neighbors[ethernet-1/32].remote_as`; None where a side has nothing there."""

    place: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.place}: {self.before} -> {self.after}"

    @property
    def problem(self) -> str:
        """What is wrong with a switch that has `before` where the intent has `after`."""
        if is_dataclass(self.after) and self.before is None:
            return "is missing"
        if is_dataclass(self.before) and self.after is None:
            return "is not in the intent"
        return f"is {self.before}, the intent says {self.after}"


_KEYS = ("name", "interface", "cage", "prefix")
"""What tells one element of a tuple from the next, whichever of them it has."""


def changes(before: DeviceModel, after: DeviceModel) -> tuple[Change, ...]:
    """Every difference, innermost field first said; empty when the models mean the same."""
    return tuple(_changes("", before, after))


def _changes(place: str, before: Any, after: Any) -> Iterator[Change]:
    if before == after:
        return
    if is_dataclass(before) and type(before) is type(after):
        for field in fields(before):
            inner = f"{place}.{field.name}" if place else field.name
            yield from _changes(inner, getattr(before, field.name), getattr(after, field.name))
    elif isinstance(before, tuple) and isinstance(after, tuple) and _keyed(before + after):
        old, new = _by_key(before), _by_key(after)
        for key in dict.fromkeys([*old, *new]):
            yield from _changes(f"{place}[{key}]", old.get(key), new.get(key))
        if list(old) != list(new) and set(old) == set(new):
            yield Change(place=f"{place} order", before=list(old), after=list(new))
    else:
        yield Change(place=place, before=before, after=after)


def _keyed(elements: tuple[Any, ...]) -> bool:
    return bool(elements) and all(is_dataclass(element) for element in elements)


def _by_key(elements: tuple[Any, ...]) -> dict[str, Any]:
    """Each element by what tells it from the others; where two share that, the second is `...#2`."""
    found: dict[str, Any] = {}
    seen: Counter[str] = Counter()
    for element in elements:
        key = str(next(getattr(element, key) for key in _KEYS if hasattr(element, key)))
        seen[key] += 1
        found[key if seen[key] == 1 else f"{key}#{seen[key]}"] = element
    return found
