"""Kinds of changes, and what each platform says of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from railfab.device import DeviceModel
from railfab.device.diff import KEYS, Change, FieldStep
from railfab.device.interfaces import Interface
from railfab.platforms.interruptions import UNKNOWN, change_kinds, interruptions_of, kind_of

Steps = tuple[FieldStep, ...]
NEITHER_KIND = {("platform",), ("silicon",), ("unmodelled",)}
"""Never another one, not compared, and lines with kinds of their own."""


def test_every_field_of_a_model_has_a_kind() -> None:
    lacking = {change.path for change in _possible_changes((), DeviceModel) if kind_of(change) == UNKNOWN}
    assert lacking == set()


def _possible_changes(steps: Steps, model: Any) -> Iterator[Change]:
    """A change of every field below a model, and of every element that may be added or removed."""
    types = get_type_hints(model)
    for field in fields(model):
        names = (*(step.field for step in steps), field.name)
        if names in NEITHER_KIND or (steps and steps[-1].key is not None and field.name in KEYS):
            continue
        for kind in _members(types[field.name]):
            yield from _of_type((*steps, FieldStep(field.name)), kind)


def _of_type(steps: Steps, kind: Any) -> Iterator[Change]:
    if get_origin(kind) is tuple and is_dataclass(element := get_args(kind)[0]):
        keyed = (*steps[:-1], FieldStep(steps[-1].field, "1"))
        yield Change(steps=keyed, before=None, after=1)
        yield Change(steps=keyed, before=1, after=None)
        for each in element.__subclasses__() if element is Interface else (element,):
            yield from _possible_changes(keyed, each)
    elif is_dataclass(kind):
        if steps[-1].field not in ("lldp", "load_balancing", "timers"):  # those that every model, or session, has
            yield Change(steps=steps, before=None, after=1)
        yield from _possible_changes(steps, kind)
    elif kind is bool:
        yield Change(steps=steps, before=False, after=True)
        yield Change(steps=steps, before=True, after=False)
    elif kind is not type(None):
        yield Change(steps=steps, before=1, after=2)


def _members(kind: Any) -> tuple[Any, ...]:
    return get_args(kind) if isinstance(kind, UnionType) else (kind,)


def test_a_field_that_no_kind_names_is_of_an_unknown_kind() -> None:
    steps = (FieldStep("interfaces", "Ethernet1/1"), FieldStep("colour"))
    assert kind_of(Change(steps=steps, before=1, after=2)) == UNKNOWN
    order = Change(steps=(FieldStep("interfaces"),), before=("a", "b"), after=("b", "a"), is_order=True)
    assert kind_of(order) == UNKNOWN


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ({"kinds": [{"kinds": ["colour"], "interrupts": True, "source": "x"}]}, "colour: is no kind"),
        ({"kinds": [{"kinds": ["speed"], "interrupts": False, "source": "x"}]}, "speed: has another entry, or a stand"),
        ({"kinds": [{"kinds": ["mtu"], "interrupts": False, "source": ""}]}, "mtu: needs a source"),
        ({"kinds": [{"kinds": ["mtu", "mtu"], "interrupts": False, "source": "x"}]}, "mtu: has another entry"),
        ({"kinds": [{"kinds": ["unknown"], "interrupts": False, "source": "x"}]}, "unknown: has another entry"),
        ({"kinds": [], "lines": [{"line": "ntp .*", "kind": "colour"}]}, "colour: is no kind"),
    ],
)
def test_an_entry_that_is_not_valid_is_named(entry: dict[str, Any], problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        interruptions_of(entry)


def test_no_kind_is_named_twice_and_what_a_standard_says_no_platform_denies() -> None:
    assert UNKNOWN in change_kinds()
    assert interruptions_of({"kinds": []}).interrupts("speed")
    assert interruptions_of({"kinds": []}).interrupts("description")
    stated = interruptions_of({"kinds": [{"kinds": ["description"], "interrupts": False, "source": "x"}]})
    assert not stated.interrupts("description")
    assert stated.interrupts(UNKNOWN)
