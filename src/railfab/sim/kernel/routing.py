"""The next hop of a packet: next-hop groups, and the ways to choose a member."""

from __future__ import annotations

from typing import Any

from railfab.sim.jit import called, inlined
from railfab.sim.kernel.records import (
    ADAPTIVE,
    DOWN,
    FLOW_HASH,
    FLOWLET,
    HASH_ENTROPY,
    HASH_INGRESS,
    HASH_SOURCE,
    HASH_TARGET,
    MAX_HOPS,
    NIC,
    NONE,
    QUEUES,
    STALLED,
    STEP_BITS,
    State,
)
from railfab.sim.kernel.wheel import next_random

_MASK = 0xFFFFFFFF
_HASHED_BYTES = 12
ENTROPY_STEP = 0x9E3779B1
"""How far the words of two entropy values of a flow are apart."""
LOAD_BANDS, BAND_FRAMES = 8, 8.0
"""Bands by which adaptive routing knows the load of links, as many as Juniper documents (Customize Egress Port Link
Quality Metrics for DLB: quality bands 0 to 7), and frames at which the first one ends. Queue lengths of bands are not
published; with 4 to 32 frames the last completions are about the same (benchmarks/jobs.md)."""


@inlined
def _mixed(digest: int, word: int) -> int:
    """One round of MurmurHash3 x86_32 (Appleby, public domain)."""
    word = (word * 0xCC9E2D51) & _MASK
    word = ((word << 15) & _MASK) | (word >> 17)
    word = (word * 0x1B873593) & _MASK
    digest ^= word
    digest = ((digest << 13) & _MASK) | (digest >> 19)
    return (digest * 5 + 0xE6546B64) & _MASK


@called
def flow_hash(node: Any, source: int, target: int, entropy: int, into: int) -> int:
    """Hash of the fields that a switch hashes: MurmurHash3 of three words, with the switch's seed."""
    fields = int(node.hash_fields)
    digest = int(node.hash_seed) & _MASK
    digest = _mixed(digest, source if fields & HASH_SOURCE else 0)
    digest = _mixed(digest, target if fields & HASH_TARGET else 0)
    digest = _mixed(digest, entropy if fields & HASH_ENTROPY else 0)
    if fields & HASH_INGRESS:
        digest = _mixed(digest, into)
    digest ^= _HASHED_BYTES
    digest ^= digest >> 16
    digest = (digest * 0x85EBCA6B) & _MASK
    digest ^= digest >> 13
    digest = (digest * 0xC2B2AE35) & _MASK
    return digest ^ (digest >> 16)


@inlined
def group_of(st: State, n: int, destination: int) -> int:
    sim = st.sim[0]
    return int(st.table[sim.at_groups + st.nodes[n].row * sim.destinations + destination])


@inlined
def step_of(st: State, into: int, out: int, traffic_class: int) -> int:
    """The step (`STEP_BITS`) of a class that comes in by one link of a switch and leaves by another."""
    sim = st.sim[0]
    at = sim.at_classes + 2 * (into * sim.classes + traffic_class)
    return int((out * QUEUES + st.table[at]) << STEP_BITS | (st.table[at + 1] + 1))


@called
def walk(
    st: State, n: int, destination: int, source: int, target: int, entropy: int, way: Any, at: int
) -> tuple[int, int, int]:
    """Write the links from a NIC to a destination into `way` from `at` on, as far as they lead, NONE after them.

    Returns their number (NONE without a route), the delay of a full walk, and whether some switch on the way chooses
    per packet or flowlet: then the links are one possibility. A link of a switch that is down drops packets, until a
    change of routes; a NIC whose cable is down has no route.
    """
    sim = st.sim[0]
    link = st.nodes[n].link
    hops, delay, dynamic = 0, 0, 0
    for place in range(MAX_HOPS):
        way[at + place] = NONE
    if link < 0 or st.links[link].up == DOWN:
        return NONE, 0, dynamic
    while True:
        way[at + hops] = link
        hops += 1
        here = st.links[link]
        delay += here.delay + here.ack_delay
        n = here.far
        if st.nodes[n].kind == NIC:
            return (hops if st.nodes[n].destination == destination else NONE), delay, dynamic
        if hops == MAX_HOPS - 1:
            return NONE, 0, dynamic
        group = group_of(st, n, destination)
        if group < 0:
            return NONE, 0, dynamic
        begin = st.table[sim.at_group_begin + group]
        size = st.table[sim.at_group_begin + group + 1] - begin
        chosen = 0
        if size == 0:
            return NONE, 0, dynamic
        if size > 1:
            if st.nodes[n].balancing != FLOW_HASH:
                dynamic = 1
            chosen = flow_hash(st.nodes[n], source, target, entropy, link) % size
        link = st.table[sim.at_members + begin + chosen]
        if link < 0:
            return NONE, 0, dynamic


@called
def walk_flows(st: State) -> None:
    """Write the links of all flows and of their acknowledgements; those without a way, or a way back, are stalled."""
    for flow in range(st.flows.size):
        f, at = st.flows[flow], flow * MAX_HOPS
        there, _, _ = walk(st, f.source, f.destination, f.source_word, f.target_word, f.entropy_word, st.path, at)
        home = st.nodes[f.source].destination
        back, _, _ = walk(st, f.target, home, f.target_word, f.source_word, f.back_word, st.back, at)
        if there < 0 or back < 0:
            f.state = STALLED


@called
def given_links(st: State, way: Any, at: int) -> tuple[int, int]:
    """The number of the links in `way` from `at` on, NONE where one is down, and the delay of a full walk."""
    hops, delay = 0, 0
    while hops < MAX_HOPS and way[at + hops] >= 0:
        here = st.links[way[at + hops]]
        if here.up == DOWN:
            return NONE, 0
        delay += here.delay + here.ack_delay
        hops += 1
    return hops, delay


@inlined
def _load_band(frames: float) -> int:
    """The band of a load, which is the time until a link is idle, in times of a frame. Each band ends at twice the load
    at which the one before it ends."""
    band, end = 0, BAND_FRAMES
    while frames >= end and band < LOAD_BANDS - 1:
        band += 1
        end *= 2
    return band


@called
def _least_loaded(st: State, begin: int, size: int, start: int, queue: int, time: int) -> int:
    """The member with the least load, the first from `start` on among equals.

    A load is known by its band only. With exact loads each of several full inputs would find that link idle which its
    last packet has left, and all packets of a flow would take one path, as with a hash.
    """
    sim = st.sim[0]
    best, least = NONE, 0
    for step in range(size):
        out = st.table[sim.at_members + begin + (start + step) % size]
        if out < 0:
            continue
        link = st.links[out]
        wait = max(link.free_at - time, 0) + int(st.queues[out * QUEUES + queue].bytes * link.ps_per_byte)
        band = _load_band(wait / (sim.frame * link.ps_per_byte))
        if best < 0 or band < least:
            best, least = out, band
    return best


@called
def choose(st: State, n: int, p: int, queue: int, time: int) -> int:
    """The link by which a switch sends a packet on; NONE without a route, or after too many links."""
    packet = st.packets[p]
    flow, hop = packet.flow, packet.hop
    sim, node, f = st.sim[0], st.nodes[n], st.flows[flow]
    if hop >= MAX_HOPS - 2:
        return NONE
    group = group_of(st, n, f.destination)
    if group < 0:
        return NONE
    begin = st.table[sim.at_group_begin + group]
    size = st.table[sim.at_group_begin + group + 1] - begin
    if size <= 0:
        return NONE
    if size == 1:
        return int(st.table[sim.at_members + begin])
    if node.balancing == FLOW_HASH:
        entropy = f.entropy_word
        if f.entropies:
            entropy = (entropy + st.entropy_values[p] * ENTROPY_STEP) & _MASK
        digest = flow_hash(node, f.source_word, f.target_word, entropy, packet.link)
        return int(st.table[sim.at_members + begin + digest % size])
    if node.balancing == FLOWLET:
        at = flow * MAX_HOPS + hop
        held = st.path[at]
        fresh = time - st.path_time[at] > node.flowlet_gap
        st.path_time[at] = time
        if not fresh and held >= 0 and st.links[held].near == n:
            return int(held)
    node.random = next_random(node.random)
    start = node.random % size
    if node.balancing == ADAPTIVE:
        chosen = _least_loaded(st, begin, size, start, queue, time)
    else:
        chosen = st.table[sim.at_members + begin + start]
    if node.balancing == FLOWLET:
        st.path[flow * MAX_HOPS + hop] = chosen
    return int(chosen)


@called
def forget_paths(st: State) -> None:
    """Forget the links of flowlets, which may not exist any more."""
    for at in range(st.path_time.size):
        st.path_time[at] = 0
