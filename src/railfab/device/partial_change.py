"""A model with some of the fields of another one: the part of a change below one field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass, replace
from typing import Any

from railfab.device.diff import by_key
from railfab.device.model import DeviceModel


def partly_changed(model: DeviceModel, changed: DeviceModel, names: Sequence[str]) -> DeviceModel:
    """The model with the field at this path as the other model has it, in every element of the tuples on the way.

    names: of fields; none stand for the whole model. Elements that only one of the models has stay as they are.
    """
    mixed: DeviceModel = _mixed(model, changed, names)
    return mixed


def _mixed(value: Any, changed: Any, names: Sequence[str]) -> Any:
    if not names or value == changed:
        return changed
    if isinstance(value, tuple) and isinstance(changed, tuple) and all(map(is_dataclass, value)):
        others: Mapping[str, Any] = by_key(changed)
        return tuple(_mixed(element, others.get(key, element), names) for key, element in by_key(value).items())
    if type(value) is not type(changed) or not hasattr(value, names[0]):
        return value
    first, *rest = names
    return replace(value, **{first: _mixed(getattr(value, first), getattr(changed, first), rest)})
