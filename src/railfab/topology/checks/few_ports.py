"""Switches with a few fast ports beside many slow ones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from railfab.findings import DesignCode, Finding, error
from railfab.topology.checks.deduplicate import alike
from railfab.topology.model import Port
from railfab.topology.sorted_links import Wired


def few_ports(wired: Wired) -> Iterator[Finding]:
    """More links of a speed than a switch has ports of it, though it has ports enough in all."""
    yield from alike(_few(wired))


def _few(wired: Wired) -> Iterator[Finding]:
    topology = wired.topology
    models = {node.name: topology.model_of(node) for node in topology.switches()}
    limited = {name: model for name, model in models.items() if model.at_most}
    used = Counter(_kind(port) for port, _, _ in topology.ports() if port.node in limited and port.cage)
    for (name, rate_gbps), count in used.items():
        model = limited[name]
        if count > (most := model.at_most.get(rate_gbps, model.cages)):
            yield error(
                DesignCode.PORT_BUDGET,
                name,
                f"{count} links of {rate_gbps} Gb/s, and {model.name} has {most} such ports",
                "Use fewer links of that speed, or another model",
            )


def _kind(port: Port) -> tuple[str, int]:
    return port.node, port.rate_gbps
