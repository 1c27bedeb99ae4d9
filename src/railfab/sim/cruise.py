"""Lasting congestion, taken in strides: once two windows count the same, the next stretch is taken to be like them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from railfab.sim.layout import Layout
from railfab.sim.network import Floats
from railfab.sim.tally import Tally


@dataclass(frozen=True, slots=True, kw_only=True)
class Strides:
    """window_ns: stepped in full before each stride. longest: windows in a stride; 0 steps through everything.

    young_ns: no stride before this: a burst is stepped through to its end. It does not hold for a set of ways that has
        outlived it before.
    growth: a stride is at most this many times what has passed: the longer congestion lasts, the less it changes.
    tolerance, queue_tolerance: most that goodput and mean queue of two windows may differ, so that a burst that builds
        up or drains is never taken for a steady state. patience: windows after which it is taken as it is.
    gathering: share of what has passed by which a stride may overshoot the first end of a flow, so that ends close to
        each other are one. A flow that ends in a stride is done there; what it leaves free is used only after it.
    """

    window_ns: int = 250_000
    longest: int = 1200
    young_ns: int = 6_000_000
    growth: int = 20
    tolerance: float = 0.05
    queue_tolerance: float = 0.25
    patience: int = 24
    gathering: float = 0.02


class Cruise:
    """Watches the windows of one layout, and moves its sums along when they have settled."""

    def __init__(
        self, layout: Layout, tally: Tally, strides: Strides, now_ns: int, *, since_ns: int, familiar: bool
    ) -> None:
        self.layout, self.strides, self.since_ns = layout, strides, since_ns
        self.familiar = familiar
        self._begin, self._began_ns = tally.copy(), now_ns
        self._goodput: Floats | None = None
        self._waiting = 0.0
        self._windows = 0
        self._inherited = now_ns - since_ns > 10 * strides.window_ns
        self.per_ns: Tally | None = None
        self.until_ns = now_ns

    def due(self, now_ns: int) -> bool:
        """Whether a window ends now."""
        return now_ns - self._began_ns >= self.strides.window_ns

    def watch(self, tally: Tally, remaining: Floats, now_ns: int) -> None:
        """Look at the window that ends now; then `per_ns` and `until_ns` say whether and how far to stride."""
        window = tally.since(self._begin)
        goodput = window.delivered / (now_ns - self._began_ns)
        self._windows += 1
        waiting = float(window.waiting.sum()) / (now_ns - self._began_ns)
        self.familiar |= now_ns - self.since_ns >= self.strides.young_ns
        if self.familiar and (self._settled(goodput, waiting) or self._windows > self.strides.patience):
            self._stride(window, goodput, remaining, now_ns)
        self._goodput, self._waiting = goodput, waiting
        self.restart(tally, now_ns)

    def _settled(self, goodput: Floats, waiting: float) -> bool:
        if self._goodput is None:
            return self._inherited
        drift = abs(float(goodput.sum() - self._goodput.sum()))
        steady = drift <= self.strides.tolerance * float(goodput.sum())
        return steady and abs(waiting - self._waiting) <= self.strides.queue_tolerance * waiting

    def _stride(self, window: Tally, goodput: Floats, remaining: Floats, now_ns: int) -> None:
        """As far as the first flows have nearly ended, and not further than the window can speak for."""
        strides, passed_ns = self.strides, now_ns - self.since_ns
        ends_ns = remaining / np.maximum(goodput, 1e-9)
        first_ns, last_ns = float(ends_ns.min()), float(ends_ns.max())
        nearly_ns = 0.95 * first_ns - strides.window_ns
        gathered_ns = min(first_ns + strides.gathering * passed_ns, 0.95 * last_ns - strides.window_ns)
        span_ns = min(max(nearly_ns, gathered_ns), strides.longest * strides.window_ns, strides.growth * passed_ns)
        if span_ns >= self.strides.window_ns:
            self.per_ns = _balanced(window, self.layout, now_ns - self._began_ns)
            self.until_ns = now_ns + int(span_ns)

    def restart(self, tally: Tally, now_ns: int) -> None:
        self._begin, self._began_ns = tally.copy(), now_ns

    def end(self, tally: Tally, now_ns: int) -> None:
        """The stride is over: watch again."""
        self.per_ns = None
        self.restart(tally, now_ns)


def _balanced(window: Tally, layout: Layout, span_ns: int) -> Tally:
    """The window's sums per ns, bent so that queues neither fill nor drain: what arrives had been let through above."""
    per_ns = Tally.empty(layout)
    per_ns.add(window, 1 / span_ns)
    through = per_ns.delivered
    on_way = layout.link_into >= 0
    entry_row = layout.entry // max(1, layout.count)
    for row in reversed(range(layout.rows)):
        cells = slice(row * layout.count, (row + 1) * layout.count)
        used = on_way[cells] & (row >= entry_row)
        per_ns.sent_out[cells] = np.where(used, through, 0.0)
        per_ns.taken_in[cells] = per_ns.sent_out[cells] + per_ns.dropped[cells]
        through = np.where(used, per_ns.taken_in[cells], through)
    per_ns.injected = through.copy()
    return per_ns
