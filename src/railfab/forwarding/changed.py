"""Nodes of which a part of a state of the fabric is another one than before."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from operator import is_, is_not


def changed_names(now: Mapping[str, object], before: Mapping[str, object]) -> set[str]:
    """The keys that only one of two mappings has, or for which they have other objects.

    A state shares what a change does not concern with the state before, and mostly the order of the keys.
    """
    if now is before:
        return set()
    if len(now) == len(before) and all(map(is_, now, before)):
        return set(compress(now, map(is_not, now.values(), before.values())))
    return {name for name in now.keys() | before.keys() if now.get(name) is not before.get(name)}
