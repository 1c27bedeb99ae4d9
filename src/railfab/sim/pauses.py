"""The log of pause frames, and queues that wait for each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from railfab.sim.kernel.records import NONE, QUEUES, XOFF, State
from railfab.sim.network import Bools, Floats, Ints

PS_PER_NS = 1000


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PauseLog:
    """XOFF and XON frames in the order in which they were logged; axis (frame,). missed: frames that did not fit.

    link, priority: what they stop; the far end of the link sends them. is_xoff: else XON. sent_ns; arrival_ns: when the
    near end is silent. held_bytes, headroom_bytes: of the ingress when it was sent; threshold_bytes: where it sends
    XOFF. Of an XOFF: cause_link, cause_queue: the queue of the sender that holds most bytes of this ingress (-1: none
    does, as at a slow host), cause_bytes: how many, cause_since_ns: since when the first packet of that queue waits.
    """

    link: Ints
    priority: Ints
    is_xoff: Bools
    sent_ns: Floats
    arrival_ns: Floats
    held_bytes: Ints
    headroom_bytes: Ints
    threshold_bytes: Floats
    cause_link: Ints
    cause_queue: Ints
    cause_bytes: Ints
    cause_since_ns: Floats
    missed: int

    @classmethod
    def of(cls, st: State) -> PauseLog:
        log = st.pauses[: st.sim[0].pauses_logged]
        found = log.cause >= 0
        return cls(
            link=log.link.astype(np.int64),
            priority=log.priority.astype(np.int64),
            is_xoff=log.kind == XOFF,
            sent_ns=log.time / PS_PER_NS,
            arrival_ns=log.arrival / PS_PER_NS,
            held_bytes=log.bytes.copy(),
            headroom_bytes=log.headroom.copy(),
            threshold_bytes=log.threshold.copy(),
            cause_link=np.where(found, log.cause // QUEUES, NONE),
            cause_queue=np.where(found, log.cause % QUEUES, NONE),
            cause_bytes=log.cause_bytes.copy(),
            cause_since_ns=log.cause_since / PS_PER_NS,
            missed=int(st.sim[0].pauses_missed),
        )


def waits_for(st: State, lasting_ns: float = 0.0) -> dict[int, set[int]]:
    """For each queue that a pause has stopped for so long, and that has packets, the queues whose packets keep it
    stopped.

    Queue q of link l is number l * QUEUES + q. A pause of a link lasts until the far end has sent on packets of this
    ingress, which are in queues of the far end.
    """
    holders = _holders(st)
    stopped: dict[int, set[int]] = {}
    long = st.sim[0].now - st.ingress.held_at >= lasting_ns * PS_PER_NS
    for at in np.flatnonzero((st.ingress.held > 0) & (st.ingress.queue >= 0) & long).tolist():
        link, priority = divmod(at, QUEUES)
        queue = link * QUEUES + int(st.ingress.queue[at])
        stopped.setdefault(queue, set()).update(holders.get((link, priority), ()))
    return stopped


def _holders(st: State) -> dict[tuple[int, int], set[int]]:
    """The queues that hold packets of each ingress (link, priority)."""
    following, link, group = st.packets.next, st.packets.link, st.packets.group
    found: dict[tuple[int, int], set[int]] = {}
    for at in np.flatnonzero(st.queues.head >= 0).tolist():
        p = int(st.queues.head[at])
        while p >= 0:
            found.setdefault((int(link[p]), int(group[p])), set()).add(at)
            p = int(following[p])
    return found


def deadlock(st: State, lasting_ns: float) -> tuple[int, ...]:
    """Queues in a cycle, each stopped for so long, until the next one sends; empty without such a cycle."""
    return cycle_of(waits_for(st, lasting_ns))


def cycle_of(graph: dict[int, set[int]]) -> tuple[int, ...]:
    """The nodes of a cycle in a graph of those that each waits for, in order; empty without one."""
    finished: set[int] = set()
    for start in graph:
        path: list[int] = []
        branches = [iter((start,))]
        while branches:
            node = next(branches[-1], None)
            if node is None:
                branches.pop()
                if path:
                    finished.add(path.pop())
            elif node in path:
                return tuple(path[path.index(node) :])
            elif node not in finished and node in graph:
                path.append(node)
                branches.append(iter(sorted(graph[node])))
    return ()
