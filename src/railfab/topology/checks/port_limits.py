"""Check of switches that support a speed on only some of their ports."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from railfab.findings import DesignCode, Finding, error
from railfab.topology.checks.deduplicate import deduplicate
from railfab.topology.links_by_tier import IndexedTopology
from railfab.topology.model import CabledPort


def port_limits(indexed: IndexedTopology) -> Iterator[Finding]:
    """Check that no switch has more links of a speed than ports that support it."""
    yield from deduplicate(_exceeded(indexed))


def _exceeded(indexed: IndexedTopology) -> Iterator[Finding]:
    topology = indexed.topology
    models = {node.name: topology.model_of(node) for node in topology.switches()}
    limited = {name: model for name, model in models.items() if model.at_most}
    used = Counter(_node_and_rate(port) for port, _, _ in topology.ports() if port.node in limited and port.cage)
    for (name, rate_gbps), count in used.items():
        model = limited[name]
        if count > (most := model.at_most.get(rate_gbps, model.cages)):
            yield error(
                DesignCode.PORT_BUDGET,
                name,
                f"{count} links of {rate_gbps} Gb/s exceed the {most} ports of this speed on {model.name}",
                "Use fewer links of this speed, or another model",
            )


def _node_and_rate(port: CabledPort) -> tuple[str, int]:
    return port.node, port.rate_gbps
