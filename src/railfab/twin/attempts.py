"""Packets of flows that have no path: what their senders send again and again, and where that is dropped."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from railfab.forwarding import Blocked, DropPlace
from railfab.sim import QUEUES, Paths
from railfab.sim.fast_forward import FastForward

Values = np.ndarray[tuple[int], np.dtype[np.float64]]

FindBlocked = Callable[[Paths], Iterable[tuple[int, Blocked, Sequence[int]]]]
"""The flows without a path that send nevertheless: number, where its packets are dropped, and the links to there."""


class Attempts:
    """Counts of one engine. At each timeout of the retransmission timer a sender repeats what it sends between two
    acknowledgements. Axes (link * QUEUES + queue,) of packets and octets on the links before the place of the drop,
    (link,) of drops by place.
    """

    def __init__(self, engine: FastForward, timeout_ns: float, find: FindBlocked) -> None:
        self._engine, self._timeout_ns, self._find = engine, timeout_ns, find
        self._since_ns: dict[int, float] = {}
        self.packets = np.zeros(engine.network.links * QUEUES)
        self.octets = np.zeros_like(self.packets)
        self.blocked = {place: np.zeros(engine.network.links) for place in DropPlace}

    def count(self) -> None:
        """Count the timeouts since the last time, on the present network."""
        if not self._engine.stalled():
            self._since_ns.clear()
            return
        now_ns, known, framing = self._engine.now_ns, self._since_ns, self._engine.framing
        self._since_ns = {}
        for flow, blocked, way in self._find(self._engine.flow_paths()):
            began_ns = known.get(flow, now_ns)
            times = int((now_ns - began_ns) // self._timeout_ns)
            self._since_ns[flow] = began_ns + times * self._timeout_ns
            packets = times * framing.ack_every
            counted = self.blocked[blocked.place].copy()
            counted[blocked.link] += packets
            self.blocked[blocked.place] = counted
            self._pass(way, packets, packets * framing.frame_bytes)

    def _pass(self, way: Sequence[int], packets: int, octets: int) -> None:
        network, before = self._engine.network, None
        for link in way:
            queue = network.nic_queue[0] if before is None else network.queue_of[before, 0]
            self.packets[link * QUEUES + queue] += packets
            self.octets[link * QUEUES + queue] += octets
            before = link
