"""Lines of route maps and prefix lists with the words that EOS, NX-OS and FRR have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from railfab.device import DeviceModel, Policy, PolicyRule, PrefixRange
from railfab.platforms.shared.line_tree import Line
from railfab.platforms.shared.native_names import IP_WORDS
from railfab.platforms.shared.route_maps import Entry, entries_of

LIST_STEP = 5
"""Distance of the numbers of two lines of a list, as NX-OS and FRR number lines without one."""


def sorted_policies(model: DeviceModel) -> list[Policy]:
    """The policies by name."""
    return sorted(model.policies, key=lambda policy: policy.name)


def all_entries(model: DeviceModel) -> list[Entry]:
    """The entries of all policies, by name, without those for all other routes."""
    return [entry for policy in sorted_policies(model) for entry in entries_of(policy)]


def prefix_lists(entries: Iterable[Entry], written: Callable[[PrefixRange], str]) -> Iterator[Line]:
    """The prefix lists of entries, with one line for each range: those of IPv4, then those of IPv6."""
    for version, word in IP_WORDS.items():
        for entry in (candidate for candidate in entries if candidate.version == version):
            for index, prefix in enumerate(entry.prefixes, start=1):
                yield Line(f"{word} prefix-list {entry.list_name} seq {LIST_STEP * index} permit {written(prefix)}")


def matches(entry: Entry) -> Iterator[str]:
    """The conditions of an entry, in the order of their words."""
    if entry.rule.as_path is not None:
        yield f"match as-path {entry.list_name}"
    if entry.rule.communities:
        yield f"match community {entry.list_name}"
    if entry.version is not None:
        yield f"match {IP_WORDS[entry.version]} address prefix-list {entry.list_name}"


def prepended(rule: PolicyRule, asn: int | None) -> Iterator[str]:
    """The own AS number as often as the rule prepends it."""
    if rule.prepend and asn is not None:
        yield "set as-path prepend" + f" {asn}" * rule.prepend


def preferences(rule: PolicyRule) -> Iterator[str]:
    """The local preference and the MED that a rule sets."""
    if rule.set_local_preference is not None:
        yield f"set local-preference {rule.set_local_preference}"
    if rule.set_med is not None:
        yield f"set metric {rule.set_med}"
