"""Check that prefixes and next-hop groups fit the tables of the switches, where their sizes are known."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.findings import DesignCode, Finding, error
from railfab.intent import FabricIntent
from railfab.text.remedies import Choice, remedy, setting
from railfab.topology.links_by_tier import IndexedTopology
from railfab.topology.route_scale import TableUse, table_use

LARGER = Choice("a model with larger tables")


def table_sizes(indexed: IndexedTopology, intent: FabricIntent) -> Iterator[Finding]:
    """Compare the use of each tier with the sizes in the catalogue; a model without sizes is not checked."""
    models = indexed.topology.models.values()
    if not any(model.routes or model.next_hop_groups for model in models):
        return
    for use in table_use(indexed.topology, intent):
        yield from _exceeded(use, intent)


def _exceeded(use: TableUse, intent: FabricIntent) -> Iterator[Finding]:
    aggregate = intent.hosts.attach == "routed" and not intent.profile.bgp.aggregate_hosts
    fewer = (setting("profile.bgp.aggregate_hosts", True),) if aggregate else ()
    for what, used, size, choices in (
        ("prefixes", use.prefixes, use.model.routes, (*fewer, LARGER)),
        ("next-hop groups", use.groups, use.model.next_hop_groups, (LARGER,)),
    ):
        if size is not None and used > size:
            yield error(
                DesignCode.TABLE_SIZE,
                f"every {use.role}",
                f"holds {used:,} {what}, and {use.model.name} has room for {size:,}",
                remedy(*choices),
            )
