"""GPUs that never meet: islands of a backend."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.findings import DesignCode, Finding, error
from railfab.intent import FabricIntent
from railfab.topology.model import Net
from railfab.topology.sorted_links import Wired


def islands(wired: Wired, intent: FabricIntent) -> Iterator[Finding]:
    """GPUs that no path joins, over switches or over the scale-up network of a host.

    A GPU reaches the islands of switches that its NIC meets; with a scale-up network also those of its host's other
    NICs. Each is held against the first GPU: whoever shares no island with it is counted.
    """
    of_switch = _islands(wired)
    scale_up = intent.hosts.scale_up is not None
    met: dict[tuple[str, int | None], set[str]] = {}
    for link in wired.links.hosts:
        if (island := of_switch.get(link.z.node)) is not None:
            met.setdefault((link.a.node, None if scale_up else link.a.rail), set()).add(island)
    if not met:
        return
    (host, rail), mine = next(iter(met.items()))
    apart = [place for place, theirs in met.items() if mine.isdisjoint(theirs)]
    if apart:
        what = "hosts" if scale_up else "NICs"
        yield error(
            DesignCode.NO_PATH,
            _name(*apart[0]),
            f"no path joins it and {_name(host, rail)}; the same holds of {len(apart)} of {len(met)} {what}",
            "Add spines (super-spines between pods)" + ("" if scale_up else ", or a scale-up network in the hosts"),
        )


def _name(host: str, rail: int | None) -> str:
    return host if rail is None else f"{host} rail{rail}"


def _islands(wired: Wired) -> dict[str, str]:
    """Backend switches, each with the first switch of those that links join it to."""
    joined: dict[str, list[str]] = {node.name: [] for node in wired.topology.switches() if node.net is Net.BACKEND}
    for link in (*wired.links.rising, *wired.links.level):
        if link.a.node in joined:
            joined[link.a.node].append(link.z.node)
            joined[link.z.node].append(link.a.node)
    island: dict[str, str] = {}
    for first in joined:
        reached = [first] if first not in island else []
        for name in reached:
            if name not in island:
                island[name] = first
                reached.extend(joined[name])
    return island
