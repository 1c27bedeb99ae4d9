"""A running fabric: switches are configured, links break, jobs run, and everything shows in the samples.

Convergence is computed from an immutable state and published by replacing one reference. The simulation runs in the
thread that advances it. Readers take the last publication and wait for neither.
"""

from __future__ import annotations

import logging
import math
import operator
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from railfab.device import DeviceModel
from railfab.errors import TopologyError
from railfab.fabric import Design
from railfab.forwarding import (
    NOTHING_PENDING,
    BgpSession,
    Blocked,
    FabricChange,
    Fibre,
    ForwardingState,
    LinkTable,
    Marking,
    SwitchFault,
    begin,
    converge,
    settle,
    unconfigured,
)
from railfab.intent import Job
from railfab.sim import Dcqcn, Engine, Framing, Network, Paths, Transport
from railfab.sim.fast_forward import FastForward
from railfab.topology import PortKey, Topology
from railfab.twin.attempts import Attempts
from railfab.twin.change_queue import ChangeQueue
from railfab.twin.counters import TwinSample
from railfab.twin.fair_lock import FairLock
from railfab.twin.flaps import Flaps
from railfab.twin.ideal_steps import DesignLinks
from railfab.twin.job_flows import JobFlows
from railfab.twin.link_parts import WHOLE_LINK, Direction, LinkPart
from railfab.twin.lldp import Neighbors
from railfab.twin.readings import Arrays, CounterReadings, begun_at_zero, port_arrays
from railfab.twin.recabling import recabling
from railfab.twin.samples import ObservedDevice, ObservedSwitch, SampleSource, SwitchSamples, switch_samples
from railfab.twin.status import PassingFlow
from railfab.twin.steady import SteadyCounters, steady_rates
from railfab.twin.transitions import TransitionCounters, no_transitions
from railfab.twin.tries import Tries, Trying
from railfab.twin.virtual_ports import virtual_chassis
from railfab.units import NS_PER_MS, NS_PER_S
from railfab.workload import JobRun, JobStatus, JobSteps, RecordedJob, Stage, StagedJob, staged
from railfab.workload.call_times import CallTimes

logger = logging.getLogger(__name__)

SLICE_NS, BUSY_SLICES_NS = 20 * NS_PER_MS, (NS_PER_MS, 8 * NS_PER_MS)
"""Interval in which the lock of the simulation is released [simulated ns]: without flows, and with flows the least and
the most; a slice that takes less than BRIEF_S doubles it, one that takes twice as long halves it."""
BRIEF_S = 0.001
"""Time of a slice with flows [s]: readers of all switches wait no longer for the lock."""

PUBLISH_S = 0.05
"""Maximum age of the published counters while the simulation runs without a pause and they are read [s]."""
UNREAD_PUBLISH_S = 0.3
"""The same while they are not read: the first reader does not wait for newer ones, and is not shown older ones [s]."""


@dataclass(frozen=True, slots=True)
class Published:
    """A published state, its counters and its job, for readers. Immutable.

    simulated_ns: simulated time of the counters.
    """

    state: ForwardingState
    transitions: TransitionCounters
    ports: Arrays
    counters: Arrays
    simulated_ns: int
    steady: Arrays
    neighbors: Neighbors
    trying: Trying
    job: JobStatus

    def arrays(self) -> Arrays:
        """Every array that a sample may be read from."""
        transitions = {"transitions": self.transitions.ports, "last_change": self.transitions.last_change_s}
        return {**self.counters, **self.ports, **self.steady, **transitions}


class LiveFabric:
    """Models, links and a job tied together. Thread-safe.

    A switch without a model forwards nothing, and its ports are down. Until every switch has been configured once the
    fabric converges at once; then in simulated time: sessions, routes and next-hop groups follow when switches notice.
    at_once: it always does, for tests of what comes of it. changed: called after a change that came with time, by the
    thread that calls `advance`.
    stamp: the Unix time of what happens at a simulated time, both in ns; None: as much after the start.
    marking: DSCPs of the hosts; its seed is that of all random draws. design: of the fabric, for jobs with a model.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        design: Design | None = None,
        marking: Marking | None = None,
        dcqcn: Dcqcn | None = None,
        framing: Framing | None = None,
        stamp: Callable[[int], int] | None = None,
        changed: Callable[[], None] = lambda: None,
        at_once: bool = False,
    ) -> None:
        self._links, self._intent = LinkTable(topology), None if design is None else design.intent
        self._changed, self._at_once = changed, at_once
        self._deployed = False
        self._framing = framing or Framing()
        self._transport = Transport(dcqcn=dcqcn or Dcqcn())
        self._stamp = stamp or partial(operator.add, time.time_ns())
        self._clock_ns = 0
        self._started_s = self._now_s()
        self._planned = None if design is None else DesignLinks(design, (marking or Marking()).seed)
        self._state = unconfigured(self._links, framing=self._framing, marking=marking or Marking())
        self._ports = port_arrays(self._state)
        self._transitions = no_transitions(len(self._links.near), self._started_s)
        self._neighbors = Neighbors()
        self._steady = SteadyCounters(0, {}).with_rates(steady_rates(self._state), 0)
        self._flaps = Flaps(self._state)
        self._tries = Tries(self._state)
        self._trying: Trying = {}
        self._changes = ChangeQueue(topology.fabric, self._converge)
        self._simulation = FairLock()
        self._flows = JobFlows(self._links)
        self._booted_s: Mapping[str, float] = {}
        self._run: JobRun | None = None
        self._asynchronous_places = np.zeros(0, np.int64)
        self._slow_links: Mapping[PortKey, float] = {}
        self._simulated_slow: Mapping[PortKey, float] = {}
        self._simulated = self._state
        self._engine = self._new_engine()
        self._readings = CounterReadings(self._engine, self._attempts())
        self._switches: dict[str, SwitchSamples] = {}
        self._engine_error: Exception | None = None
        self._behind, self._read = False, False
        self._busy_slice_ns = BUSY_SLICES_NS[0]
        self._published_s = 0.0
        self._published = self._publish()

    # Changes

    def announced(self) -> AbstractContextManager[None]:
        """Announce a configuration that this thread will give a switch, or will not: see `ChangeQueue`."""
        return self._changes.announced()

    def configure(self, name: str, model: DeviceModel | None) -> None:
        """Give a switch its configuration; None takes it away. Returns when it is in effect on this switch.

        Whatever a switch accepts is accepted; what is not computed is kept (`forwarding.limits`).
        """
        self.configure_all({name: model})

    def configure_all(self, models: Mapping[str, DeviceModel | None]) -> None:
        """Configure several switches at one moment."""
        named = {}
        for name, model in models.items():
            self._known_switch(name)
            named[name] = model and _named(model, name)
        self._changes.apply(FabricChange(named))

    def set_link(self, node: str, interface: str, up: bool, part: LinkPart = WHOLE_LINK) -> None:
        """Break or restore the cable at this port, or the fibre of one direction."""
        self._known_cable(node, interface)
        key = (node, interface)
        far = self._links.far_key(self._links.egress[key])
        if part.direction is Direction.BOTH and (up or part.detected):
            ends, none = frozenset({key, far}), frozenset[PortKey]()
            cut, restored = (none, ends) if up else (ends, none)
            self._changes.apply(FabricChange({}, cut, restored, fibres=dict.fromkeys(ends, Fibre.WORKING)))
            return
        if key in self._state.cut:
            raise TopologyError(f"link {node} {interface}", "the cable is cut in both directions", "Restore it first")
        fibre = Fibre.WORKING if up else Fibre.DARK if part.detected else Fibre.LOSING
        self._changes.apply(FabricChange({}, fibres=dict.fromkeys(part.receivers(key, far), fibre)))

    def hang(self, name: str) -> None:
        """Have the control plane of a switch do nothing any more; it continues to forward as it does now."""
        self._known_switch(name)
        self._changes.apply(FabricChange({}, switch_faults={name: SwitchFault.HUNG}))

    def resume(self, name: str) -> None:
        """Have the control plane of a switch that hangs continue; sessions that its peers have ended begin again."""
        self._known_switch(name)
        self._changes.apply(FabricChange({}, switch_faults={name: SwitchFault.NONE}))

    def power_off(self, name: str) -> None:
        """Take the power from a switch: its ports are dark, and its counters and its configuration are gone."""
        self._known_switch(name)
        self._changes.apply(FabricChange({}, switch_faults={name: SwitchFault.OFF}))

    def power_on(self, name: str, model: DeviceModel | None) -> None:
        """Boot a switch with this configuration, with all counters at 0; None is the factory's."""
        self._known_switch(name)
        named = model and _named(model, name)
        self._changes.apply(FabricChange({name: named}, switch_faults={name: SwitchFault.NONE}))

    def exchange_cables(self, one: PortKey, other: PortKey) -> None:
        """Let two ports exchange their far ends: their cables, which have to work, are pulled and plugged.

        What follows from the pull is computed at once, what follows from the plug comes with time. The stage of a job
        that runs begins again. The same call undoes it.
        """
        for key in (one, other):
            self._known_cable(*key)
        if one == other or self._links.far_key(self._links.egress[one]) == other:
            problem = "there is nothing to exchange between the ends of one cable"
            raise TopologyError(f"links {' '.join(one)} and {' '.join(other)}", problem, "Use ports of two cables")
        for key in (one, other):
            self._check_works(*key)
        far = (self._links.far_key(self._links.egress[key]) for key in (one, other))
        ends = frozenset({one, other, *far})
        self._changes.apply(FabricChange({}, cut=ends))
        self._changes.apply(FabricChange({}, exchanged=(one, other)))
        self._changes.apply(FabricChange({}, restored=ends))

    def _check_works(self, node: str, interface: str) -> None:
        """Raise TopologyError for a cable that is broken, or has a fibre that does not work."""
        near, far = (node, interface), self._links.far_key(self._links.egress[node, interface])
        broken, faulty = near in self._state.cut, {near, far} & self._state.fibres.keys()
        if broken or faulty:
            problem = f"the cable to {' '.join(far)} {'is broken' if broken else 'has a fibre that does not work'}"
            remedy = f"Restore it first: railfab twin link {node} {interface} up"
            raise TopologyError(f"link {node} {interface}", problem, remedy)

    def _known_cable(self, node: str, interface: str) -> None:
        if (node, interface) not in self._links.egress:
            raise TopologyError(f"link {node} {interface}", "there is no cable", "Use a port of the cabling plan")

    def set_optic_loss(self, node: str, interface: str, loss_db: float) -> None:
        """Let the receiver of a port miss this much light [dB], as behind a dirty connector; 0 cleans it."""
        key = (node, interface)
        self._known_cable(node, interface)
        if not 0 <= loss_db < math.inf:
            raise TopologyError(f"link {node} {interface}", f"{loss_db:g} dB is no loss of light", "Use 0 dB or more")
        self._changes.apply(FabricChange({}, dirt={key: loss_db}))

    def set_host_rate(self, host: str, interface: str | None, rx_gbps: float) -> None:
        """Let a host take packets from a NIC port, or from all of them, at this rate [Gb/s] only; infinite: at once."""
        ports = self._links.ports_of[host] if host in self._links.hosts else ()
        keys = [(host, port.name) for port in ports if interface in (None, port.name)]
        if not keys:
            problem = "is no host with this port" if interface else "is no host"
            raise TopologyError(f"{host} {interface or ''}".strip(), problem, "Use a host of railfab plan and its NIC")
        self._changes.apply(FabricChange({}, slow=dict.fromkeys(keys, rx_gbps)))

    def start(self, job: Job | RecordedJob) -> StagedJob:
        """Run a job from its beginning, in place of any other; what runs. Raises IntentError, or Problems.

        Its ideals are those of the design whatever the fabric is like now.
        """
        ideal = None if self._planned is None else self._planned.seconds
        work = staged(job, self._links.topology, self._intent, ideal=ideal)
        with self._simulation.held():
            self._end_job()
            self._slow_links = work.slow_links
            self._run = JobRun(work, self._engine, self._launch, self._asynchronous_count)
            if work.background:
                self._adopt()
                self._engine.add(list(self._flows.begin_background(work.background, self._engine.add_transport)))
            self._publish()
        return work

    def stop(self) -> None:
        """End the job; packets in flight still arrive."""
        with self._simulation.held():
            self._end_job()
            self._publish()

    def recover(self) -> None:
        """End the job and continue with an engine without flows, after the present one raised. Counters are kept.

        A job that was started since then has such an engine, and continues.
        """
        with self._simulation.held():
            if self._engine_error is not None:
                self._restart_engine()
                self._publish()

    def advance(self, dt_ns: int) -> None:
        """Let simulated time pass. Raises what the engine raised, here or since the last call, until `recover`."""
        until_ns = self._clock_ns + dt_ns
        while self._clock_ns < until_ns:
            if self._is_due() and self._changes.between(self._settle):
                self._changed()
            with self._simulation.held():
                if self._engine_error is None:
                    self._keep_error(lambda: self._advance_slice(until_ns))
                if self._engine_error is not None:
                    raise self._engine_error
            self._pass_events()

    def _pass_events(self) -> None:
        """Apply what comes with time: neighbours expire, dim links go up and down, refused sessions try again."""
        neighbors, trying = self._neighbors.at(self._clock_ns), self._tries.at(self._clock_ns)
        flapped = self._flaps.at(self._clock_ns)
        if flapped != self._state.flapped:
            self._changes.apply(FabricChange({}, flapped=flapped))
        elif neighbors is not self._neighbors or trying != self._trying:
            with self._simulation.held():
                self._neighbors, self._trying = self._neighbors.at(self._clock_ns), self._tries.at(self._clock_ns)
                self._replace_published(self._published.counters, self._published.simulated_ns)
        else:
            return
        self._changed()

    # What is read

    def samples(self, name: str) -> list[TwinSample]:
        """All canonical samples of a switch now."""
        published = self._newest()
        return self._samples_of(name, published).samples(published.arrays())

    def observed(self, name: str, max_age_s: float) -> ObservedSwitch:
        """The samples of a switch as one array, and its sessions. max_age_s: of its counters; states are present."""
        published = self._newest(max_age_s)
        return self._samples_of(name, published).observed(published.arrays(), published.simulated_ns)

    def observed_device(self, name: str) -> ObservedDevice:
        """A switch as a device; counters are not published for it."""
        self._known_switch(name)
        published = self._published
        booted_s = self._booted_s.get(name, self._started_s)
        return ObservedDevice(virtual_chassis(published.state, name, booted_s), published.simulated_ns)

    def _samples_of(self, name: str, published: Published) -> SwitchSamples:
        self._known_switch(name)
        source = SampleSource(
            published.state,
            published.transitions,
            published.neighbors,
            published.trying,
            self._started_s,
            self._booted_s,
        )
        held = switch_samples(source, name, self._switches.get(name))
        self._switches[name] = held
        return held

    def sessions(self, name: str) -> tuple[BgpSession, ...]:
        """The configured BGP sessions of a switch."""
        self._known_switch(name)
        return self._published.state.sessions_of(name)

    def job_status(self) -> JobStatus:
        """The job, its steps, and what keeps its flows from moving."""
        return self._newest().job

    def finished_steps(self) -> JobSteps:
        """The steps of the job that have ended, without a publication."""
        with self._simulation.held():
            return self._run.finished_steps() if self._run else JobSteps(job=None, steps=0, recent=())

    def flows_through(self, node: str, interface: str) -> tuple[PassingFlow, ...]:
        """The flows that are under way and leave by a port now. Raises TopologyError for a port without a cable."""
        self._known_cable(node, interface)
        with self._simulation.held():
            active = frozenset(self._engine.active())
            return tuple(self._flows.passing(self._engine.flow_paths(), self._links.egress[node, interface], active))

    def ended_calls(self) -> tuple[CallTimes, ...]:
        """The operations of the present step of a job that have ended so far."""
        with self._simulation.held():
            return self._run.ended_calls() if self._run and self._engine_error is None else ()

    def counted_ns(self) -> int:
        """Simulated time of the newest counters [ns]."""
        return self._newest().simulated_ns

    def state(self) -> ForwardingState:
        """The state that was published last."""
        return self._published.state

    def _newest(self, max_age_s: float = 0.0) -> Published:
        """The last publication; if it is older than this, first publish the newer counters.

        Never waits: while the simulation counts, the last publication serves, and so it does after the engine failed.
        """
        if self._behind and time.monotonic() - self._published_s >= max_age_s:
            self._read = True
            with self._simulation.held_if_free() as free:
                if free and self._engine_error is None:
                    self._keep_error(self._publish)
        return self._published

    # Convergence

    def _converge(self, change: FabricChange) -> None:
        before = self._state
        self._deployed |= len(before.configs) == len(before.links.switches)
        at_once = self._at_once or self._clock_ns == 0 or not self._deployed
        for name, fault in change.switch_faults.items():
            if fault is SwitchFault.NONE and before.switch_faults.get(name) is SwitchFault.OFF:
                self._begin_at_zero(name)
        if at_once:
            self._take(converge(before, change))
            return
        began_ns = self._clock_ns
        settled = settle(before, began_ns)
        self._take(begin(settled, change, began_ns), settled=settled, began_ns=began_ns)

    def _begin_at_zero(self, name: str) -> None:
        """A switch boots: what it counts begins at 0."""
        links = self._links.links_of[name]
        with self._simulation.held():
            self._booted_s = {**self._booted_s, name: self._now_s()}
            self._transitions = self._transitions.begun_at_zero(name, links)
            self._steady = self._steady.begun_at_zero(links, self._clock_ns)
            if self._engine_error is None:
                self._readings.begin_at_zero(links)
                self._publish()
            else:  # the next engine counts on from what is published
                counters = begun_at_zero(self._published.counters, links, len(self._links.near))
                self._replace_published(counters, self._published.simulated_ns)

    def _now_s(self) -> float:
        """The Unix time of what happens now [s]."""
        return self._stamp(self._clock_ns) / NS_PER_S

    def _is_due(self) -> bool:
        next_ns = self._state.pending.next_ns
        return next_ns is not None and next_ns <= self._clock_ns

    def _settle(self) -> None:
        """Take what has followed by now from earlier changes."""
        try:
            after = settle(self._state, self._clock_ns)
        except Exception:  # any defect of convergence: no caller waits for this one, and time has to pass
            logger.exception("convergence failed, the fabric stays as it is until the next change")
            after = replace(self._state, pending=NOTHING_PENDING)
        self._take(after)

    def _take(self, after: ForwardingState, *, settled: ForwardingState | None = None, began_ns: int = 0) -> None:
        """Make a state the present one.

        settled, began_ns: the state without a change, and when the change began to converge. Simulated time has passed
        since then; what follows from the change takes its time from now on.
        """
        before = self._state
        now_s = self._now_s()
        if after.links is not before.links:
            self._recable(before, after, now_s)
            return
        transitions = self._transitions.counted(before, after, now_s)
        ports, flaps = port_arrays(after, before, self._ports), Flaps(after)
        tries = Tries(after, self._tries)
        rates = steady_rates(after, before, self._steady.rates)
        with self._simulation.held():
            if settled is not None and self._clock_ns > began_ns:
                pending = after.pending.postponed(settled.pending, self._clock_ns - began_ns)
                after = replace(after, pending=pending)
            self._state, self._ports, self._transitions, self._flaps = after, ports, transitions, flaps
            self._tries, self._trying = tries, tries.at(self._clock_ns)
            self._neighbors = self._neighbors.after(before, after, self._clock_ns, now_s)
            self._steady = self._steady.with_rates(rates, self._clock_ns)
            self._keep_error(self._reroute)
            self._replace_published(self._published.counters, self._published.simulated_ns)
            self._behind = True

    def _recable(self, before: ForwardingState, after: ForwardingState, now_s: float) -> None:
        """Continue with another engine on other cables; ports keep their counters."""
        places = recabling(before.links, after.links)
        with self._simulation.held():
            counters = places.of(self._published.counters if self._engine_error else self._readings.arrays())
            beside = tuple(self._flows.background.values())
            self._links, self._state, self._flaps, self._tries = after.links, after, Flaps(after), Tries(after)
            self._ports = port_arrays(after)
            self._neighbors = self._neighbors.after(None, after, self._clock_ns, now_s)
            self._transitions = self._transitions.recabled(places).counted(before, after, now_s)
            self._steady = self._steady.recabled(places, self._clock_ns).with_rates(steady_rates(after), self._clock_ns)
            self._flows.clear()
            self._flows.use(after.links)
            self._engine = self._new_engine()
            self._readings = CounterReadings(self._engine, self._attempts(), counters)
            if self._run is not None:
                self._run.continue_on(self._engine)
            self._engine.add(list(self._flows.begin_background(beside, self._engine.add_transport)))
            self._replace_published(counters, self._clock_ns)
            self._behind = True

    def _reroute(self) -> None:
        """Hand the new network to the engine; without flows it waits until there are some."""
        if self._engine.is_active:
            self._adopt()

    def _adopt(self) -> None:
        """Have the engine use the network and the routes of the present state."""
        state, before = self._state, self._simulated
        same_routing = state.same_routing(before)
        if same_routing and state.same_network(before) and self._slow_links == self._simulated_slow:
            return
        self._readings.before_reroute()
        self._engine.reroute(self._network(), self._engine.routing if same_routing else state.routing)
        self._simulated, self._simulated_slow = state, self._slow_links
        self._judge_step()

    def _judge_step(self) -> None:
        """Note in a training step whether the fabric is as it is designed."""
        if self._run is not None and self._run.as_designed and self._planned is not None:
            engine = self._engine
            self._run.as_designed = self._planned.are(engine.network, engine.routing)

    def _network(self) -> Network:
        """The network of the present state, with the links that the job states to be slow."""
        network = self._state.network
        if not self._slow_links:
            return network
        factors = np.ones(network.links)
        for port, factor in self._slow_links.items():
            factors[self._links.egress[port]] = factor
        return replace(network, rate_gbps=network.rate_gbps / factors)

    # The simulation; all of it with its lock held

    def _keep_error(self, work: Callable[[], object]) -> None:
        """Do work on the engine. What it raises neither fails a Set nor a reader; the next step of time raises it."""
        try:
            work()
        except Exception as error:  # noqa: BLE001 - a defect of the engine stops the job, whatever it is
            self._engine_error = error

    def _new_engine(self) -> FastForward:
        """An engine without flows at the present time, on the present state."""
        state = self._simulated = self._state
        self._simulated_slow = self._slow_links
        engine = FastForward(
            Engine(
                self._network(),
                state.routing,
                seed=state.marking.seed,
                framing=self._framing,
                transports=(self._transport,),
            )
        )
        engine.run(self._clock_ns, stop_when_done=False)
        return engine

    def _attempts(self) -> Attempts:
        """What flows without a path send, on the engine of the present."""
        return Attempts(self._engine, self._transport.timeout_ns, self._blocked)

    def _blocked(self, paths: Paths) -> Iterator[tuple[int, Blocked, Sequence[int]]]:
        return self._flows.blocked(self._simulated, paths)

    def _restart_engine(self) -> None:
        """Continue the counters from those that were published last; the failed engine is not asked again."""
        self._run, self._engine_error, self._slow_links = None, None, {}
        self._flows.clear()
        self._engine = self._new_engine()
        self._readings = CounterReadings(self._engine, self._attempts(), self._published.counters)

    def _advance_slice(self, until_ns: int) -> None:
        """Run until the lock is to be released, at most until then."""
        due_ns = self._state.pending.next_ns
        if due_ns is not None and due_ns > self._clock_ns and self._engine.is_active:
            until_ns = min(until_ns, due_ns)  # without flows, what follows in one slice is taken together at its end
        began_s = time.monotonic()
        self._pass(min(until_ns, self._slice_end_ns(), self._readings.next_window_ns(self._clock_ns)))
        self._adapt_slice(time.monotonic() - began_s)
        self._behind = True
        if self._publication_due():
            self._publish()

    def _pass(self, until_ns: int) -> None:
        if self._run is not None:
            self._run.advance(until_ns)
            if self._run.finished and self._flows.background:
                self._engine.stop()
                self._flows.clear()
        else:
            self._engine.run(until_ns, stop_when_done=False)
        self._clock_ns = until_ns
        self._readings.pass_time(until_ns)

    def _adapt_slice(self, took_s: float) -> None:
        """Choose the next slice with flows by the time that one took: computing flows take none, packets much."""
        least, most = BUSY_SLICES_NS
        if took_s < BRIEF_S:
            self._busy_slice_ns = min(2 * self._busy_slice_ns, most)
        elif took_s > 2 * BRIEF_S:
            self._busy_slice_ns = max(self._busy_slice_ns // 2, least)

    def _slice_end_ns(self) -> int:
        """Until when to run before the lock is released: briefly while there are flows, and where they begin."""
        if self._run is not None and self._run.rests_until_ns > self._clock_ns and not self._engine.is_active:
            return min(self._clock_ns + SLICE_NS, self._run.rests_until_ns)
        return self._clock_ns + (self._busy_slice_ns if self._engine.is_active else SLICE_NS)

    def _publication_due(self) -> bool:
        return time.monotonic() - self._published_s >= (PUBLISH_S if self._read else UNREAD_PUBLISH_S)

    def _publish(self) -> Published:
        """Publish everything as it is now."""
        self._behind, self._read = False, False
        self._published_s = time.monotonic()
        return self._replace_published(self._readings.arrays(), self._clock_ns)

    def _replace_published(self, counters: Arrays, counted_ns: int) -> Published:
        """Publish the present state. After a failure of the engine the last status of the job stays."""
        job = self._job_status() if self._engine_error is None else self._published.job
        steady = self._steady.at(self._clock_ns)
        self._published = Published(
            self._state,
            self._transitions,
            self._ports,
            counters,
            counted_ns,
            steady,
            self._neighbors,
            self._trying,
            job,
        )
        return self._published

    def _job_status(self) -> JobStatus:
        run, engine = self._run, self._engine
        stalled = len(engine.stalled())
        reasons = self._flows.stalled(self._simulated, engine.flow_paths()) if stalled else ()
        return JobStatus(
            job=run.name if run else None,
            stage=run.stage if run else "",
            steps=run.steps if run else 0,
            recent=tuple(run.recent) if run else (),
            active_flows=engine.sending_count,
            stalled_flows=stalled,
            stalled=tuple(dict.fromkeys(reasons)),
            simulated_s=self._clock_ns / NS_PER_S,
            progress=run.progress() if run else None,
        )

    def _launch(self, stage: Stage) -> float:
        self._adopt()
        engine = self._engine
        engine.forget_finished()
        active = engine.active() if self._flows.asynchronous else ()
        engine.add(self._flows.begin(stage.transfers, math.ceil(engine.now_ns), engine.add_transport, active))
        self._asynchronous_places = (
            engine.places_of(self._flows.asynchronous) if self._flows.asynchronous else np.zeros(0, np.int64)
        )
        if stage.ideal_s is not None:
            self._judge_step()
            return stage.ideal_s
        engine.run(math.ceil(engine.now_ns) + 1, stop_when_done=False)
        payload_share = self._framing.octets_per_wire / self._framing.octets_per_payload
        return self._flows.ideal_s(engine.flow_paths(), engine.network.rate_gbps * payload_share)

    def _asynchronous_count(self) -> int:
        """Transfers of the present job that are under way, and for which no stage waits."""
        return self._engine.open_at(self._asynchronous_places) if self._flows.asynchronous else 0

    def _end_job(self) -> None:
        if self._engine_error is not None:
            self._restart_engine()
        self._run, self._slow_links = None, {}
        self._engine.stop()
        self._flows.clear()

    def _known_switch(self, name: str) -> None:
        if name not in self._links.buffer_bytes:
            fabric = self._links.topology.fabric
            raise TopologyError(f"fabric {fabric}", f"has no switch {name!r}", "Use a name of railfab plan")


def _named(model: DeviceModel, name: str) -> DeviceModel:
    """The model of a switch under its name in the plan; LLDP announces the one that is configured."""
    announced = replace(model.lldp, system_name=model.name or name)
    return replace(model, name=name, lldp=announced) if announced != model.lldp or name != model.name else model
