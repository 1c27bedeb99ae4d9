"""An incast to one port, frame by frame, in the simplest form: no code of the simulator, which is compared with it.

Source: Zhu et al., Congestion Control for Large-Scale RDMA Deployments, SIGCOMM 2015, sections 3 and 5, with its
constants; the first cut comes one interval after the first notification, as in the reference
(tests/reference/simulator/manifest.json).
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from random import Random

LINE_GBPS, DELAY_NS = 100.0, 1000.0
FRAME_BYTES, WIRE_BYTES = 4158, 4178
FRAME_NS = WIRE_BYTES * 8 / LINE_GBPS
CNP_NS = CUT_NS = 50_000.0
ALPHA_NS = INCREASE_NS = 55_000.0
GAIN, ROUNDS, ADDITIVE_GBPS, HYPER_GBPS, MINIMUM_GBPS = 1 / 256, 5, 0.04, 0.4, 0.1
COUNTED_BYTES = 10_000_000
SAMPLE_NS = 5_000.0


@dataclass(slots=True)
class Sender:
    """The rate control of one flow. timer: counts cuts, which end the increases before them."""

    rate_gbps: float = LINE_GBPS
    target_gbps: float = LINE_GBPS
    alpha: float = 1.0
    alpha_seen: bool = False
    cut_due: bool = False
    first_ns: float | None = None
    stage: int = 0
    byte_stage: int = 0
    bytes_left: int = COUNTED_BYTES
    timer: int = 0
    notified_ns: float = -CNP_NS

    def increase(self) -> None:
        low, high = sorted((self.stage, self.byte_stage))
        if high >= ROUNDS:
            self.target_gbps += HYPER_GBPS if low > ROUNDS else ADDITIVE_GBPS
        self.target_gbps = min(self.target_gbps, LINE_GBPS)
        self.rate_gbps = (self.rate_gbps + self.target_gbps) / 2

    def cut(self) -> None:
        if self.stage or self.byte_stage:
            self.target_gbps = self.rate_gbps
        self.rate_gbps = max(MINIMUM_GBPS, self.rate_gbps * (1 - self.alpha / 2))
        self.stage = self.byte_stage = 0
        self.cut_due, self.bytes_left, self.timer = False, COUNTED_BYTES, self.timer + 1


class PlainIncast:
    """Senders to one port with ECN; counts what the port sends and marks, and samples its queue."""

    def __init__(self, senders: int, *, kmin_bytes: float, kmax_bytes: float, pmax: float, seed: int) -> None:
        self.kmin_bytes, self.kmax_bytes, self.pmax = kmin_bytes, kmax_bytes, pmax
        self.sent = self.marked = 0
        self.depths: list[int] = []
        self._random, self._order = Random(seed), count()
        self._now_ns, self._busy = 0.0, False
        self._queue: deque[Sender] = deque()
        self._events: list[tuple[float, int, Callable[[], None]]] = []
        for _ in range(senders):
            self._after(0.0, self._sends(Sender()))
        self._after(0.0, self._sample)

    def run(self, until_ns: float) -> None:
        while self._events[0][0] <= until_ns:
            self._now_ns, _, action = heapq.heappop(self._events)
            action()

    def forget(self) -> None:
        """Count from now on."""
        self.sent = self.marked = 0
        self.depths.clear()

    def _after(self, delay_ns: float, action: Callable[[], None]) -> None:
        heapq.heappush(self._events, (self._now_ns + delay_ns, next(self._order), action))

    def _sample(self) -> None:
        self.depths.append(len(self._queue) * FRAME_BYTES)
        self._after(SAMPLE_NS, self._sample)

    def _sends(self, sender: Sender) -> Callable[[], None]:
        def arrive() -> None:
            self._queue.append(sender)
            if not self._busy:
                self._serve()

        def send() -> None:
            self._after(FRAME_NS + DELAY_NS, arrive)
            sender.bytes_left -= FRAME_BYTES
            if sender.first_ns is not None and sender.bytes_left <= 0:
                sender.bytes_left += COUNTED_BYTES
                sender.increase()
                sender.byte_stage += 1
            self._after(WIRE_BYTES * 8 / sender.rate_gbps, send)

        return send

    def _serve(self) -> None:
        """Send a frame, which is marked by the bytes behind it."""
        self._busy = bool(self._queue)
        if not self._busy:
            return
        sender, behind = self._queue.popleft(), len(self._queue) * FRAME_BYTES
        chance = self.pmax * (behind - self.kmin_bytes) / (self.kmax_bytes - self.kmin_bytes)
        self.sent += 1
        if behind >= self.kmax_bytes or self._random.random() < chance:
            self.marked += 1
            self._after(FRAME_NS + DELAY_NS, lambda: self._received_marked(sender))
        self._after(FRAME_NS, self._serve)

    def _received_marked(self, sender: Sender) -> None:
        if self._now_ns >= sender.notified_ns + CNP_NS:
            sender.notified_ns = self._now_ns
            self._after(2 * DELAY_NS, lambda: self._notified(sender))

    def _notified(self, sender: Sender) -> None:
        if sender.first_ns is None:
            sender.first_ns = self._now_ns
            self._after(ALPHA_NS, lambda: self._alpha(sender))
        else:
            sender.alpha_seen = True
        if not sender.cut_due:
            sender.cut_due = True
            passed_ns = self._now_ns - sender.first_ns
            self._after(CUT_NS - passed_ns % CUT_NS, lambda: self._cut(sender))

    def _alpha(self, sender: Sender) -> None:
        sender.alpha = (1 - GAIN) * sender.alpha + (GAIN if sender.alpha_seen else 0.0)
        sender.alpha_seen = False
        self._after(ALPHA_NS, lambda: self._alpha(sender))

    def _cut(self, sender: Sender) -> None:
        sender.cut()
        self._increase_later(sender, sender.timer)

    def _increase_later(self, sender: Sender, timer: int) -> None:
        def increase() -> None:
            if timer == sender.timer:
                sender.increase()
                sender.stage += 1
                self._increase_later(sender, timer)

        self._after(INCREASE_NS, increase)
