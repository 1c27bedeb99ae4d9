"""The engine: flows come and go, time passes, everything is counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from railfab.sim.cruise import Cruise, Strides
from railfab.sim.dcqcn import Dcqcn, RateControl
from railfab.sim.fluid import Fluid
from railfab.sim.layout import Layout
from railfab.sim.network import Bools, Flow, Framing, Ints, Network, Path
from railfab.sim.notify import Notifier
from railfab.sim.tally import Counters

_DONE_BYTES = 0.5
_FAMILIAR_LAYOUTS = 10_000
CONTROL_SHARE = 10
"""Senders are steered this many times in the shortest of their intervals, and at most once a step."""


class Engine:
    """One network under load. All randomness comes from `seed`; equal calls give equal counters.

    step_ns: at most the shortest round trip that matters, and so short that a step at line rate fits the headroom.
    """

    _layout: Layout
    _fluid: Fluid
    _control: RateControl
    _notifier: Notifier
    _cruise: Cruise

    def __init__(
        self,
        network: Network,
        *,
        seed: int = 1,
        step_ns: int = 500,
        framing: Framing | None = None,
        dcqcn: Dcqcn | None = None,
        strides: Strides | None = None,
    ) -> None:
        self.network, self.step_ns = network, step_ns
        self.framing, self.dcqcn = framing or Framing(), dcqcn or Dcqcn()
        self.now_ns = 0
        self._strides = strides or Strides()
        self._counters = Counters.zero(network.links)
        self._rng = np.random.default_rng(seed)
        self._stalled: dict[int, tuple[Flow, float]] = {}
        self._delivered_while_moved: list[int] = []
        self._familiar: set[int] = set()
        constants = self.dcqcn
        shortest = min(constants.alpha_interval_ns, constants.cut_interval_ns, constants.increase_interval_ns)
        self._control_steps = max(1, round(shortest / CONTROL_SHARE / step_ns))
        self._lay((), {})

    def restarted(self, network: Network, now_ns: int) -> Engine:
        """A new engine without flows that continues the counters of this one, as far as they have been folded."""
        engine = Engine(
            network,
            step_ns=self.step_ns,
            framing=self.framing,
            dcqcn=self.dcqcn,
            strides=self._strides,
        )
        engine.now_ns, engine._rng, engine._counters = now_ns, self._rng, self._counters
        engine._lay((), {})
        return engine

    # Flows

    def start(self, flows: Sequence[Flow]) -> None:
        """Begin flows now; one without a path waits until `reroute` gives it one."""
        octets = self.framing.octets_per_payload
        self._stalled.update({flow.id: (flow, flow.payload_bytes * octets) for flow in flows if flow.path is None})
        routed = {flow.id: flow.payload_bytes * octets for flow in flows if flow.path is not None}
        self._lay((*self._layout.flows, *(flow for flow in flows if flow.path is not None)), routed)

    def stop(self) -> None:
        """End all flows; what is on its way arrives where its links still carry, else is dropped. Both are counted."""
        self._let_through(range(self._layout.count), self.network)
        self._stalled.clear()
        self._lay((), {})

    def reroute(self, network: Network, paths: Mapping[int, Path | None]) -> None:
        """The network has changed, and with it the ways of the flows named; the others keep theirs.

        What was on its way goes on on the old way if its links still carry, and is dropped and sent again if not.
        """
        ways = {flow.id: flow.path for flow in self._layout.flows} | dict.fromkeys(self._stalled)
        changed = {id: path for id, path in paths.items() if id in ways and path != ways[id]}
        self._let_through([place for place, flow in enumerate(self._layout.flows) if flow.id in changed], network)
        left = dict(self._stalled)
        left |= {
            flow.id: (flow, float(octets))
            for flow, octets in zip(self._layout.flows, self._fluid.remaining, strict=True)
        }
        ended = [id for id in changed if left[id][1] <= _DONE_BYTES]
        self._delivered_while_moved.extend(ended)
        flows = {
            id: replace(flow, path=changed.get(id, flow.path)) for id, (flow, _) in left.items() if id not in ended
        }
        self._stalled = {id: (flow, left[id][1]) for id, flow in flows.items() if flow.path is None}
        self.network = network
        self._familiar.clear()
        routed = [flow for flow in flows.values() if flow.path is not None]
        self._lay(routed, {id: left[id][1] for id in changed if id in flows})

    def active(self) -> tuple[int, ...]:
        """The flows under way, by id."""
        return tuple(flow.id for flow in self._layout.flows)

    def stalled(self) -> tuple[int, ...]:
        """The flows that wait for a route, by id."""
        return tuple(self._stalled)

    @property
    def queued(self) -> bool:
        """Whether octets wait somewhere, or a port is paused."""
        return not self._fluid.quiet

    def rates_gbps(self) -> dict[int, float]:
        """What each sender's congestion control allows, by flow, in octets on the wire side of the counters."""
        return {flow.id: float(rate) * 8 for flow, rate in zip(self._layout.flows, self._control.rate, strict=True)}

    # Time

    def run(self, until_ns: int) -> tuple[int, ...]:
        """Advance to `until_ns`, or to the first end of flows before it; returns the flows that ended."""
        if self._delivered_while_moved:
            ended, self._delivered_while_moved = tuple(self._delivered_while_moved), []
            return ended
        while self._layout.count and self.now_ns + self.step_ns <= until_ns:
            if not (self._stride(until_ns) or self._glide(until_ns)):
                self._step()
            if self._draining() and (ended := self._ended()):
                return ended
        if not self._layout.count:
            self.now_ns = max(self.now_ns, until_ns)
        return ()

    def counters(self) -> Counters:
        """All counters up to now. The arrays are live: copy what you keep."""
        self._fold()
        return self._counters

    # Inside

    def _lay(self, flows: Sequence[Flow], fresh: Mapping[int, float]) -> None:
        """Lay out these flows; those not in `fresh` (octets by id) go on as they are."""
        before: Fluid | None = self.__dict__.get("_fluid")
        if before is not None:
            self._count_marks()
            self._fold()
        layout = Layout(flows, self.network, self.framing, self.step_ns)
        fluid = Fluid(layout, self.network, self.step_ns)
        control = RateControl(self.dcqcn, layout.rate[layout.nic_of])
        notifier = Notifier(layout, self.framing, self.dcqcn, self._control_steps * self.step_ns)
        if before is not None:
            mine, theirs, same = _common(layout, before.layout)
            control.adopt(self._control, mine, theirs)
            notifier.adopt(self._notifier, mine, theirs)
            fluid.remaining[mine] = before.remaining[theirs]
            fluid.adopt(before, mine[same], theirs[same])
        for place, flow in enumerate(flows):
            fluid.remaining[place] = fresh.get(flow.id, fluid.remaining[place])
        self._layout, self._fluid, self._control, self._notifier = layout, fluid, control, notifier
        self._control_ns = self.now_ns
        fewer = before is not None and 0 < layout.count == len(mine)
        self._watch_from(self._cruise.since_ns if fewer else self.now_ns)
        self._steer(np.zeros(layout.count, bool))

    def _watch_from(self, since_ns: int) -> None:
        """Watch the present layout for lasting congestion, which may have begun before it."""
        familiar = hash(self._layout.paths) in self._familiar
        self._cruise = Cruise(
            self._layout, self._fluid.tally, self._strides, self.now_ns, since_ns=since_ns, familiar=familiar
        )

    def _steer(self, notified: Bools) -> None:
        if self.dcqcn.enabled:
            self._control.tick(self.now_ns, self.now_ns - self._control_ns, notified)
        self._control_ns = self.now_ns
        self._fluid.want = self._control.rate * self.step_ns

    def _step(self) -> None:
        fluid = self._fluid
        fluid.step()
        self.now_ns += self.step_ns
        if fluid.tick % self._control_steps == 0:
            self._tick()
        if self._strides.longest and self._cruise.due(self.now_ns) and not fluid.quiet:
            self._cruise.watch(fluid.tally, fluid.remaining, self.now_ns)
            if self._cruise.familiar and len(self._familiar) < _FAMILIAR_LAYOUTS:
                self._familiar.add(hash(self._layout.paths))

    def _tick(self) -> None:
        """Marks, notifications, rates."""
        self._count_marks()
        self._steer(self._notifier.arriving())

    def _count_marks(self) -> None:
        marks = self._notifier.marked(self._fluid, self._rng)
        if marks is not None:
            self._fluid.tally.marks += self._layout.by_queue(marks.astype(float))
            if self.dcqcn.enabled:
                self._fluid.tally.notified += self._notifier.send(marks, self.now_ns)

    def _glide(self, until_ns: int) -> bool:
        """Pass a time without queues in one go; false when there is none."""
        fluid, control = self._fluid, self._control
        if not fluid.quiet or self._notifier.under_way:
            return False
        rises_ns = control.idle_until_ns if self.dcqcn.enabled else np.inf
        offered = fluid.offered()
        with np.errstate(divide="ignore", invalid="ignore"):
            lasts = np.where(offered > 0, np.floor(fluid.remaining / offered), np.inf).min(initial=np.inf)
        if self._draining():
            lasts = min(lasts, 2 * self._layout.transit_steps)
        steps = int(min((min(until_ns, rises_ns) - self.now_ns) // self.step_ns, lasts))
        if steps < 2 * self._layout.transit_steps or not fluid.fits():
            return False
        fluid.glide(steps)
        self.now_ns += steps * self.step_ns
        self._tick()
        self._cruise.restart(fluid.tally, self.now_ns)
        return True

    def _stride(self, until_ns: int) -> bool:
        """Pass a stretch of settled congestion in one go; false when there is none."""
        cruise, tally = self._cruise, self._fluid.tally
        if cruise.per_ns is None:
            return False
        steps = (min(until_ns, cruise.until_ns) - self.now_ns) // self.step_ns
        if steps > 0:
            span_ns = steps * self.step_ns
            goodput = np.maximum(cruise.per_ns.delivered, 1e-9)
            spans_ns = np.minimum(span_ns, self._fluid.remaining / goodput)
            tally.stretch(cruise.per_ns, span_ns, spans_ns)
            self._fluid.remaining -= cruise.per_ns.delivered * spans_ns
            self.now_ns += span_ns
            self._control_ns += span_ns
            self._control.postpone(span_ns)
            self._notifier.postpone(span_ns)
        if self.now_ns + self.step_ns > cruise.until_ns:
            cruise.end(tally, self.now_ns)
        return steps > 0

    def _draining(self) -> bool:
        return bool(np.count_nonzero(self._fluid.remaining <= _DONE_BYTES))

    def _ended(self) -> tuple[int, ...]:
        ended = self._fluid.undelivered() < _DONE_BYTES
        if not ended.any():
            return ()
        flows = self._layout.flows
        self._lay([flow for flow, gone in zip(flows, ended, strict=True) if not gone], {})
        return tuple(flow.id for flow, gone in zip(flows, ended, strict=True) if gone)

    def _let_through(self, places: Sequence[int] | range, network: Network) -> None:
        """Empty the old ways of these flows: to the receiver where all links still carry, else to be sent again."""
        for place in places:
            links = list(self._layout.paths[place].links)
            self._fluid.clear_way(place, carries=bool((network.rate_gbps[links] > 0).all()))

    def _fold(self) -> None:
        counters, fluid, layout = self._counters, self._fluid, self._layout
        counters.fold(fluid.tally, layout)
        self._cruise.restart(fluid.tally, self.now_ns)
        counters.depth_bytes[:] = 0.0
        counters.depth_bytes[layout.queue_ids] = fluid.depth[:-1]
        np.maximum.at(counters.peak_bytes, layout.queue_ids, fluid.peak[:-1])
        counters.headroom_bytes[:] = 0.0
        counters.headroom_bytes[layout.ingress_links] = fluid.pauses.headroom_used()[:-1]
        np.maximum.at(counters.headroom_peak_bytes, layout.ingress_links, fluid.pauses.headroom_peak[:-1])
        fluid.peak[:] = 0.0
        fluid.pauses.headroom_peak[:] = 0.0


def _common(new: Layout, old: Layout) -> tuple[Ints, Ints, Bools]:
    """Flows on both layouts: their places on the new and on the old one, and whether their way is the same."""
    places = {flow.id: place for place, flow in enumerate(old.flows)}
    both = [(place, places[flow.id]) for place, flow in enumerate(new.flows) if flow.id in places]
    mine, theirs = np.array(both, np.int64).reshape(-1, 2).T
    same = np.array([new.paths[a] == old.paths[b] for a, b in both], bool)
    return mine, theirs, same
