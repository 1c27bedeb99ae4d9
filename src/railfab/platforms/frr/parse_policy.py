"""Puts the lists and route maps of a parsed configuration together to routing policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from railfab.device import Action, Policy, PolicyRule, PrefixRange
from railfab.platforms.frr.draft import Draft, DraftEntry
from railfab.platforms.frr.names import DEFAULT_SEQUENCE, IPV6_HALF, RULE_STEP

T = TypeVar("T")


def policies_of(draft: Draft) -> tuple[Policy, ...]:
    """All route maps, by name."""
    return tuple(_policy(draft, name, entries) for name, entries in sorted(draft.route_maps.items()))


def _policy(draft: Draft, name: str, entries: Mapping[int, DraftEntry]) -> Policy:
    last = entries.get(DEFAULT_SEQUENCE)
    states_default = last is not None and last == DraftEntry(action=last.action)
    numbered = [(sequence, entry) for sequence, entry in sorted(entries.items())]
    rules = _merged((sequence, _rule(draft, entry)) for sequence, entry in numbered[: -1 if states_default else None])
    return Policy(name=name, rules=tuple(rules), default=last.action if last and states_default else Action.DENY)


def _merged(rules: Iterator[tuple[int, PolicyRule | None]]) -> Iterator[PolicyRule]:
    """The rules, with the two halves of a rule of both families as one."""
    before: tuple[int, PolicyRule] | None = None
    for sequence, rule in rules:
        if rule is None:
            continue
        if before and sequence == before[0] + IPV6_HALF and sequence % RULE_STEP and _halves(before[1], rule):
            before = sequence, replace(rule, prefixes=(*before[1].prefixes, *rule.prefixes))
            continue
        if before:
            yield before[1]
        before = sequence, rule
    if before:
        yield before[1]


def _halves(first: PolicyRule, second: PolicyRule) -> bool:
    versions = [{found.prefix.version for found in rule.prefixes} for rule in (first, second)]
    return versions == [{4}, {6}] and replace(first, prefixes=()) == replace(second, prefixes=())


def _rule(draft: Draft, entry: DraftEntry) -> PolicyRule | None:
    """The rule of an entry; None for one that matches no route, because it uses an empty list or both families."""
    ranges = [_in_order(draft.prefix_lists.get(key, {})) for key in entry.prefix_lists.items()]
    communities = _in_order(draft.communities.get(entry.community_list or "", {}))
    as_paths = _in_order(draft.as_paths.get(entry.as_path_list or "", {}))
    if len(ranges) > 1 or not all(ranges) or bool(entry.community_list) > bool(communities):
        return None
    if bool(entry.as_path_list) != (len(as_paths) == 1):
        return None
    prefixes: tuple[PrefixRange, ...] = ranges[0] if ranges else ()
    return PolicyRule(
        action=entry.action,
        prefixes=prefixes,
        communities=communities,
        as_path=as_paths[0] if as_paths else None,
        set_communities=entry.set_communities,
        set_local_preference=entry.set_local_preference,
        set_med=entry.set_med,
        prepend=_prepend(draft, entry),
    )


def _prepend(draft: Draft, entry: DraftEntry) -> int:
    """How often an entry prepends the own AS number; 0 where it prepends others."""
    own = {router.asn for router in draft.routers.values()}
    return len(entry.prepended) if set(entry.prepended) <= own else 0


def _in_order(entries: Mapping[int, T]) -> tuple[T, ...]:
    return tuple(entry for _, entry in sorted(entries.items(), key=lambda numbered: numbered[0]))
