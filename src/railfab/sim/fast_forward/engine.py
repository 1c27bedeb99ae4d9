"""An engine that leaves out what is known, so that long-lasting traffic runs faster than real time."""

from __future__ import annotations

import copy
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np

from railfab.sim.counters import Counters, FlowResults, Paths
from railfab.sim.engine import Engine, EngineSnapshot
from railfab.sim.fast_forward.loads import Loads
from railfab.sim.fast_forward.parking import (
    Parked,
    PortMeter,
    may_park,
    parked_ports,
    set_parked,
    set_unparked,
    settle,
)
from railfab.sim.fast_forward.phases import Phases
from railfab.sim.fast_forward.policy import FastForwardPolicy
from railfab.sim.fast_forward.recording import Key, Recorder, is_idle, key_of
from railfab.sim.fast_forward.replay import PhaseReplay
from railfab.sim.fast_forward.train_lengths import train_lengths
from railfab.sim.fast_forward.trains import may_change, set_trains
from railfab.sim.kernel.records import NEVER, QUEUES, WAITING
from railfab.sim.layout import PS_PER_NS
from railfab.sim.network import Bools, Flow, Framing, Ints, Network, Routing
from railfab.sim.pauses import PauseLog
from railfab.sim.transport import Transport


@dataclass(slots=True, eq=False)
class _Progress:
    """What fast-forward keeps between two looks. pressure: drops and XOFFs until the last look."""

    settled_at_ps: int = 0
    interval_ns: float = 0.0
    next_look_ns: int = 0
    pressure: int = 0


@dataclass(frozen=True, slots=True)
class FastForwardSnapshot:
    """The whole state, which `FastForward.restore` continues from."""

    engine: EngineSnapshot
    parked: Parked
    meter: PortMeter
    progress: _Progress
    phases: Phases
    recorder: Recorder | None
    replay: PhaseReplay | None


class FastForward:
    """An engine under a policy; the methods are those of `Engine`."""

    def __init__(self, engine: Engine, policy: FastForwardPolicy | None = None) -> None:
        self.engine, self.policy = engine, policy or FastForwardPolicy()
        self._parked = Parked.none()
        self._meter = PortMeter.of(engine.state)
        self._progress = _Progress()
        self._phases = Phases(self.policy, np.random.default_rng(int(engine.state.links.random[0])))
        self._recorder: Recorder | None = None
        self._replay: PhaseReplay | None = None
        self._disturb()

    @property
    def now_ns(self) -> float:
        return self.engine.now_ns

    @property
    def _now_ps(self) -> int:
        return int(self.engine.state.sim[0].now)

    @property
    def window_ns(self) -> float:
        """Nodes are independent of each other for this long; to stop at multiples of it costs nothing."""
        return self.engine.window_ns

    @property
    def network(self) -> Network:
        return self.engine.network

    @property
    def routing(self) -> Routing:
        return self.engine.routing

    @property
    def framing(self) -> Framing:
        return self.engine.framing

    # What changes the traffic

    def add(self, flows: Sequence[Flow]) -> None:
        """Add flows; each starts at its time, or after the flows it waits for."""
        begins_phase = self._begins_phase(flows)
        self._disturb()
        first = len(self.engine.state.flows)
        self.engine.add(flows)
        if begins_phase:
            self._repeat(key_of(self.engine.state, first), first)

    def add_transport(self, transport: Transport) -> int:
        """The number of a transport for `Flow.transport`; it is added unless there is one like it."""
        return self.engine.add_transport(transport)

    def _begins_phase(self, flows: Sequence[Flow]) -> bool:
        """Whether these flows make a phase that may be repeated."""
        if not self.policy.repeats or self._replay or not is_idle(self.engine.state):
            return False
        frames = sum(flow.payload_bytes for flow in flows) / self.framing.payload_bytes
        return frames >= self.policy.recorded_frames and not any(flow.endless for flow in flows)

    def _repeat(self, key: Key, first: int) -> None:
        """Replay a phase, or record it."""
        st = self.engine.state
        recording = self._phases.next_of(key)
        if recording is None:
            self._recorder = Recorder.begin(key, st, first)
        else:
            self._replay = PhaseReplay.begin(recording, st, first, self.network.queue_of)

    def stop(self) -> None:
        """End all flows; packets on their way still arrive, and are counted."""
        self._disturb()
        self.engine.stop()

    def reroute(self, network: Network, routing: Routing) -> None:
        """The network or its routes have changed."""
        self._disturb()
        self._phases.forget()
        self.engine.reroute(network, routing)

    def forget_finished(self) -> None:
        """Forget the flows that are done and have nothing on its way."""
        if not len(self._parked.numbers) and self._replay is None and self._recorder is None:
            self.engine.forget_finished()
            self._meter = PortMeter.of(self.engine.state)

    def _disturb(self) -> None:
        """Simulate every frame from now on, for a while."""
        self._recorder = None
        if self._replay is not None:
            self._replay.hand_over(self.engine.state, self.framing)
            self.engine.start_waiting(self._replay.first)
            self._replay = None
            self.engine.park()
        self._unpark(np.ones(len(self._parked.numbers), bool))
        st, progress = self.engine.state, self._progress
        numbers = may_change(st, np.flatnonzero(st.flows.train > 1))
        set_trains(st, numbers, np.ones(len(numbers), np.int64), self.framing)
        progress.settled_at_ps = self._now_ps + round(self.policy.settled_ns * PS_PER_NS)
        self._look_again(self.policy.look_ns)

    def _look_again(self, interval_ns: float) -> None:
        self._progress.interval_ns = interval_ns
        self._progress.next_look_ns = _whole_ns(self._now_ps + round(interval_ns * PS_PER_NS))
        self._meter = PortMeter.of(self.engine.state)

    # Time

    def run(self, until_ns: float, *, stop_when_done: bool = True) -> bool:
        """Advance to this time, or until all flows are done. Whether they are."""
        while True:
            done = self.engine.run(min(until_ns, self._next_ns()), stop_when_done=stop_when_done)
            done = self._end_phase() or done
            if (done and stop_when_done) or self._now_ps >= int(until_ns * PS_PER_NS):
                return done
            self._unpark(self._parked.until_ps <= self._now_ps)
            if self._replay is None and self._now_ps >= self._progress.next_look_ns * PS_PER_NS:
                self._look()

    def _end_phase(self) -> bool:
        """Keep the recording of a phase that has ended, and end a replay. Whether there are no flows any more."""
        st = self.engine.state
        if self._replay is not None and self._now_ps >= self._replay.end_ps:
            self._replay.settle(st)
            self._replay = None
        if self._recorder is not None and not st.sim[0].open_flows:
            recording = self._recorder.finish(st)
            if recording is not None:
                self._phases.keep(self._recorder.key, recording)
            self._recorder = None
        return not st.sim[0].open_flows

    def _next_ns(self) -> float:
        policy = self.policy
        if not (policy.parking or policy.trains or policy.repeats) or not self.engine.state.sim[0].open_flows:
            return math.inf
        if self._replay is not None:
            return _whole_ns(self._replay.end_ps)
        end_ps = self._parked.until_ps.min(initial=NEVER)
        return min(self._progress.next_look_ns, _whole_ns(int(end_ps)))

    def _unpark(self, gone: Bools) -> None:
        if gone.any():
            set_unparked(self.engine.state, self._parked.only(gone))
            self.engine.park()
            self._parked = self._parked.only(~gone)
            self._look_again(self.policy.look_ns)

    def _look(self) -> None:
        """Decide what is simulated until the next look, and how."""
        st = self.engine.state
        self._settle()
        if self._recorder is not None:
            self._recorder.sample(st)
        waiting = bool((st.flows.state == WAITING).any())
        if waiting and not (st.flows.train > 1).any():
            self._progress.pressure = _pressure(self.engine)  # nothing is parked, and no train is longer than a frame
        else:
            loads = Loads.of(st, self.network.queue_of)
            if self.policy.parking and not waiting:
                self._park(loads)
            if self.policy.trains:
                self._couple(loads, waiting)
        self._look_again(min(2 * self._progress.interval_ns, self.policy.longest_look_ns))

    def _park(self, loads: Loads) -> None:
        st, parked = self.engine.state, self._parked
        may = may_park(st, loads, round(self.policy.longest_look_ns * PS_PER_NS))
        able = np.zeros(len(st.flows), bool)
        able[loads.numbers[may]] = True
        if not able[parked.numbers].all():
            self._unpark(
                np.isin(st.flows.source[parked.numbers], st.flows.source[parked.numbers[~able[parked.numbers]]])
            )
        fresh = may & (st.flows.parked[loads.numbers] == 0)
        found = parked_ports(st, loads, fresh, self._meter, self.framing)
        if len(found.numbers):
            set_parked(st, found)
            self.engine.park()
            self._parked = self._parked.joined(found)

    def _couple(self, loads: Loads, waiting: bool) -> None:
        """Set the length of trains; one frame after drops or XOFFs."""
        st, progress = self.engine.state, self._progress
        pressure = _pressure(self.engine)
        calm, progress.pressure = pressure == progress.pressure, pressure
        train = train_lengths(st, loads, self.policy, self.framing)
        if waiting or not calm or self._now_ps < progress.settled_at_ps:
            train[:] = 1
        present = st.flows.train[loads.numbers]
        changed = (st.flows.parked[loads.numbers] == 0) & ((train < present) | (present == 1) & (train > 1))
        numbers = loads.numbers[changed]
        able = np.isin(numbers, may_change(st, numbers))
        set_trains(st, numbers[able], train[changed][able], self.framing)

    # Results

    def active(self) -> tuple[int, ...]:
        """Numbers of the flows that are not done, those that wait for others included."""
        self._settle()
        return self.engine.active()

    @property
    def sending_count(self) -> int:
        """How many flows send, or wait for acknowledgements."""
        self._settle()
        return self.engine.sending_count

    @property
    def open_count(self) -> int:
        """How many flows are not done, those that wait for others included, and endless ones not."""
        self._settle()
        return self.engine.open_count

    def places_of(self, numbers: Collection[int]) -> Ints:
        """Where these flows are in the tables until flows are forgotten."""
        return self.engine.places_of(numbers)

    def open_at(self, places: Ints) -> int:
        """How many of the flows at these places are not done."""
        self._settle()
        return self.engine.open_at(places)

    @property
    def is_active(self) -> bool:
        """Whether a flow is not done."""
        return self.engine.is_active

    def stalled(self) -> tuple[int, ...]:
        """Numbers of the flows without a route."""
        return self.engine.stalled()

    def flows(self) -> FlowResults:
        self._settle()
        return self.engine.flows()

    def counters(self) -> Counters:
        self._settle()
        counters = self.engine.counters()
        if self._replay is None:
            return counters
        return replace(counters, depth_bytes=self._replayed_depths())

    def depths(self) -> tuple[Ints, Ints]:
        """Bytes in each queue now, and sent by it since its birth; (link, queue)."""
        self._settle()
        depths, sent = self.engine.depths()
        return (depths if self._replay is None else self._replayed_depths()), sent

    def _replayed_depths(self) -> Ints:
        assert self._replay is not None
        return self._replay.depths(self._now_ps).reshape(-1, QUEUES)

    def _settle(self) -> None:
        """Put what was left out until now into the state."""
        settle(self.engine.state, self._parked)
        if self._replay is not None:
            self._replay.settle(self.engine.state)

    def pauses(self) -> PauseLog:
        """The pause frames that were logged."""
        return self.engine.pauses()

    def deadlock(self, lasting_ns: float = 0.0) -> tuple[int, ...]:
        """Queues in a cycle, each paused for so long until the next one sends; else empty."""
        return self.engine.deadlock(lasting_ns)

    def reset_peaks(self) -> None:
        """Begin the watermarks anew, from what is there now."""
        self.engine.reset_peaks()

    def flow_paths(self) -> Paths:
        """The links of all flows and of their acknowledgements, as they are now."""
        return self.engine.flow_paths()

    def paths(self) -> tuple[tuple[int, ...], ...]:
        """Links of each flow, in the order in which they were added."""
        return self.engine.paths()

    def snapshot(self) -> FastForwardSnapshot:
        """The whole state; `restore` continues from it bit for bit."""
        parts = (self._parked, self._meter, self._progress, self._phases, self._recorder, self._replay)
        return FastForwardSnapshot(self.engine.snapshot(), *copy.deepcopy(parts))

    def restore(self, snapshot: FastForwardSnapshot) -> None:
        self.engine.restore(snapshot.engine)
        parts = (
            snapshot.parked,
            snapshot.meter,
            snapshot.progress,
            snapshot.phases,
            snapshot.recorder,
            snapshot.replay,
        )
        self._parked, self._meter, self._progress, self._phases, self._recorder, self._replay = copy.deepcopy(parts)

    def fingerprint(self) -> str:
        """Digest of the state: equal digests have equal futures."""
        self._settle()
        return self.engine.fingerprint()


def _whole_ns(time_ps: int) -> int:
    """The first whole nanosecond at or after a time: the engine stops at whole ones.

    In integers: as a float a time of more than 2.4 hours has no picoseconds, so that it would end before this one.
    """
    return -(-time_ps // PS_PER_NS)


def _pressure(engine: Engine) -> int:
    """Drops and XOFFs since the birth of the network."""
    st = engine.state
    dropped = st.queues.dropped_packets.sum() + st.queues.storm_packets.sum() + st.ingress.dropped_packets.sum()
    return int(dropped + st.links.lost_packets.sum() + st.ingress.xoff_sent.sum())
