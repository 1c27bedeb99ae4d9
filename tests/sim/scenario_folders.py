"""Writes small scenario folders in the format of the reference."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PARAMS: dict[str, Any] = {
    "cc": 0,
    "ecn": 0,
    "pfc": 1,
    "payload": 1000,
    "chunk": 4000,
    "ackint": 1,
    "t_alpha": 1,
    "t_dec": 4,
    "t_inc": 300,
    "g": 0.00390625,
    "frt": 1,
    "ai": 20,
    "hai": 200,
    "minrate": 100,
    "clamp": 0,
    "kmin": 100,
    "kmax": 400,
    "pmax": 0.2,
    "kscale": 0,
    "buffer": 4_000_000,
    "alpha": 0.125,
    "qint": 1000,
    "stop": 60_000_000.0,
    "seed": 1,
}
LINK_COLUMNS = "a,a_port,b,b_port,rate_bps,delay_ns"
FLOW_COLUMNS = "flow,src,dst,size_bytes,start_ns,after,gap_ns"
Cable = tuple[int, int, float, float]
"""Two nodes, Gb/s, ns."""


def write_scenario(
    folder: Path, *, nodes: int, switches: Sequence[int], cables: Sequence[Cable], flows: Sequence[str], **params: Any
) -> Path:
    """Ports are numbered in the order of the cables; `flows` are lines."""
    folder.mkdir(parents=True, exist_ok=True)
    document = {"name": folder.name, "params": PARAMS | params, "nodes": nodes, "switches": list(switches)}
    (folder / "scenario.json").write_text(json.dumps(document, indent=1))
    ports = dict.fromkeys(range(nodes), 0)
    lines = [LINK_COLUMNS]
    for a, b, rate_gbps, delay_ns in cables:
        ports[a] += 1
        ports[b] += 1
        lines.append(f"{a},{ports[a]},{b},{ports[b]},{rate_gbps * 1e9:.0f},{delay_ns:g}")
    (folder / "links.csv").write_text("\n".join(lines) + "\n")
    (folder / "flows.csv").write_text("\n".join((FLOW_COLUMNS, *flows)) + "\n")
    return folder


def star(
    folder: Path, *, senders: int, rate_gbps: float = 100, delay_ns: float = 1000, size: int = 1_000_000, **params: Any
) -> Path:
    """Senders 1..n to host 0, by switch n + 1."""
    hub = senders + 1
    return write_scenario(
        folder,
        nodes=hub + 1,
        switches=[hub],
        cables=[(host, hub, rate_gbps, delay_ns) for host in range(hub)],
        flows=[f"{number},{number + 1},0,{size},1000,-1,0" for number in range(senders)],
        **params,
    )


def ring(folder: Path, *, switches: int = 5, size: int = 20_000_000, **params: Any) -> Path:
    """Host i sends to host i + 2, by switches n + i, n + i + 1 and n + i + 2 of a ring: with PFC and little buffer,
    each queue between switches waits for the next one."""
    hubs = range(switches, 2 * switches)
    cables: list[Cable] = [(host, switches + host, 100, 1000) for host in range(switches)]
    cables += [(hubs[place], hubs[(place + 1) % switches], 100, 1000) for place in range(switches)]
    flows = [f"{host},{host},{(host + 2) % switches},{size},1000,-1,0" for host in range(switches)]
    return write_scenario(folder, nodes=2 * switches, switches=hubs, cables=cables, flows=flows, **params)


def leaf_spine(
    folder: Path,
    *,
    leaves: int,
    hosts_per_leaf: int,
    spines: int,
    flows: Sequence[str],
    host_gbps: float = 100,
    uplink_gbps: float = 100,
    delay_ns: float = 1000,
    **params: Any,
) -> Path:
    hosts = leaves * hosts_per_leaf
    cables: list[Cable] = [(host, hosts + host // hosts_per_leaf, host_gbps, delay_ns) for host in range(hosts)]
    cables += [
        (hosts + leaf, hosts + leaves + spine, uplink_gbps, delay_ns)
        for leaf in range(leaves)
        for spine in range(spines)
    ]
    nodes = hosts + leaves + spines
    return write_scenario(folder, nodes=nodes, switches=range(hosts, nodes), cables=cables, flows=flows, **params)
