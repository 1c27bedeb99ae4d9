"""Group elements by a key."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T")


def grouped(elements: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Lists of the elements with equal keys, in the order of the first element of each."""
    groups: dict[Hashable, list[T]] = {}
    for element in elements:
        groups.setdefault(key(element), []).append(element)
    return list(groups.values())
