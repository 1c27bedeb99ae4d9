"""The groups of prefixes that are routed together.

Prefixes with the same originators, for which all filters have the same verdicts, have the same routes everywhere, so
that one computation serves all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from railfab.device import PrefixRange
from railfab.forwarding.policies import DENIED, Policies
from railfab.forwarding.prefixes import Prefix, Prefixes

Connected = Mapping[str, Mapping[Prefix, int | None]]
"""By switch, the egress link of each prefix that it originates; None for those of loopbacks, and for aggregates."""

GroupKey = tuple[tuple[str, ...], int, frozenset[tuple[int, int]]]
"""Originators, bits of an address, and the verdict of each filter that does not deny the prefixes."""


@dataclass(frozen=True, kw_only=True, eq=False)
class PrefixGroups:
    """The groups of a fabric. Axis (group,).

    keys: common properties of the prefixes of each group. examples: one prefix of each. sizes: how many they are.
    bits: of an address of the family of each. verdicts: by filter, the verdict on each. numbers: the group of each
    prefix. lengths: the prefix lengths that occur anywhere, by the bits of an address, longest first.
    """

    keys: tuple[GroupKey, ...]
    examples: tuple[Prefix, ...]
    sizes: NDArray[np.int64]
    bits: NDArray[np.int64]
    verdicts: Mapping[int, NDArray[np.int32]]
    numbers: Mapping[Prefix, int]
    lengths: Mapping[int, tuple[int, ...]]
    _inside: dict[tuple[PrefixRange, ...], NDArray[np.int64]] = field(default_factory=dict)

    def inside(self, ranges: tuple[PrefixRange, ...]) -> NDArray[np.int64]:
        """The groups with a prefix inside one of these ranges."""
        found = self._inside.get(ranges)
        if found is None:
            prefixes = list(self.numbers)
            groups = [self.numbers[prefixes[place]] for place in np.flatnonzero(Prefixes(prefixes).inside(ranges))]
            found = self._inside[ranges] = np.unique(np.array(groups, np.int64))
        return found


def prefix_groups(connected: Connected, policies: Policies, used: Sequence[int]) -> PrefixGroups:
    """Group the prefixes. used: the numbers of the filters in use; a prefix that all of them deny is in no group."""
    origins: dict[Prefix, list[str]] = defaultdict(list)
    for name, own in connected.items():
        for prefix in own:
            origins[prefix].append(name)
    verdicts = _verdicts(list(origins), policies, used)
    members: dict[GroupKey, list[Prefix]] = defaultdict(list)
    places: dict[GroupKey, int] = {}
    for place, (prefix, names, held) in enumerate(zip(origins, origins.values(), _kept(verdicts, used), strict=True)):
        if held:
            key = (tuple(names), prefix[0], held)
            members[key].append(prefix)
            places.setdefault(key, place)
    first = np.array(list(places.values()), np.int64)
    return PrefixGroups(
        keys=tuple(members),
        examples=tuple(prefixes[0] for prefixes in members.values()),
        sizes=np.array([len(prefixes) for prefixes in members.values()], np.int64),
        bits=np.array([bits for _, bits, _ in members], np.int64),
        verdicts={number: row[first] for number, row in zip(used, verdicts, strict=True)},
        numbers={prefix: number for number, prefixes in enumerate(members.values()) for prefix in prefixes},
        lengths=_lengths(origins),
    )


def _lengths(prefixes: Iterable[Prefix]) -> dict[int, tuple[int, ...]]:
    found: dict[int, set[int]] = defaultdict(set)
    for bits, _, length in prefixes:
        found[bits].add(length)
    return {bits: tuple(sorted(lengths, reverse=True)) for bits, lengths in found.items()}


def _verdicts(prefixes: Sequence[Prefix], policies: Policies, used: Sequence[int]) -> NDArray[np.int32]:
    """(filter, prefix) the verdict of each filter on each prefix."""
    compared = Prefixes(prefixes)
    found = np.array([policies.verdicts_of(number, compared) for number in used], np.int32)
    return found.reshape(len(used), len(prefixes))


def _kept(verdicts: NDArray[np.int32], used: Sequence[int]) -> Iterator[frozenset[tuple[int, int]]]:
    """For each prefix, the filters that do not deny it, with their verdicts."""
    known: dict[bytes, frozenset[tuple[int, int]]] = {}
    for row in np.ascontiguousarray(verdicts.T):
        text = row.tobytes()
        if text not in known:
            known[text] = frozenset(pair for pair in zip(used, row.tolist(), strict=True) if pair[1] != DENIED)
        yield known[text]


NO_GROUPS = prefix_groups({}, Policies(), ())
