"""A feature of a device model that a platform may lack."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from railfab.device import DeviceModel

T = TypeVar("T")
Used = Callable[[DeviceModel], bool]


@dataclass(frozen=True, slots=True)
class Feature:
    """used: whether a model has it. without: the model with it left out, where the platform omits it or the operating
    system below sets it; None for a feature that cannot be left out. key: of the intent that asks for it; None where
    no intent does. optional: a platform that does not name it omits it, or keeps it where it cannot be left out.
    substitutes: `without` puts another value in its place, which no configuration text could tell: a name, or the safe
    one of several values."""

    meaning: str
    used: Used
    without: Callable[[DeviceModel], DeviceModel] | None = None
    key: str | None = None
    optional: bool = False
    substitutes: bool = False


def any_of(kind: type[T], has: Callable[[T], bool] = lambda _found: True) -> Used:
    """Whether an interface of this kind has it."""
    return lambda model: any(has(interface) for interface in model.interfaces if isinstance(interface, kind))
