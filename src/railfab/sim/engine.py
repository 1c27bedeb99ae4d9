"""The engine: flows cross a network packet by packet, and everything is counted."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from railfab.sim.counters import Counters, FlowResults
from railfab.sim.kernel.records import (
    ALL_DONE,
    DONE,
    GROW_POOL,
    MAX_HOPS,
    NONE,
    POOL_EMPTY,
    STALLED,
    START,
    TIMEOUT,
    TIMER,
    State,
)
from railfab.sim.kernel.reroute import reroute
from railfab.sim.kernel.run import advance
from railfab.sim.kernel.wheel import add_timer
from railfab.sim.layout import (
    PS_PER_NS,
    bitmaps_of,
    flow_records,
    new_state,
    pool_of,
    records,
    reserve_of,
    set_network,
    table_of,
    transport_records,
)
from railfab.sim.network import Flow, Framing, Network, Routing
from railfab.sim.transport import Transport

_BUCKETS = 257


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The whole state of an engine, which `Engine.restore` goes on from."""

    state: State


def _copied(st: State) -> State:
    return State(*(part.copy() for part in st))


class Engine:
    """One network under load. Equal calls with an equal seed give equal results.

    quantum_ps: times that packets take are rounded down to multiples of it; 1000 is what ns-3 does.
    """

    def __init__(
        self,
        network: Network,
        routing: Routing,
        *,
        seed: int = 1,
        framing: Framing | None = None,
        transports: Sequence[Transport] = (),
        quantum_ps: int = 1,
    ) -> None:
        self.network, self.routing = network, routing
        self.framing = framing or Framing()
        self._st = new_state(network, routing, self.framing, seed=seed, quantum_ps=quantum_ps)
        self._st = self._st._replace(transports=transport_records(transports or (Transport(),)))
        self._flows: list[Flow] = []
        self._starts = np.zeros(_BUCKETS, np.int64)
        self._acks = np.zeros(network.links, np.int64)
        self._notices = np.zeros(network.links, np.int64)
        self._lay()

    @property
    def now_ns(self) -> float:
        return float(self._st.sim[0].now) / PS_PER_NS

    # Flows

    def add(self, flows: Sequence[Flow]) -> None:
        """Add flows; each starts at its time, or after the flows it waits for."""
        st = self._st
        fresh = flow_records(flows, st, self.network, self.framing)
        fresh.start = np.maximum(fresh.start, st.sim[0].now)
        first = len(st.flows)
        self._flows.extend(flows)
        self._st = st._replace(flows=np.concatenate([st.flows, fresh]).view(np.recarray))
        self._st.sim[0].open_flows += len(flows)
        self._lay()
        place = {flow.id: number for number, flow in enumerate(self._flows)}
        state, start = self._st.flows.state.tolist(), self._st.flows.start.tolist()
        waits_for = [sum(state[place[other]] != DONE for other in flow.after) for flow in flows]
        self._st.flows.waits_for[first:] = waits_for
        for number, open_before in enumerate(waits_for, first):
            if not open_before:
                add_timer(self._st, start[number], START, number)

    def _lay(self) -> None:
        """Lay out the tables anew for the present flows."""
        st, sim = self._st, self._st.sim[0]
        nodes, flows, count = st.nodes, st.flows, len(st.flows)
        old = {
            name: int(sim[name]) for name in ("at_slots", "at_active", "at_busy", "at_nic_flows", "at_path", "at_back")
        }
        before = st.table

        def kept(name: str, size: int, fill: int = NONE) -> np.ndarray:
            part = np.full(size, fill, np.int64)
            if len(before):
                part[:] = before[old[name] : old[name] + size]
            return part

        old_flows = self._laid_flows if len(before) else 0
        path = np.full(count * MAX_HOPS, NONE, np.int64)
        back = np.full(count * MAX_HOPS, NONE, np.int64)
        nic_flows = np.full(count, NONE, np.int64)
        sizes = np.bincount(flows.source, minlength=len(nodes)) if count else np.zeros(len(nodes), np.int64)
        begins = np.cumsum(sizes) - sizes
        if old_flows:
            path[: old_flows * MAX_HOPS] = before[old["at_path"] : old["at_path"] + old_flows * MAX_HOPS]
            back[: old_flows * MAX_HOPS] = before[old["at_back"] : old["at_back"] + old_flows * MAX_HOPS]
            for n in np.nonzero(nodes.flow_count)[0]:
                at, number = old["at_nic_flows"] + nodes.flows_at[n], nodes.flow_count[n]
                nic_flows[begins[n] : begins[n] + number] = before[at : at + number]
        nodes.flows_at = begins
        place = {flow.id: number for number, flow in enumerate(self._flows)}
        dependents: list[list[int]] = [[] for _ in range(count)]
        for number, flow in enumerate(self._flows):
            for other in flow.after:
                dependents[place[other]].append(number)
        flows.dependents = [len(found) for found in dependents]
        flows.first_dependent = np.cumsum(flows.dependents) - flows.dependents if count else flows.dependents
        network, routing = self.network, self.routing
        words = bitmaps_of(flows, st.transports)
        parts = (
            ("at_slots", kept("at_slots", len(nodes) * int(sim.slots))),
            ("at_active", kept("at_active", len(nodes))),
            ("at_busy", kept("at_busy", len(st.links))),
            ("at_nic_flows", nic_flows),
            ("at_path", path),
            ("at_back", back),
            ("at_groups", routing.group),
            ("at_group_begin", routing.begin),
            ("at_members", routing.members),
            ("at_queue_of", network.queue_of),
            ("at_group_of", network.priority_of),
            ("at_dependents", np.array([n for found in dependents for n in found], np.int64)),
            ("at_finished", np.full(count, NONE)),
        )
        table = table_of(parts, st)
        sim.finished_count = 0
        self._laid_flows = count
        timers = records(max(len(st.timers), 2 * count + 2 * len(st.queues) // 8 + 64 + int(sim.timer_count)), TIMER)
        timers[: len(st.timers)] = st.timers
        masks = np.zeros(words, np.int64)
        masks[: len(st.masks)] = st.masks[:words]
        path_time = np.zeros(count * MAX_HOPS, np.int64)
        path_time[: len(st.path_time)] = st.path_time
        self._st = st._replace(table=table, timers=timers, masks=masks, path_time=path_time)
        sim.reserve = reserve_of(self._st, self.framing)
        self._grow(2 * int(sim.reserve))

    def _grow(self, free: int) -> None:
        st = self._st
        missing = free - int(st.sim[0].free_count)
        if missing > 0:
            self._st = st._replace(packets=pool_of(len(st.packets) + missing, st))
        if len(self._st.packets) != getattr(self, "_scratch_size", -1):
            self._scratch_size = len(self._st.packets)
            self._keys = np.zeros(self._scratch_size + 1, np.int64)
            self._spare = np.zeros(self._scratch_size + 1, np.int64)

    def stop(self) -> None:
        """End all flows; packets on their way still arrive, and are counted."""
        st = self._st
        st.flows.state = DONE
        st.flows.listed = 0
        st.nodes.flow_count = 0
        st.sim[0].open_flows = 0
        keep = ~np.isin(st.timers.kind[: st.sim[0].timer_count], (START, TIMEOUT))
        kept = st.timers[: st.sim[0].timer_count][keep]
        order = np.argsort(kept, order=("time", "order"))
        st.timers[: len(kept)] = kept[order]
        st.sim[0].timer_count = len(kept)

    def reroute(self, network: Network, routing: Routing) -> None:
        """The network or its routes have changed. Packets in flight on a link that is down are lost."""
        self._fold_control()
        self.network, self.routing = network, routing
        set_network(self._st, network, routing, self.framing)
        self._lay()
        reroute(self._st)

    def active(self) -> tuple[int, ...]:
        """Numbers of the flows that are not done, those that wait for others included."""
        return tuple(self._st.flows.id[self._st.flows.state != DONE].tolist())

    def stalled(self) -> tuple[int, ...]:
        """Numbers of the flows without a route."""
        return tuple(self._st.flows.id[self._st.flows.state == STALLED].tolist())

    def _fold_control(self) -> None:
        """Add the acknowledgements and notifications since the last time to the links of their way back."""
        st, flows = self._st, self._st.flows
        back = st.table[st.sim[0].at_back :][: len(flows) * MAX_HOPS].reshape(-1, MAX_HOPS)
        used = np.arange(MAX_HOPS) < flows.back_hops[:, None]
        for counted, total in ((flows.acks, self._acks), (flows.notices, self._notices)):
            np.add.at(total, back[used], np.broadcast_to(counted[:, None], back.shape)[used])
        flows.acks = flows.notices = 0

    # Time

    def run(self, until_ns: float, *, stop_when_done: bool = True) -> bool:
        """Advance to this time, or until all flows are done. Whether they are."""
        until = int(until_ns * PS_PER_NS)
        while True:
            reason = advance(self._st, until, stop_when_done, self._keys, self._spare, self._starts)
            if reason == GROW_POOL:
                self._grow(2 * len(self._st.packets))
                continue
            assert reason != POOL_EMPTY, "the reserve of packets was too small"
            return reason == ALL_DONE or not self._st.sim[0].open_flows

    # Results

    def flows(self) -> FlowResults:
        return FlowResults.of(self._st.flows)

    def counters(self) -> Counters:
        self._fold_control()
        return Counters.of(self._st, self._acks // self.framing.ack_every, self._notices)

    def snapshot(self) -> Snapshot:
        """The whole state; `restore` goes on from it bit for bit."""
        return Snapshot(_copied(self._st))

    def restore(self, snapshot: Snapshot) -> None:
        self._st = _copied(snapshot.state)
        self._grow(0)

    def fingerprint(self) -> str:
        """Digest of the state: equal digests have equal futures."""
        digest = hashlib.blake2b(digest_size=16)
        for part in self._st:
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.hexdigest()
