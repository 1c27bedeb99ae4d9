"""What the collector counts of a target, and how much of it."""

from __future__ import annotations

from collections import Counter

from railfab.telemetry.health import MOST_ROOTS, OTHER_ROOTS, Health


def test_leaves_without_a_rule_are_counted_by_root_and_beyond_a_bound_together() -> None:
    health = Health(tls_verified=True)
    roots = [f"/root{number}" for number in range(MOST_ROOTS + 2)]
    for _ in range(2):
        health.count_unmapped(Counter(roots))
    assert [root for root in health.unmapped if root != OTHER_ROOTS] == roots[:MOST_ROOTS]
    assert {health.unmapped[root] for root in roots[:MOST_ROOTS]} == {2}
    assert health.unmapped[OTHER_ROOTS] == 4
