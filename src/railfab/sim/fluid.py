"""Queues integrated over time: what arrives in a step waits, is served in proportion, and moves on after its delay."""

from __future__ import annotations

import numpy as np

from railfab.sim.dcqcn import marking_probability
from railfab.sim.layout import Layout
from railfab.sim.network import Floats, Ints, Network
from railfab.sim.pauses import Pauses
from railfab.sim.tally import Tally

EMPTY_BYTES = 1.0
"""Less than this in every queue is a network without queues."""

NEVER_BYTES = 1e18
"""No queue gets this long: a threshold that is never met."""

_TINY = 1e-9


class Fluid:
    """The octets under way on one layout, and the step that moves them.

    held: (cell,) octets waiting. wheel: (slot, landing) octets on the links, by the step in which they land.
    remaining: (flow,) octets still to be sent. want: (flow,) octets a sender would emit in a step.
    """

    def __init__(self, layout: Layout, network: Network, step_ns: int) -> None:
        self.layout, self.step_ns, self.tick = layout, step_ns, 0
        self.held = np.zeros(layout.cells)
        self.wheel = np.zeros((layout.slots, layout.cells + layout.count))
        self.remaining = np.zeros(layout.count)
        self.want = np.zeros(layout.count)
        self.tally = Tally.empty(layout)
        self.pauses = Pauses(layout, network, step_ns)
        self.open = np.ones(layout.queues + 1)
        self.depth = np.zeros(layout.queues + 1)
        self.peak = np.zeros(layout.queues + 1)
        self.deepest = 0.0
        self.out_since = np.zeros(layout.cells)
        self.mark_mass = np.zeros(layout.cells)
        self._departing = np.zeros(layout.cells + layout.count)
        self._queue_settings(network)

    def _queue_settings(self, network: Network) -> None:
        ids = self.layout.queue_ids
        self.kmin = np.append(np.minimum(network.kmin_bytes.ravel()[ids], NEVER_BYTES), NEVER_BYTES)
        self.kmax = np.append(np.minimum(network.kmax_bytes.ravel()[ids], 2 * NEVER_BYTES), 2 * NEVER_BYTES)
        self.limit = np.append(network.limit_bytes.ravel()[ids], np.inf)
        self.pmax = np.append(network.pmax.ravel()[ids], 0.0)
        self.weight = np.append(network.weight.ravel()[ids], 1.0)
        self.marks_from = float(self.kmin.min())
        self.tail_drops = bool(np.isfinite(self.limit).any())

    def step(self) -> None:
        """Advance by one step."""
        layout, tally = self.layout, self.tally
        landing = self.wheel[self.tick % layout.slots]
        incoming = landing[: layout.cells]
        tally.delivered += landing[layout.cells :]
        tally.taken_in += incoming
        self._admit(incoming)
        depth = layout.by_queue(self.held)
        service = layout.capacity * self.open if not layout.several_queues else self._shared_service(depth)
        if self.tail_drops:
            depth = self._drop_tail(incoming, depth, service)
        share = np.minimum(service / np.maximum(depth, _TINY), 1.0)
        out = self.held * share[layout.queue_of]
        self.held -= out
        self.out_since += out
        tally.sent_out += out
        self._observe(depth * (1.0 - share), out)
        self._send(out, landing)
        self.tick += 1

    def _admit(self, incoming: Floats) -> None:
        """Arrivals join their queues unless their ingress is full; the sender sends again what was dropped."""
        self.held += incoming
        if not self.pauses.busy and self.deepest <= self.pauses.calm_bytes:
            return
        refused = self.pauses.refused(incoming)
        if refused is not None:
            self.tally.refused += refused
            self._drop(refused)

    def _drop(self, dropped: Floats) -> None:
        self.held -= dropped
        self.tally.dropped += dropped
        self.remaining += self.layout.by_flow(dropped)

    def _drop_tail(self, incoming: Floats, depth: Floats, service: Floats) -> Floats:
        """Drop arrivals that would leave a queue longer than its limit; returns the depth without them."""
        excess = depth - service - self.limit
        if not (excess > 0).any():
            return depth
        arriving = self.layout.by_queue(incoming)
        share = np.clip(excess, 0.0, arriving) / np.maximum(arriving, _TINY)
        self._drop(np.minimum(incoming * share[self.layout.queue_of], self.held))
        return self.layout.by_queue(self.held)

    def _shared_service(self, depth: Floats) -> Floats:
        """Octets each queue may send in a step where queues of one port compete: weighted, nothing left unused."""
        layout = self.layout
        wanted = depth * self.open
        wanted[layout.nic_of] = np.inf
        granted = np.zeros_like(depth)
        left = layout.port_capacity.copy()
        for _ in range(3):
            active = np.where(wanted > granted, self.weight, 0.0)
            total = np.bincount(layout.port_of, active, layout.ports + 1)
            offer = left[layout.port_of] * active / np.maximum(total, _TINY)[layout.port_of]
            given = np.minimum(offer, np.maximum(0.0, wanted - granted))
            granted += given
            left -= np.bincount(layout.port_of, given, layout.ports + 1)
        return granted * self.open

    def _observe(self, depth: Floats, out: Floats) -> None:
        """Watermarks, marks and pauses follow from the depths after service."""
        self.depth = depth
        self.deepest = float(depth.max())
        if self.deepest < EMPTY_BYTES and not self.pauses.busy:
            return
        np.maximum(self.peak, depth, out=self.peak)
        self.tally.waiting += depth * self.step_ns
        if self.deepest > self.marks_from:
            self.mark_mass += out * self.marking(depth)[self.layout.queue_of]
        if self.pauses.busy or self.deepest > self.pauses.calm_bytes:
            paused = self.pauses.act(self.held, self.tick, self.tally)
            self.open[:] = 1.0
            self.open[self.layout.pause_target[paused]] = 0.0

    def marking(self, depth: Floats) -> Floats:
        """(queue + 1,) chance that a packet leaving now is marked."""
        return marking_probability(depth, kmin_bytes=self.kmin, kmax_bytes=self.kmax, pmax=self.pmax)

    def offered(self) -> Floats:
        """(flow,) octets each sender emits in a step, its port shared in proportion and stopped while paused."""
        layout = self.layout
        offered = np.minimum(self.want, self.remaining)
        if layout.several_flows:
            total = np.bincount(layout.nic_of, offered, layout.queues + 1)
            offered *= np.minimum(1.0, layout.capacity / np.maximum(total, _TINY))[layout.nic_of]
        if self.pauses.busy:
            offered *= self.open[layout.nic_of]
        return offered

    def _send(self, out: Floats, landing: Floats) -> None:
        layout = self.layout
        offered = self.offered()
        self.remaining -= offered
        self.tally.injected += offered
        landing[:] = 0.0
        departing = self._departing
        departing[: layout.count] = 0.0
        departing[layout.count :] = out
        departing[layout.entry] = offered
        self.wheel.ravel()[layout.landing_index[self.tick % layout.slots]] = departing

    @property
    def quiet(self) -> bool:
        """No queue, no pause, and no mark that has not been told."""
        return self.deepest < EMPTY_BYTES and not self.pauses.busy and not self.mark_mass.any()

    def undelivered(self) -> Floats:
        """(flow,) octets not yet at the receiver."""
        under_way = self.wheel.sum(axis=0)
        queued = self.layout.by_flow(self.held + under_way[: self.layout.cells]) if self.layout.cells else 0.0
        return np.asarray(self.remaining + queued + under_way[self.layout.cells :])

    def fits(self) -> bool:
        """Whether the present rates, and what is on the links, pass every queue without waiting."""
        layout = self.layout
        steady = layout.by_queue(np.tile(self.offered(), layout.rows))
        landing = layout.by_queue(self.wheel.max(axis=0)[: layout.cells])
        room = layout.port_capacity * (1 + 1e-9) + _TINY
        loads = (np.bincount(layout.port_of, load, layout.ports + 1) for load in (steady, landing))
        return all(bool((load <= room)[:-1].all()) for load in loads)

    def glide(self, steps: int) -> None:
        """Advance many steps at once, in which no queue forms and no rate changes. See `fits`."""
        layout = self.layout
        offered = self.offered()
        on_way = layout.link_into >= 0
        pending = (np.arange(layout.slots)[:, None] - self.tick - steps) % layout.slots < layout.delay_steps
        before = self.wheel.sum(axis=0)
        self.wheel = pending * (np.tile(offered, layout.rows + 1) * on_way)
        gained = before - self.wheel.sum(axis=0)
        emitted = offered * steps
        landed = emitted + np.cumsum(gained.reshape(layout.rows + 1, layout.count), axis=0)
        moved = np.where(on_way, landed.ravel(), 0.0)
        self._move(moved[: layout.cells], moved[layout.cells :], emitted)
        self.tick += steps

    def _move(self, cells: Floats, delivered: Floats, emitted: Floats) -> None:
        self.tally.taken_in += cells
        self.tally.sent_out += cells
        self.out_since += cells
        self.tally.delivered += delivered
        self.tally.injected += emitted
        self.remaining -= emitted

    def clear_way(self, place: int, *, carries: bool) -> None:
        """Empty the way of one flow at once: on to the receiver, or dropped where it is and left to be sent again."""
        layout, tally = self.layout, self.tally
        column = slice(place, None, layout.count)
        landing = self.wheel[:, column].sum(axis=0)
        waiting = self.held[column].copy()
        tally.taken_in[column] += landing[:-1]
        if carries:
            through = np.cumsum(waiting + landing[:-1])
            tally.taken_in[column][1:] += through[:-1]
            tally.sent_out[column] += through
            tally.delivered[place] += landing[-1] + (through[-1] if len(through) else 0.0)
        else:
            tally.dropped[column] += waiting + landing[:-1]
            tally.delivered[place] += landing[-1]
            self.remaining[place] += float((waiting + landing[:-1]).sum())
        self.held[column] = 0.0
        self.wheel[:, column] = 0.0

    def adopt(self, other: Fluid, mine: Ints, theirs: Ints) -> None:
        """Take over the octets of flows whose way is the same on both layouts, given their numbers on each."""
        new, old = self.layout, other.layout
        rows = min(new.rows, old.rows)
        if rows:
            table = self.held.reshape(new.rows, new.count)
            table[-rows:, mine] = other.held.reshape(old.rows, old.count)[-rows:, theirs]
        slots = min(new.slots, old.slots)
        wheel = self.wheel.reshape(new.slots, new.rows + 1, new.count)
        kept = np.roll(other.wheel, -other.tick, axis=0).reshape(old.slots, old.rows + 1, old.count)
        wheel[:slots, -rows - 1 :, mine] = kept[:slots, -rows - 1 :, theirs]
        self.pauses.adopt(other.pauses)
        self.depth = new.by_queue(self.held)
        self.deepest = float(self.depth.max())
        self.pauses.occupancy = new.by_ingress(self.held)
