"""Prefixes as integers, policies as numbers, and the groups of prefixes that are routed together.

Prefixes with the same originators that the same policies permit have the same routes everywhere, so that one
computation serves all of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from ipaddress import IPv4Network

import numpy as np
from numpy.typing import NDArray

from railfab.device import PrefixRange

Policy = tuple[PrefixRange, ...]
Prefix = tuple[int, int]
"""Network address and prefix length."""

Connected = Mapping[str, Mapping[Prefix, int | None]]
"""By switch, the egress link of each prefix that it originates; None for its loopback."""

GroupKey = tuple[tuple[str, ...], frozenset[int]]
"""Originators, and the policies that permit the prefixes."""


def prefix_of(network: IPv4Network) -> Prefix:
    return int(network.network_address), network.prefixlen


@dataclass(slots=True)
class Policies:
    """Distinct policies, each stored once and named by its number. Only ever grows."""

    ranges: list[Policy] = field(default_factory=list)
    _numbers: dict[Policy, int] = field(default_factory=dict)

    def number(self, policy: Policy) -> int:
        """The number of a policy; a new one is appended."""
        found = self._numbers.get(policy)
        if found is None:
            found = self._numbers[policy] = len(self.ranges)
            self.ranges.append(policy)
        return found


def permitted(policy: Policy, networks: NDArray[np.int64], lengths: NDArray[np.int64]) -> NDArray[np.bool_]:
    """(prefix,) whether one of the policy's ranges contains each prefix."""
    result = np.zeros(len(networks), bool)
    for entry in policy:
        shift = 32 - entry.prefix.prefixlen
        inside = networks >> shift == int(entry.prefix.network_address) >> shift
        result |= inside & (lengths >= max(entry.ge, entry.prefix.prefixlen)) & (lengths <= entry.le)
    return result


@dataclass(frozen=True, kw_only=True, eq=False)
class PrefixGroups:
    """The groups of a fabric. Axis (group,).

    keys: what the prefixes of each group have in common. examples: one prefix of each. sizes: how many they are.
    numbers: the group of each prefix. lengths: the prefix lengths that occur anywhere, longest first.
    """

    keys: tuple[GroupKey, ...]
    examples: tuple[Prefix, ...]
    sizes: NDArray[np.int64]
    numbers: Mapping[Prefix, int]
    lengths: tuple[int, ...]

    def permitted_by(self, policy: int) -> NDArray[np.bool_]:
        """(group,) whether the policy of this number permits each group."""
        return np.array([policy in permits for _, permits in self.keys], bool)


NO_GROUPS = PrefixGroups(keys=(), examples=(), sizes=np.zeros(0, np.int64), numbers={}, lengths=())


def prefix_groups(connected: Connected, policies: Policies, used: Sequence[int]) -> PrefixGroups:
    """Group the prefixes. used: the numbers of the policies in use; a prefix that none permits is in no group."""
    origins: dict[Prefix, list[str]] = defaultdict(list)
    for name, own in connected.items():
        for prefix in own:
            origins[prefix].append(name)
    members: dict[GroupKey, list[Prefix]] = defaultdict(list)
    for (prefix, names), permits in zip(origins.items(), _permits(list(origins), policies, used), strict=True):
        if permits:
            members[tuple(names), permits].append(prefix)
    return PrefixGroups(
        keys=tuple(members),
        examples=tuple(prefixes[0] for prefixes in members.values()),
        sizes=np.array([len(prefixes) for prefixes in members.values()], np.int64),
        numbers={prefix: number for number, prefixes in enumerate(members.values()) for prefix in prefixes},
        lengths=tuple(sorted({length for _, length in origins}, reverse=True)),
    )


def _permits(prefixes: Sequence[Prefix], policies: Policies, used: Sequence[int]) -> list[frozenset[int]]:
    """For each prefix, the policies that permit it."""
    pairs = np.array(prefixes, np.int64).reshape(-1, 2)
    verdicts = np.array([permitted(policies.ranges[number], pairs[:, 0], pairs[:, 1]) for number in used], bool)
    rows = np.packbits(verdicts.reshape(len(used), len(pairs)), axis=0).T
    known: dict[bytes, frozenset[int]] = {}
    result = []
    for place, row in enumerate(map(bytes, rows)):
        if row not in known:
            known[row] = frozenset(number for index, number in enumerate(used) if verdicts[index, place])
        result.append(known[row])
    return result
