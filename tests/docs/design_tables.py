"""Facts of the committed designs, as their topologies have them: for docs/designs.md."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path

from tests.fabric.sampled import wired

from railfab.intent import FabricIntent
from railfab.intent.starters import designs
from railfab.topology import FailureKind, Net, Role, Topology, capacities, failure_domains

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
Rows = Callable[..., str]
"""The function that makes a table of columns and rows."""

COLUMNS = (
    "hosts",
    "GPUs",
    "rails on a switch",
    "switches",
    "cables",
    "down to up",
    "a rail switch fails",
    "a spine fails",
)
TIERS = {Role.LEAF: "rail switch", Role.SPINE: "spine", Role.SUPER: "super-spine"}


def tables(table: Rows) -> dict[str, Callable[[], str]]:
    """One of all designs, and one for each."""
    each = {f"design-{name}": partial(_facts_table, table, name) for name in designs()}
    return {"designs": partial(_all, table), **each}


def _all(table: Rows) -> str:
    rows = ((f"[{name}](#{name})", facts(name)[1], facts(name)[3], when) for name, when in designs().items())
    return table(("design", "GPUs", "switches of the backend", "choose it for"), rows)


def _facts_table(table: Rows, name: str) -> str:
    return table(COLUMNS, [facts(name)])


@cache
def facts(name: str) -> tuple[str, ...]:
    """The row of a design, by COLUMNS."""
    intent, topology = wired(FABRICS / f"{name}.yml")
    hosts = len(topology.hosts())
    cables = sum(topology.node(link.z.node).net is Net.BACKEND for link in topology.links)
    return (
        f"{hosts:,}",
        f"{hosts * intent.hosts.gpus:,}",
        str(_rails(topology)),
        _switches(topology),
        f"{cables:,}",
        _ratio(topology),
        *_failures(topology, intent),
    )


def _rails(topology: Topology) -> int:
    """Rails on the first rail switch; all have as many."""
    first = next(node.name for node in topology.nodes if node.role is Role.LEAF)
    return len({link.z.rail for link in topology.links if link.z.node == first} - {None})


def _switches(topology: Topology) -> str:
    counts = Counter(node.role for node in topology.switches() if node.net is Net.BACKEND)
    return ", ".join(f"{count:,} {_plural(TIERS[role], count)}" for role, count in counts.items())


def _plural(what: str, count: int) -> str:
    return what if count == 1 else f"{what}es" if what.endswith("ch") else f"{what}s"


def _ratio(topology: Topology) -> str:
    """The worst of the backend's switches."""
    backend = {node.name for node in topology.nodes if node.net is Net.BACKEND}
    ratios = [found.ratio for found in capacities(topology) if found.node in backend and found.ratio is not None]
    return f"{max(ratios):g}:1" if ratios else "nothing above"


def _failures(topology: Topology, intent: FabricIntent) -> Iterator[str]:
    """What one rail switch, and one spine, costs."""
    domains = {domain.kind: domain for domain in failure_domains(topology, intent) if domain.net is Net.BACKEND}
    for kind in (FailureKind.LEAF, FailureKind.SPINE):
        if kind not in domains:
            yield ""
        elif domains[kind].affected == 0:
            yield "nothing is lost"
        else:
            yield f"{domains[kind].affected:,} GPUs lose {domains[kind].lost_percent:.4g} %"
