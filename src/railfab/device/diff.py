"""Differences between two models of one switch, named by the fields of the model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from railfab.device.model import DeviceModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One field that differs. path: `bgp.neighbors[ethernet-1/32].remote_as`; None where a side does not set it."""

    path: str
    before: Any
    after: Any

    def __str__(self) -> str:
        return f"{self.path}: {value_text(self.before)} -> {value_text(self.after)}"

    @property
    def problem(self) -> str:
        """The problem of a switch that has `before` while the intent has `after`."""
        if is_dataclass(self.after) and self.before is None:
            return "is missing"
        if is_dataclass(self.before) and self.after is None:
            return "is not in the intent"
        return f"is {value_text(self.before)}, the intent says {value_text(self.after)}"


_KEYS = ("name", "interface", "cage", "prefix")
"""Fields that identify an element of a tuple; the first that it has is its key."""


def changes(before: DeviceModel, after: DeviceModel) -> tuple[Change, ...]:
    """Every difference between two models, by innermost field; empty when the models are equal."""
    return tuple(_changes("", before, after))


def value_text(value: object) -> str:
    """A value of a model as text for a message, for example `on`, `not set`, `interval_ms 300, multiplier 3`."""
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return "on" if value else "off"
    if is_dataclass(value):
        return ", ".join(f"{field.name} {value_text(getattr(value, field.name))}" for field in fields(value))
    if isinstance(value, tuple):
        return ", ".join(map(value_text, value)) or "none"
    return str(value)


def _changes(path: str, before: Any, after: Any) -> Iterator[Change]:
    if before == after:
        return
    if is_dataclass(before) and type(before) is type(after):
        for field in fields(before):
            inner = f"{path}.{field.name}" if path else field.name
            yield from _changes(inner, getattr(before, field.name), getattr(after, field.name))
    elif isinstance(before, tuple) and isinstance(after, tuple) and _keyed(before + after):
        old, new = _by_key(before), _by_key(after)
        for key in dict.fromkeys([*old, *new]):
            yield from _changes(f"{path}[{key}]", old.get(key), new.get(key))
        if list(old) != list(new) and set(old) == set(new):
            yield Change(path=f"{path} order", before=tuple(old), after=tuple(new))
    else:
        yield Change(path=path, before=before, after=after)


def _keyed(elements: tuple[Any, ...]) -> bool:
    return bool(elements) and all(is_dataclass(element) for element in elements)


def _by_key(elements: tuple[Any, ...]) -> dict[str, Any]:
    """Each element by its key; the second element with the same key gets `key#2`."""
    found: dict[str, Any] = {}
    seen: Counter[str] = Counter()
    for element in elements:
        key = str(next(getattr(element, key) for key in _KEYS if hasattr(element, key)))
        seen[key] += 1
        found[key if seen[key] == 1 else f"{key}#{seen[key]}"] = element
    return found
