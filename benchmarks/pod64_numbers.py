"""The backend of pod64 as numbers, with one spine left, and the flows of its jobs: the engine without the rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from railfab.sim import QUEUES, Flow, Framing, Network, Routing, plain_network

HOSTS, RAILS, PLANES, SEGMENTS = 8, 8, 2, 2
LOSSLESS = 3
RING_PAYLOAD = int(2 * 7 / 8 * 3.6e9 / 4)
"""Bytes of one flow of inventory/jobs/ring.yml: 4 flows an edge."""
_NIC_DELAY_NS, _SPINE_DELAY_NS = 425.0, 600.0


def nic(host: int, rail: int, plane: int) -> int:
    return (host * RAILS + rail) * PLANES + plane


_NICS = HOSTS * RAILS * PLANES
LEAVES = SEGMENTS * PLANES


def leaf(segment: int, plane: int) -> int:
    return _NICS + segment * PLANES + plane


def pod64(spines: int = 1, *, lossless: bool = True, marking: bool = True) -> Network:
    """NICs, four rail switches of 32 x 100G, and spines with two 400G links to each of them."""
    cables = [
        (nic(host, rail, plane), leaf(host * SEGMENTS // HOSTS, plane), 100.0)
        for host in range(HOSTS)
        for rail in range(RAILS)
        for plane in range(PLANES)
    ]
    first_spine = _NICS + LEAVES
    cables += [
        (_NICS + switch, first_spine + spine, 400.0)
        for switch in range(LEAVES)
        for spine in range(spines)
        for _ in range(2)
    ]
    near = np.array([end for a, z, _ in cables for end in (a, z)])
    far = near.reshape(-1, 2)[:, ::-1].ravel()
    rate = np.repeat([rate for *_, rate in cables], 2)
    is_switch = np.arange(first_spine + spines) >= _NICS
    plain = plain_network(near, far, is_switch, rate)
    return _with_qos(replace(plain, hash_seed=(np.arange(len(is_switch)) * 2654435761) & 0xFFFFFFFF), lossless, marking)


def _with_qos(plain: Network, lossless: bool, marking: bool) -> Network:
    """Thresholds as `railfab plan` gives them to a 7220 IXR-D5 (132 MB)."""
    fast = plain.rate_gbps > 100.0
    delay = np.where(fast, _SPINE_DELAY_NS, _NIC_DELAY_NS)
    column = np.arange(QUEUES) == LOSSLESS
    into_switch, from_switch = plain.is_switch[plain.far], plain.is_switch[plain.near]
    ramp = np.where(fast, 540e3, 150e3)[:, None]
    marks = column & from_switch[:, None] & marking
    pfc = column & into_switch[:, None] & lossless
    return replace(
        plain,
        delay_ns=delay,
        pause_delay_ns=np.where(fast, 500.0, 425.0),
        queue_of=np.full((plain.links, 1), LOSSLESS),
        priority_of=np.full((plain.links, 1), LOSSLESS if lossless else -1),
        nic_queue=np.array([LOSSLESS]),
        kmin_bytes=np.where(marks, ramp, np.inf),
        kmax_bytes=np.where(marks, 3 * ramp, np.inf),
        pmax=np.where(marks, 0.1, 0.0),
        limit_bytes=np.where(column & lossless, np.inf, np.where(from_switch, 1.32e6, np.inf)[:, None]),
        pfc_sent=pfc,
        xoff_bytes=np.where(pfc, np.where(fast, 2.16e6, 585e3)[:, None], np.inf),
        xon_gap_bytes=np.where(pfc, 18_432.0, 0.0),
        headroom_bytes=np.where(pfc, np.where(fast, 858e3, 343_200.0)[:, None], 0.0),
        pause_queue=np.where(column & lossless, LOSSLESS, -1) * np.ones((plain.links, 1), np.int64),
        shared_bytes=np.where(plain.is_switch, 114.84e6, np.inf),
    )


def routes(network: Network) -> Routing:
    """Rail switches reach NICs directly or over all their uplinks, spines over all links to the NIC's rail switch."""
    by_pair: dict[tuple[int, int], list[int]] = {}
    for link in np.nonzero(network.up)[0].tolist():
        by_pair.setdefault((int(network.near[link]), int(network.far[link])), []).append(link)
    switches = np.nonzero(network.is_switch)[0].tolist()
    home = {int(network.near[link]): int(network.far[link]) for link in range(0, 2 * _NICS, 2)}
    groups: dict[tuple[int, ...], int] = {}
    table = np.full((len(switches), _NICS), -1)
    for row, switch in enumerate(switches):
        for target in range(_NICS):
            links = by_pair.get((switch, target)) or by_pair.get((switch, home[target])) or _uplinks(by_pair, switch)
            if switch in home.values() and home[target] != switch and switch % PLANES != home[target] % PLANES:
                continue
            table[row, target] = groups.setdefault(tuple(links), len(groups))
    members = [link for links in groups for link in links]
    begin = np.cumsum([0, *(len(links) for links in groups)])
    row_of = np.full(network.nodes, -1)
    row_of[switches] = np.arange(len(switches))
    destination = np.where(network.is_switch, -1, np.arange(network.nodes))
    return Routing(destination=destination, row=row_of, group=table, begin=begin, members=np.array(members))


def _uplinks(by_pair: dict[tuple[int, int], list[int]], switch: int) -> list[int]:
    return [link for (near, far), links in sorted(by_pair.items()) if near == switch and far >= _NICS for link in links]


def _flow(number: int, source: int, target: int, size: int, stream: int, start_ns: int, first: int) -> Flow:
    return Flow(
        id=first + number,
        source=source,
        target=target,
        payload_bytes=size,
        source_word=0x0A000000 + source,
        target_word=0x0A000000 + target,
        entropy=4791 << 16 | (49152 + (number * 7919 + stream * 104729) % 16384),
        back_entropy=4791 << 16 | (49152 + (number * 6101 + stream * 15485863) % 16384),
        start_ns=start_ns,
    )


def ring(size: int = RING_PAYLOAD, *, first: int = 0, start_ns: int = 0) -> list[Flow]:
    """A ring AllReduce on every rail: each host to the next, over both ports of the NIC, by two queue pairs."""
    edges = [
        (nic(host, rail, plane), nic((host + 1) % HOSTS, rail, plane), stream)
        for rail in range(RAILS)
        for host in range(HOSTS)
        for plane in range(PLANES)
        for stream in range(2)
    ]
    return [_flow(n, a, z, size, stream, start_ns, first) for n, (a, z, stream) in enumerate(edges)]


def incast(senders: int, size: int, *, first: int = 0, start_ns: int = 0) -> list[Flow]:
    """Senders on other hosts, rail by rail, to the first NIC port; all on one plane."""
    others = [nic(host, rail, 0) for rail in range(RAILS) for host in range(1, HOSTS)][:senders]
    return [_flow(n, source, nic(0, 0, 0), size, 0, start_ns, first) for n, source in enumerate(others)]


FRAMING = Framing()
