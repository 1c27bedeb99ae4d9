"""Objects of a configuration that nothing there names: groups, policies, queues and profiles of no use."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from railfab.platforms.shared.json_tree import Json, leaf_text
from railfab.platforms.srlinux.alignment import named_lists
from railfab.platforms.srlinux.schema import schema
from railfab.platforms.srlinux.tree import cli_word

UNUSED = "/unused"
"""Before the path of a setting of such an object, so that patterns of the fabric do not match it."""
JUDGED_WHERE_USED = (
    "/network-instance/protocols/bgp/group",
    "/qos/buffer-management/buffer-allocation-profile",
    "/qos/buffer-management/queue-management-profile",
    "/qos/classifiers/",
    "/qos/pfc-mapping-profile",
    "/routing-policy/",
)
"""Lists of such objects that do nothing where no port, session or policy has them."""


def unused_places(configured: Json, differing: Json, wanted: Json) -> tuple[str, ...]:
    """The places of objects that only one configuration has and does not name.

    differing, wanted: what is left of it and of the other one where they are unequal.
    """
    others = {named.place: named.entries for named in named_lists(wanted, schema().nodes)}
    candidates = [
        (name, f" {' '.join(named.place)} {cli_word(name)}")
        for named in named_lists(differing, schema().nodes)
        if named.path.startswith(JUDGED_WHERE_USED)
        for name in named.entries
        if name not in others.get(named.place, {})
    ]
    times = Counter(_values(configured)) if candidates else Counter[str]()
    keys = Counter(name for name, _ in candidates)
    return tuple(place for name, place in candidates if times[name] == keys[name])


def is_below(place: str, places: tuple[str, ...]) -> bool:
    return any(f"{place} ".startswith(f"{above} ") for above in places)


def _values(node: Any) -> Iterator[str]:
    """The values of all leaves, keys too."""
    for child in node.values() if isinstance(node, dict) else node:
        if isinstance(child, dict | list):
            yield from _values(child)
        else:
            yield leaf_text(child)


def next_hops_that_drop(tree: Json) -> frozenset[tuple[str, str]]:
    """The groups of next hops that drop what is sent to them, by network instance and name."""
    instances = tree.get("network-instance", ())
    return frozenset(
        (str(instance.get("name")), str(group.get("name")))
        for instance in instances
        for group in instance.get("next-hop-groups", {}).get("group", ())
        if "blackhole" in group
    )
