"""Numbers of prefixes of BGP sessions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from railfab.device import Family
from railfab.forwarding.announcements import Verdicts, best_of, offered
from railfab.forwarding.peers import FAMILIES, Peers, inward, outward
from railfab.forwarding.policies import DENIED
from railfab.forwarding.ports import Configs
from railfab.forwarding.route_table import Routes, SessionCounts
from railfab.forwarding.sessions import PrefixCounts


def session_counts(table: Routes, configs: Configs, switch: str) -> Mapping[str, SessionCounts]:
    """Prefixes that each established session of a switch receives, accepts, sends and installs, by its key.

    Whatever an import policy decides by the attributes of a route counts as accepted.
    """
    found = table.counts.get(switch)
    if found is None:
        found = table.counts[switch] = _counted(table, configs, switch)
    return found


def _counted(table: Routes, configs: Configs, name: str) -> Mapping[str, SessionCounts]:
    peers = table.peers.get(name, Peers())
    if not peers.members:
        return {}
    at, verdicts = np.arange(len(table.groups.keys)), Verdicts(table.groups)
    into, out = inward(configs, name, peers), outward(configs, name, table.rows[name], peers)
    received = offered(table, into, best_of(table, into, at, verdicts))
    imports = [(configs[name].imports[peer.key], peer.received) for peer in peers.members]
    accepted = received & (verdicts.of(imports, at) != DENIED)
    sent = offered(table, out, best_of(table, out, at, verdicts))
    sizes = {
        family: (flag, table.groups.sizes * (table.groups.bits == bits)) for family, (flag, bits) in FAMILIES.items()
    }
    counts: dict[str, dict[Family, PrefixCounts]] = {peer.key: {} for peer in peers.members}
    for family, (flag, size) in sizes.items():
        installed = _installed(table, name, size)
        columns = ((received @ size).tolist(), (accepted @ size).tolist(), (sent @ size).tolist())
        for peer, came, kept, went in zip(peers.members, *columns, strict=True):
            if flag & (peer.received | peer.sent):
                counts[peer.key][family] = PrefixCounts(came, kept, went, installed.get(peer.link, 0))
    return counts


def _installed(table: Routes, name: str, sizes: NDArray[np.int64]) -> dict[int, int]:
    """Prefixes that use each egress link of a switch. sizes: prefixes of each group."""
    totals = np.bincount(table.hops[table.rows[name]], weights=sizes)
    found: dict[int, int] = {}
    for number in np.flatnonzero(totals).tolist():
        for link in set(table.tables.hops.links[number]):
            found[link] = found.get(link, 0) + int(totals[number])
    return found
