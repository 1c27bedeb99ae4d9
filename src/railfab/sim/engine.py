"""The engine: flows cross a network packet by packet, and everything is counted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from railfab.sim.counters import Counters, FlowResults, Paths
from railfab.sim.fingerprint import digest_of
from railfab.sim.flow_tables import (
    ENDLESS,
    endless,
    flow_records,
    forget,
    forgettable,
    renumber_endless,
    set_given_links,
    with_flows,
    with_room_for_timers,
)
from railfab.sim.kernel.entry import ADVANCE, PARK, REROUTE, START_FLOWS, kernel
from railfab.sim.kernel.records import (
    ALL_DONE,
    DONE,
    GROW_POOL,
    MAX_HOPS,
    NONE,
    PAUSE,
    POOL_EMPTY,
    QUEUES,
    SENDING,
    STALLED,
    START,
    TIMEOUT,
    TRANSPORT,
    State,
)
from railfab.sim.layout import (
    PS_PER_NS,
    chunks_of,
    entropies_of,
    new_state,
    pool_of,
    records,
    reserve_of,
    set_network,
    transport_records,
    with_tables,
)
from railfab.sim.network import Flow, Framing, Ints, Network, Routing
from railfab.sim.pauses import PauseLog, deadlock
from railfab.sim.transport import Transport

_BUCKETS = 257


@dataclass(frozen=True, slots=True)
class EngineSnapshot:
    """The whole state of an engine, which `Engine.restore` continues from."""

    state: State
    network: Network
    routing: Routing
    acks: Ints
    notices: Ints


def _copied(st: State) -> State:
    return State(*(part.copy() for part in st))


class Engine:
    """One network under load. Equal calls with an equal seed give equal results.

    quantum_ps: times that packets take are rounded down to multiples of it; 1000 is what ns-3 does.
    pause_log: how many pause frames are kept with what caused them (`pauses`).
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
        pause_log: int = 0,
    ) -> None:
        self.network, self.routing = network, routing
        self.framing = framing or Framing()
        self._st = new_state(network, routing, self.framing, seed=seed, quantum_ps=quantum_ps)
        self._st = self._st._replace(transports=transport_records(transports or (Transport(),)))
        self._st = self._st._replace(pauses=records(pause_log, PAUSE))
        self._starts = np.zeros(_BUCKETS, np.int64)
        self._acks = np.zeros(network.links, np.int64)
        self._notices = np.zeros(network.links, np.int64)
        self._st = with_tables(self._st, network, routing)
        self._used = self._has_endless = False
        self._first: Counters | None = None
        self._reserve()

    @property
    def now_ns(self) -> float:
        return float(self._st.sim[0].now) / PS_PER_NS

    @property
    def window_ns(self) -> float:
        """Nodes are independent of each other for this long; to stop at multiples of it costs nothing."""
        return float(self._st.sim[0].window) / PS_PER_NS

    def progress(self) -> tuple[int, float]:
        """Packets that were sent so far, over all links; and the share of packets that have arrived in order."""
        flows = self._st.flows
        return int(self._st.queues.tx_packets.sum()), float(flows.expected.sum() / max(1, flows.packets.sum()))

    @property
    def state(self) -> State:
        """The arrays of the run, which `fast_forward` changes."""
        return self._st

    # Flows

    def add(self, flows: Sequence[Flow]) -> None:
        """Add flows; each starts at its time, or after the flows it waits for."""
        if flows:
            self._used, self._first = True, None
        self._has_endless = self._has_endless or any(flow.endless for flow in flows)
        fresh = flow_records(flows, self._st, self.network, self.framing)
        fresh.start = np.maximum(fresh.start, self._st.sim[0].now)
        first = len(self._st.flows)
        place = dict(zip(self._st.flows.id.tolist() + fresh.id.tolist(), range(first + len(fresh)), strict=True))
        pairs = [(place[other], number) for number, flow in enumerate(flows, first) for other in flow.after]
        self._st = with_flows(self._st, fresh, np.array(pairs, np.int64).reshape(-1, 2))
        set_given_links(self._st, first, flows)
        self._wait(first, np.array(pairs, np.int64).reshape(-1, 2))
        self._reserve()

    def add_transport(self, transport: Transport) -> int:
        """The number of a transport for `Flow.transport`; it is added unless there is one like it."""
        before, fresh = self._st.transports, transport_records((transport,))
        for number, known in enumerate(before):
            if known.tobytes() == fresh[0].tobytes():
                return number
        joined = records(len(before) + 1, TRANSPORT)
        joined[:-1], joined[-1:] = before, fresh
        self._st = self._st._replace(transports=joined)
        self._reserve()
        return len(before)

    def _wait(self, first: int, pairs: Ints) -> None:
        """Start the flows from `first` on that wait for no other."""
        flows = self._st.flows
        done = flows.state[pairs[:, 0]] == DONE
        np.add.at(flows.waits_for, pairs[~done, 1], 1)
        np.maximum.at(flows.start, pairs[done, 1], flows.finish[pairs[done, 0]] + flows.gap[pairs[done, 1]])
        self._call(START_FLOWS, first)

    def forget_finished(self) -> None:
        """Forget the flows that are done and have nothing on its way; `flows()` does not have them any more."""
        self._fold_control()
        gone = forgettable(self._st)
        if gone.any():
            self._st = forget(self._st, ~gone)

    def _reserve(self) -> None:
        """See to it that there are packets for the next windows."""
        self._st.sim[0].reserve = reserve_of(self._st, self.framing)
        self._grow(2 * int(self._st.sim[0].reserve))

    def _grow(self, free: int) -> None:
        st = self._st
        missing = free - int(st.sim[0].free_count)
        if missing > 0:
            self._st = st._replace(packets=pool_of(len(st.packets) + missing, st))
            self._st = self._st._replace(arrivals=chunks_of(self._st), entropy_values=entropies_of(self._st))
        self._keys = np.zeros(len(self._st.packets) + 1, np.int64)
        self._spare = np.zeros(len(self._st.packets) + 1, np.int64)

    def stop(self) -> None:
        """End all flows; packets on their way still arrive, and are counted."""
        st = self._st
        st.flows.finish = np.where(st.flows.state == DONE, st.flows.finish, st.sim[0].now)
        st.flows.state = DONE
        st.flows.listed = 0
        st.nodes.flow_count = 0
        st.sim[0].open_flows = 0
        timers = st.timers[: st.sim[0].timer_count]
        left = np.sort(timers[~np.isin(timers.kind, (START, TIMEOUT))], order=("time", "order"))
        st.timers[: len(left)] = left
        st.sim[0].timer_count = len(left)

    def reroute(self, network: Network, routing: Routing) -> None:
        """The network or its routes have changed. Packets in flight on a link that is down are lost."""
        self._fold_control()
        self._first = None
        self.network, self.routing = network, routing
        set_network(self._st, network, routing, self.framing)
        self._st.flows.queue = network.nic_queue[self._st.flows.traffic_class]
        self._st = with_room_for_timers(with_tables(self._st, network, routing))
        self._call(REROUTE)
        self._reserve()

    def park(self) -> None:
        """Stop and continue flows as `FLOW.parked` says, which `fast_forward` sets."""
        self._call(PARK)

    def flow_paths(self) -> Paths:
        """The links of all flows and of their acknowledgements, as they are now."""
        return Paths.of(self._st)

    def reset_peaks(self) -> None:
        """Begin the watermarks anew, from what is there now."""
        queues, ingress = self._st.queues, self._st.ingress
        queues.peak = queues.bytes
        ingress.peak = ingress.bytes + ingress.headroom_used
        ingress.headroom_peak = ingress.headroom_used

    def active(self) -> tuple[int, ...]:
        """Numbers of the flows that are not done, those that wait for others included."""
        return tuple(self._st.flows.id[self._st.flows.state != DONE].tolist())

    @property
    def is_active(self) -> bool:
        """Whether a flow is not done."""
        return bool(self._st.sim[0].open_flows) or bool((self._st.flows.state != DONE).any())

    @property
    def sending_count(self) -> int:
        """How many flows send, or wait for acknowledgements."""
        return int(np.count_nonzero(self._st.flows.state == SENDING))

    @property
    def open_count(self) -> int:
        """How many flows are not done, those that wait for others included, and endless ones not."""
        return int(self._st.sim[0].open_flows)

    def places_of(self, numbers: Collection[int]) -> Ints:
        """Where these flows are in the tables until flows are forgotten."""
        return np.flatnonzero(np.isin(self._st.flows.id, list(numbers)))

    def open_at(self, places: Ints) -> int:
        """How many of the flows at these places are not done."""
        return int(np.count_nonzero(self._st.flows.state[places] != DONE))

    def start_waiting(self, first: int) -> None:
        """Start the flows from this number on that wait for nothing but their time."""
        self._call(START_FLOWS, first)

    def stalled(self) -> tuple[int, ...]:
        """Numbers of the flows without a route."""
        return tuple(self._st.flows.id[self._st.flows.state == STALLED].tolist())

    def _fold_control(self) -> None:
        """Add the acknowledgements and notifications since the last time to the links of their way back."""
        flows = self._st.flows
        counted = np.flatnonzero((flows.acks != 0) | (flows.notices != 0))
        fresh, back = flows[counted], self._st.back.reshape(-1, MAX_HOPS)[counted]
        used = (np.arange(MAX_HOPS) < fresh.back_hops[:, None]) & (fresh.packets != ENDLESS)[:, None]
        for counts, total in ((fresh.acks, self._acks), (fresh.notices, self._notices)):
            np.add.at(total, back[used], np.broadcast_to(counts[:, None], back.shape)[used])
        flows.acks[counted] = flows.notices[counted] = 0

    # Time

    def run(self, until_ns: float, *, stop_when_done: bool = True) -> bool:
        """Advance to this time, or until all flows are done but for endless ones. Whether they are."""
        if self._has_endless:
            renumber_endless(self._st)
        until = round(until_ns * PS_PER_NS)
        while True:
            reason = self._call(ADVANCE, until, stop_when_done)
            if reason == GROW_POOL:
                self._grow(2 * len(self._st.packets))
                continue
            assert reason != POOL_EMPTY, "the reserve of packets was too small"
            return reason == ALL_DONE or not self._st.sim[0].open_flows

    def _call(self, action: int, argument: int = 0, stop_when_done: bool = False) -> int:
        return kernel(self._st, action, argument, stop_when_done, self._keys, self._spare, self._starts)

    # Results

    def flows(self) -> FlowResults:
        return FlowResults.of(self._st.flows)

    def counters(self) -> Counters:
        """Counters of now; the same object as before as long as no flow has been added, when nothing counts."""
        if self._first is not None:
            return self._first
        self._fold_control()
        counters = Counters.of(self._st, self._acks // self.framing.ack_every, self._notices)
        self._first = None if self._used else counters
        return counters

    def pauses(self) -> PauseLog:
        """The pause frames that were logged."""
        return PauseLog.of(self._st)

    def deadlock(self, lasting_ns: float = 0.0) -> tuple[int, ...]:
        """Queues (queue q of link l: l * QUEUES + q) in a cycle, each paused until the next one sends; else empty.

        lasting_ns: how long each has been paused at least. A cycle may be of a moment where packets still move.
        """
        return deadlock(self._st, lasting_ns)

    def paths(self) -> tuple[tuple[int, ...], ...]:
        """Links of each flow, in the order in which they were added; empty before it starts. Where a switch chooses
        per packet or flowlet, the links are one possibility."""
        return tuple(tuple(row[row != NONE].tolist()) for row in self._st.path.reshape(-1, MAX_HOPS))

    def depths(self) -> tuple[Ints, Ints]:
        """Bytes in each queue now, and sent by it since its birth; (link, queue)."""
        queues = self._st.queues
        return queues.bytes.reshape(-1, QUEUES).copy(), queues.tx_bytes.reshape(-1, QUEUES).copy()

    def snapshot(self) -> EngineSnapshot:
        """The whole state; `restore` continues from it bit for bit."""
        return EngineSnapshot(_copied(self._st), self.network, self.routing, self._acks.copy(), self._notices.copy())

    def restore(self, snapshot: EngineSnapshot) -> None:
        self._used, self._first = True, None
        self._st = _copied(snapshot.state)
        self._has_endless = bool(endless(self._st).any())
        self.network, self.routing = snapshot.network, snapshot.routing
        self._acks, self._notices = snapshot.acks.copy(), snapshot.notices.copy()
        self._grow(0)

    def fingerprint(self) -> str:
        """Digest of the state and its counters: equal digests have equal futures. Reading counters does not change it,
        nor where in memory packets are, nor how a run was cut into calls of `run`."""
        self._fold_control()
        return digest_of(self._st, (self._acks, self._notices))
