"""Grouping of things by a key."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

T = TypeVar("T")


def grouped(things: Iterable[T], key: Callable[[T], Hashable]) -> list[list[T]]:
    """Lists of the things with equal keys, in the order of the first of each."""
    found: dict[Hashable, list[T]] = {}
    for thing in things:
        found.setdefault(key(thing), []).append(thing)
    return list(found.values())
