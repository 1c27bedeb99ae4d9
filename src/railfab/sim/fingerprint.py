"""A digest of a state that does not depend on where in memory its parts are."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from railfab.sim.kernel.records import DATA, EXPIRED, KEYS, NAK, PACKET_MASK, XOFF, XON, State
from railfab.sim.network import Ints

_WINDOW = ("begin", "number", "stamp")
_PLACES = {
    "sim": ("free", "free_count", "free_chunk", "reserve", "active_count", "timer_count", "timer_order", *_WINDOW),
    "queues": ("head", "tail"),
    "links": ("listed", "last_queue", "tx_size", "tx_time"),
    "nodes": ("active", "busy_links", "flows_at"),
    "flows": ("resend_head", "resend_tail", "bitmap", "first_dependent"),
}
"""Fields that say where something is, or that follow from others."""


def under_way(st: State) -> Ints:
    """The packets that are to arrive at nodes."""
    sim, found = st.sim[0], []
    slots = st.table[sim.at_slots : sim.at_slots + len(st.nodes) * int(sim.slots)]
    for last in slots[slots >= 0].tolist():
        while last >= 0:
            first = last & ~KEYS
            found += (st.arrivals[first + 1 : last + 1] & PACKET_MASK).tolist()
            last = int(st.arrivals[first])
    return np.array(found, np.int64)


def digest_of(st: State, more: Sequence[Ints]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    parts = [_without_places(st, name) for name in ("sim", "links", "queues", "ingress", "nodes", "flows")]
    parts += [_waiting(st), _under_way(st), _requests(st), _timers(st), _served(st)]
    parts += [st.transports, st.path, st.back, st.path_time, st.dependents, st.masks, *_settings(st), *more]
    for part in parts:
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.hexdigest()


def _without_places(st: State, name: str) -> np.ndarray:
    kept = getattr(st, name).copy()
    for field in kept.dtype.names:
        if field in _PLACES.get(name, ()) or field.startswith("at_"):
            kept[field] = 0
    return np.asarray(kept)


_FIELDS = ("time", "link", "kind", "flow", "seq", "size", "group", "hop", "ce")
_MEANINGLESS: dict[int, tuple[str, ...]] = {XOFF: ("flow", "seq", "size", "hop"), XON: ("flow", "seq", "size", "hop")}
_MEANINGLESS |= {NAK: ("group", "hop"), EXPIRED: ("group", "hop")}


def _content(st: State, at: Ints) -> Ints:
    """(packet, field) what packets are, but for their place."""
    packets = st.packets[at]
    for kind, fields in _MEANINGLESS.items():
        for field in fields:
            packets[field][packets.kind == kind] = 0
    sprayed = np.flatnonzero(packets.kind == DATA)
    sprayed = sprayed[st.flows.entropies[packets.flow[sprayed]] > 0]
    entropies = np.zeros(len(at), np.int64)
    entropies[sprayed] = st.entropy_values[at[sprayed]]
    return np.column_stack([*(packets[name] for name in _FIELDS), entropies]).astype(np.int64)


def _chain(st: State, head: int) -> list[int]:
    found = []
    while head >= 0:
        found.append(head)
        head = int(st.packets.next[head])
    return found


def _waiting(st: State) -> Ints:
    """Packets of all queues, in their order."""
    order = [p for at in np.flatnonzero(st.queues.head >= 0) for p in _chain(st, int(st.queues.head[at]))]
    return _content(st, np.array(order, np.int64))


def _requests(st: State) -> Ints:
    """What senders were asked to send again, in its order."""
    order = [p for at in np.flatnonzero(st.flows.resend_head >= 0) for p in _chain(st, int(st.flows.resend_head[at]))]
    found = np.array(order, np.int64)
    return np.column_stack([st.packets[name][found] for name in ("flow", "seq", "size")])


def _under_way(st: State) -> Ints:
    """Packets that are to arrive, in order of time."""
    found = _content(st, under_way(st))
    return found[np.lexsort(found.T[::-1])]


def _timers(st: State) -> Ints:
    timers = st.timers[: st.sim[0].timer_count]
    found = np.column_stack([timers[name] for name in ("time", "kind", "index")])
    return found[np.lexsort(found.T[::-1])]


def _served(st: State) -> Ints:
    """The flows that each NIC serves, in their order."""
    nodes = np.flatnonzero(st.nodes.flow_count)
    parts = [st.nic_flows[st.nodes.flows_at[n] :][: st.nodes.flow_count[n]] for n in nodes]
    return np.concatenate([*parts, np.zeros(0, np.int32)])


def _settings(st: State) -> tuple[Ints, ...]:
    """The tables of the network and its routes."""
    return (st.table[st.sim[0].at_groups :],)
