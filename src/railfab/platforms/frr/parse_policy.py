"""Puts the lists and route maps of a parsed configuration together to routing policies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TypeVar

from railfab.device import Action, Policy, PolicyRule
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
    """The rule of an entry; None where the model cannot express its condition, or it matches no route."""
    ranges = [_listed(draft.prefix_lists.get(key)) for key in entry.prefix_lists.items()]
    communities = _listed(draft.communities.get(entry.community_list)) if entry.community_list else ()
    as_paths = _listed(draft.as_paths.get(entry.as_path_list)) if entry.as_path_list else ()
    if entry.other or len(ranges) > 1 or None in (*ranges, communities, as_paths) or len(as_paths or ()) > 1:
        return None
    return PolicyRule(
        action=entry.action,
        prefixes=(ranges[0] if ranges else None) or (),
        communities=communities or (),
        as_path=as_paths[0] if as_paths else None,
        set_communities=entry.set_communities,
        set_local_preference=entry.set_local_preference,
        set_med=entry.set_med,
        set_link_bandwidth=entry.set_link_bandwidth,
        prepend=_prepend(draft, entry),
    )


def _listed(entries: Mapping[int, T | Action | None] | None) -> tuple[T, ...] | None:
    """Values that a list permits; None without any, or with other entries. FRR takes a missing list as empty."""
    found: list[T] = []
    for _, entry in sorted((entries or {}).items(), key=_sequence):
        if entry is Action.DENY:
            break
        if entry is None or isinstance(entry, Action):
            return None
        found.append(entry)
    return tuple(found) or None


def _sequence(numbered: tuple[int, object]) -> int:
    return numbered[0]


def _prepend(draft: Draft, entry: DraftEntry) -> int:
    """Number of times that an entry prepends the own AS number; 0 where it prepends others."""
    own = {router.asn for router in draft.routers.values()}
    return len(entry.prepended) if set(entry.prepended) <= own else 0
