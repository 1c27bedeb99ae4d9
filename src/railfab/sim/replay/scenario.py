"""Read a scenario folder: `scenario.json`, `links.csv`, `flows.csv`."""

from __future__ import annotations

import csv
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from railfab.sim.network import Flow, Framing, Network, Routing, plain_network
from railfab.sim.replay.routes import shortest_paths
from railfab.sim.transport import Dcqcn, Recovery, Transport

HEADER_BYTES = 48
XON_GAP_BYTES = 2496.0
PRIORITY = 3
ACK_BYTES = 60
QUANTUM_PS = 1000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scenario:
    """A network, its routes, flows and transport, ready for an engine."""

    name: str
    network: Network
    routing: Routing
    framing: Framing
    transport: Transport
    flows: tuple[Flow, ...]
    stop_ns: float


def load(folder: Path) -> Scenario:
    document = json.loads((folder / "scenario.json").read_text())
    params = document["params"]
    links = _rows(folder / "links.csv")
    flows = _rows(folder / "flows.csv")
    framing = Framing(
        payload_bytes=int(params["payload"]), header_bytes=HEADER_BYTES, gap_bytes=0, ack_bytes=ACK_BYTES, ack_every=1
    )
    network = _network(document, params, links, framing)
    return Scenario(
        name=document["name"],
        network=network,
        routing=shortest_paths(network.near, network.far, network.is_switch),
        framing=framing,
        transport=_transport(params),
        flows=tuple(_flows(flows)),
        stop_ns=float(params["stop"]),
    )


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as lines:
        return list(csv.DictReader(lines))


def _network(
    document: Mapping[str, Any], params: Mapping[str, Any], rows: Sequence[Mapping[str, str]], framing: Framing
) -> Network:
    nodes = int(document["nodes"])
    is_switch = np.zeros(nodes, bool)
    is_switch[document["switches"]] = True
    near = np.array([int(end) for row in rows for end in (row["a"], row["b"])])
    far = near.reshape(-1, 2)[:, ::-1].ravel()
    rate = np.repeat([float(row["rate_bps"]) / 1e9 for row in rows], 2)
    delay = np.repeat([float(row["delay_ns"]) for row in rows], 2)
    into_switch = is_switch[far]
    plain = plain_network(near, far, is_switch, rate)
    lossless = np.zeros_like(plain.pfc_sent)
    lossless[:, PRIORITY] = True
    scale = 1000.0
    if params.get("kscale"):
        scale *= 1.0
    network = replace(
        plain,
        delay_ns=delay,
        pause_delay_ns=delay,
        queue_of=np.full((len(near), 1), PRIORITY),
        priority_of=np.full((len(near), 1), PRIORITY),
        nic_queue=np.array([PRIORITY]),
        shared_bytes=np.where(is_switch, float(params["buffer"]), np.inf),
        xoff_alpha=np.where(lossless & into_switch[:, None], float(params["alpha"]), 0.0),
        xon_gap_bytes=np.where(lossless, XON_GAP_BYTES, 0.0),
        headroom_bytes=np.where(lossless, (3 * rate / 8 * delay + 4 * framing.frame_bytes)[:, None], 0.0),
        pfc_sent=lossless & into_switch[:, None] & bool(params["pfc"]),
        pause_queue=np.where(lossless, PRIORITY, -1),
        hash_seed=np.arange(nodes),
    )
    if not params["ecn"]:
        return network
    marks = lossless & ~(~is_switch[near])[:, None]
    return replace(
        network,
        kmin_bytes=np.where(marks, float(params["kmin"]) * scale, np.inf),
        kmax_bytes=np.where(marks, float(params["kmax"]) * scale, np.inf),
        pmax=np.where(marks, float(params["pmax"]), 0.0),
    )


def _transport(params: Mapping[str, Any]) -> Transport:
    if not params["cc"]:
        return Transport(dcqcn=None, recovery=Recovery.GO_BACK_N)
    return Transport(
        dcqcn=Dcqcn(
            alpha_interval_ns=params["t_alpha"] * 1e3,
            cut_interval_ns=params["t_dec"] * 1e3,
            increase_interval_ns=params["t_inc"] * 1e3,
            increase_bytes=0,
            cnp_interval_ns=0.0,
            gain=params["g"],
            fast_recovery_rounds=int(params["frt"]),
            additive_gbps=params["ai"] / 1e3,
            hyper_gbps=params["hai"] / 1e3,
            minimum_gbps=params["minrate"] / 1e3,
            clamp_target=bool(params["clamp"]),
        )
    )


def _address(host: int) -> int:
    return 0x0B000001 + ((host // 256) << 16) + ((host % 256) << 8)


def _flows(rows: Sequence[Mapping[str, str]]) -> list[Flow]:
    seen: Counter[tuple[int, int]] = Counter()
    found = []
    for row in rows:
        source, target = int(row["src"]), int(row["dst"])
        port = 10000 + seen[source, target]
        seen[source, target] += 1
        after = int(row["after"])
        found.append(
            Flow(
                id=int(row["flow"]),
                source=source,
                target=target,
                payload_bytes=int(row["size_bytes"]),
                source_word=_address(source),
                target_word=_address(target),
                entropy=port | 100 << 16,
                back_entropy=100 | port << 16,
                start_ns=int(row["start_ns"]) if after < 0 else 0,
                after=(after,) if after >= 0 else (),
                gap_ns=int(row["gap_ns"]),
            )
        )
    return found
