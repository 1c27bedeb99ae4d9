"""Route maps as the rules of routing policies: their sequence numbers, and the entries that a configuration states.

A prefix list matches no route of the other family, so a rule with prefixes of both becomes two entries.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

from railfab.device import Action, LinkBandwidth, Policy, PolicyRule, PrefixRange
from railfab.platforms.shared.line_grammar import LineDraft

T = TypeVar("T")

RULE_STEP = 10
"""Distance of the sequence numbers of two rules."""

IPV6_HALF = RULE_STEP // 2
"""Distance of the IPv6 entry of a rule from its IPv4 entry."""

DEFAULT_SEQUENCE = 65535
"""Sequence number of the entry that decides on all other routes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One entry of a rendered route map. version: IP version of its prefixes; None without a prefix list."""

    policy: str
    sequence: int
    rule: PolicyRule
    version: int | None

    @property
    def list_name(self) -> str:
        """The prefix list, community list or AS path list of the entry; each has its own."""
        return f"{self.policy}-{self.sequence}"

    @property
    def prefixes(self) -> list[PrefixRange]:
        """The prefixes of its rule that are of its IP version."""
        return [prefix_range for prefix_range in self.rule.prefixes if prefix_range.prefix.version == self.version]


def entries_of(policy: Policy) -> Iterator[Entry]:
    """The entries of a policy's rules, without the one for all other routes."""
    for index, rule in enumerate(policy.rules, start=1):
        versions = sorted({prefix_range.prefix.version for prefix_range in rule.prefixes})
        for half, version in enumerate(versions or [None]):
            sequence = index * RULE_STEP + half * IPV6_HALF
            yield Entry(policy=policy.name, sequence=sequence, rule=rule, version=version)


def all_entries_of(policy: Policy) -> Iterator[Entry]:
    """The entries of a policy; the last is for all other routes, which a route map without it denies.

    A route map needs it where they are permitted, and where it has no other entry.
    """
    yield from entries_of(policy)
    if policy.default is Action.PERMIT or not policy.rules:
        rule = PolicyRule(action=policy.default or Action.DENY)
        yield Entry(policy=policy.name, sequence=DEFAULT_SEQUENCE, rule=rule, version=None)


def merged(rules: Iterable[tuple[int, PolicyRule | None]]) -> Iterator[PolicyRule]:
    """The rules of entries by sequence number, with the two halves of a rule of both families as one."""
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
    versions = [{prefix_range.prefix.version for prefix_range in rule.prefixes} for rule in (first, second)]
    return versions == [{4}, {6}] and replace(first, prefixes=()) == replace(second, prefixes=())


@dataclass(slots=True, kw_only=True)
class DraftEntry:
    """One entry of a route map. prefix_lists: by IP version. unread: it has a condition, or a jump, of another kind.

    prepended: the AS numbers; own_prepended: how often the own one, where the switch has a word for it.
    """

    action: Action
    prefix_lists: dict[int, str] = field(default_factory=dict)
    community_list: str | None = None
    as_path_list: str | None = None
    set_communities: tuple[str, ...] = ()
    set_local_preference: int | None = None
    set_med: int | None = None
    set_link_bandwidth: LinkBandwidth | None = None
    prepended: tuple[int, ...] = ()
    own_prepended: int = 0
    unread: bool = False


@dataclass(slots=True)
class RouteMapDraft(LineDraft):
    """Lists and route maps being parsed.

    prefix_lists: by IP version and name, then by sequence number; communities, as_paths: by name, then by sequence
    number. In these lists, DENY ends the list and None is an entry of another kind. route_maps: by name, then by
    sequence number. entry: the one that is being read.
    """

    prefix_lists: dict[tuple[int, str], dict[int, PrefixRange | Action | None]] = field(default_factory=dict)
    communities: dict[str, dict[int, str | None]] = field(default_factory=dict)
    as_paths: dict[str, dict[int, str | None]] = field(default_factory=dict)
    route_maps: dict[str, dict[int, DraftEntry]] = field(default_factory=dict)
    entry: DraftEntry = field(default_factory=lambda: DraftEntry(action=Action.PERMIT))

    def prefix_list(self, version: int, name: str) -> dict[int, PrefixRange | Action | None]:
        """The lines of a prefix list by number."""
        return self.prefix_lists.setdefault((version, name), {})


def policies_of(
    draft: RouteMapDraft, asns: frozenset[int], is_policy: Callable[[str], bool] = lambda _name: True
) -> tuple[Policy, ...]:
    """All route maps that are policies, by name. asns: the own AS numbers, of which a rule has the number prepended."""
    route_maps = sorted(draft.route_maps.items())
    return tuple(_policy(draft, name, entries, asns) for name, entries in route_maps if is_policy(name))


def _policy(draft: RouteMapDraft, name: str, entries: Mapping[int, DraftEntry], asns: frozenset[int]) -> Policy:
    last = entries.get(DEFAULT_SEQUENCE)
    states_default = last is not None and last == DraftEntry(action=last.action)
    numbered = sorted(entries.items())[: -1 if states_default else None]
    rules = merged((sequence, _rule(draft, entry, asns)) for sequence, entry in numbered)
    return Policy(name=name, rules=tuple(rules), default=last.action if last and states_default else Action.DENY)


def _rule(draft: RouteMapDraft, entry: DraftEntry, asns: frozenset[int]) -> PolicyRule | None:
    """The rule of an entry; None where the model cannot express its condition, or it matches no route."""
    ranges = [_listed(draft.prefix_lists.get(key)) for key in entry.prefix_lists.items()]
    communities = _listed(draft.communities.get(entry.community_list)) if entry.community_list else ()
    as_paths = _listed(draft.as_paths.get(entry.as_path_list)) if entry.as_path_list else ()
    if entry.unread or len(ranges) > 1 or None in (*ranges, communities, as_paths) or len(as_paths or ()) > 1:
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
        prepend=entry.own_prepended or (len(entry.prepended) if set(entry.prepended) <= asns else 0),
    )


def _listed(entries: Mapping[int, T | Action | None] | None) -> tuple[T, ...] | None:
    """Values that a list permits; None without any, or with other entries. A missing list is taken as empty."""
    values: list[T] = []
    for _, entry in sorted((entries or {}).items(), key=_sequence):
        if entry is Action.DENY:
            break
        if entry is None or isinstance(entry, Action):
            return None
        values.append(entry)
    return tuple(values) or None


def _sequence(numbered: tuple[int, object]) -> int:
    return numbered[0]
