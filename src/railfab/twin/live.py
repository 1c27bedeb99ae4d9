"""A fabric that lives: switches are configured, links break, jobs run, and everything shows in the samples."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from threading import Lock

from railfab.device import DeviceModel
from railfab.errors import IntentError, TopologyError
from railfab.forwarding.converge import Conclusion, Marking, conclude
from railfab.forwarding.sessions import BgpSession
from railfab.forwarding.wiring import Wiring
from railfab.intent import Job
from railfab.sim import Dcqcn, Engine, Flow, Framing, Path, max_min_rates
from railfab.topology import PortKey, Topology
from railfab.twin.readings import Readings
from railfab.twin.samples import Family, Sample, families, state_samples
from railfab.twin.transitions import TransitionCounters
from railfab.units import NS_PER_MS, NS_PER_S, bytes_per_s
from railfab.workload.run import JobRun, JobStatus
from railfab.workload.stages import stages
from railfab.workload.transfer import Transfer

SLICE_NS, BUSY_SLICE_NS = 20 * NS_PER_MS, NS_PER_MS
"""Others get a turn this often while time passes; more often, of simulated time, while queues are worked out."""


class LiveFabric:
    """Models, links and a job tied together. Thread-safe.

    A switch without a model forwards nothing, and its ports are down. BGP and BFD reach their state at once.
    started_s: Unix time at simulated time 0.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        seed: int = 1,
        dcqcn: Dcqcn | None = None,
        framing: Framing | None = None,
        started_s: float | None = None,
    ) -> None:
        self._lock = Lock()
        self._wiring = Wiring(topology)
        self._marking, self._framing = Marking(seed=seed), framing or Framing()
        self._started_s = time.time() if started_s is None else started_s
        self._models: dict[str, DeviceModel] = {}
        self._cut: set[PortKey] = set()
        self._transfers: dict[int, Transfer] = {}
        self._stalled: dict[int, str] = {}
        self._next_flow = 0
        self._run: JobRun | None = None
        self._transitions = TransitionCounters()
        self._clock_ns = 0
        self._families: dict[str, tuple[Family, ...]] = {}
        self._states: dict[str, tuple[Sample, ...]] = {}
        self._conclusion = self._concluded(self._models, self._cut)
        self._engine = Engine(self._conclusion.network, seed=seed, framing=self._framing, dcqcn=dcqcn)
        self._readings = Readings(self._engine, self._wiring)
        self._transitions.note(None, self._conclusion, self._started_s)

    # What changes

    def configure(self, name: str, model: DeviceModel | None) -> None:
        """Give a switch its configuration; None takes it away. Raises ConfigError, and then nothing has changed."""
        self._known_switch(name)
        with self._lock:
            models = {known: held for known, held in self._models.items() if known != name}
            if model is not None:
                models[name] = model if model.name == name else replace(model, name=name)
            self._reconclude(models, self._cut)

    def set_link(self, node: str, interface: str, up: bool) -> None:
        """Break or mend the cable at this port."""
        key = (node, interface)
        if key not in self._wiring.egress:
            raise TopologyError(f"link {node} {interface}", "there is no cable", "Use a port of the cabling plan")
        peer = self._wiring.far(self._wiring.egress[key])
        with self._lock:
            cut = self._cut - {key, (peer.node, peer.name)}
            self._reconclude(self._models, cut if up else cut | {key})

    def start(self, job: Job) -> None:
        """Run a job from its beginning, in place of any other. Raises IntentError."""
        found = stages(job, self._wiring.topology)
        if not any(stage.compute_ns or stage.transfers for stage in found):
            raise IntentError(f"job {job.job}: phases", "nothing takes any time", "Use more hosts, or a compute phase")
        with self._lock:
            self._end_job()
            self._run = JobRun(job.job, found, job.repeat, self._engine, self._launch)

    def stop(self) -> None:
        """End the job; what is on its way is let through."""
        with self._lock:
            self._end_job()

    def advance(self, dt_ns: int) -> None:
        """Let simulated time pass."""
        until_ns = self._clock_ns + dt_ns
        while self._clock_ns < until_ns:
            with self._lock:
                self._clock_ns = min(until_ns, self._slice_end_ns(), self._readings.next_window_ns(self._clock_ns))
                if self._run is not None:
                    self._run.drive(self._clock_ns)
                else:
                    self._engine.run(self._clock_ns)
                self._readings.pass_time(self._clock_ns)

    # What is seen

    def samples(self, name: str) -> list[Sample]:
        """All canonical samples of a switch now."""
        self._known_switch(name)
        with self._lock:
            arrays = self._readings.arrays(self._conclusion, self._transitions, self._started_s)
            if name not in self._families:
                self._families[name] = families(self._wiring, self._conclusion, name)
                self._states[name] = tuple(state_samples(self._wiring, self._conclusion, self._transitions, name))
            counted = [sample for family in self._families[name] for sample in family.read(arrays)]
            return [*counted, *self._states[name]]

    def sessions(self, name: str) -> tuple[BgpSession, ...]:
        """The configured BGP sessions of a switch."""
        self._known_switch(name)
        with self._lock:
            return tuple(session for session in self._conclusion.sessions.values() if session.device == name)

    def job_status(self) -> JobStatus:
        """The job, its steps, and what keeps its flows from moving."""
        with self._lock:
            course = self._run
            return JobStatus(
                job=course.name if course else None,
                stage=course.stage if course else "",
                steps=course.steps if course else 0,
                recent=tuple(course.recent) if course else (),
                active_flows=len(self._engine.active()),
                stalled_flows=len(self._engine.stalled()),
                stalled=tuple(dict.fromkeys(self._stalled[flow] for flow in self._engine.stalled())),
                simulated_s=self._clock_ns / NS_PER_S,
            )

    # Inside

    def _slice_end_ns(self) -> int:
        """Where to let others have a turn: soon while there are queues, and where flows begin."""
        if self._run is not None and self._run.rests_until_ns > self._clock_ns:
            return min(self._clock_ns + SLICE_NS, self._run.rests_until_ns)
        fresh = self._run is not None and self._clock_ns - self._run.stage_began_ns < BUSY_SLICE_NS
        return self._clock_ns + (BUSY_SLICE_NS if fresh or self._engine.queued else SLICE_NS)

    def _known_switch(self, name: str) -> None:
        if name not in self._wiring.chip:
            fabric = self._wiring.topology.fabric
            raise TopologyError(f"fabric {fabric}", f"has no switch {name!r}", "Use a name of railfab plan")

    def _concluded(self, models: dict[str, DeviceModel], cut: set[PortKey]) -> Conclusion:
        return conclude(self._wiring, models, cut, framing=self._framing, marking=self._marking)

    def _reconclude(self, models: dict[str, DeviceModel], cut: set[PortKey]) -> None:
        before, self._conclusion = self._conclusion, self._concluded(models, cut)
        self._models, self._cut = models, cut
        self._transitions.note(before, self._conclusion, self._started_s + self._clock_ns / NS_PER_S)
        alive = (*self._engine.active(), *self._engine.stalled())
        self._engine.reroute(self._conclusion.network, {flow: self._way(flow) for flow in alive})
        self._families.clear()
        self._states.clear()

    def _way(self, flow: int) -> Path | None:
        """The present way of a flow; without one, the reason is noted."""
        transfer = self._transfers[flow]
        way = self._conclusion.path(transfer.source, transfer.target, transfer.stream)
        self._stalled.pop(flow, None)
        if isinstance(way, str):
            self._stalled[flow] = way
            return None
        return way

    def _launch(self, transfers: Iterable[Transfer]) -> tuple[set[int], float]:
        self._transfers.clear()
        self._stalled.clear()
        flows = []
        for transfer in transfers:
            self._next_flow += 1
            self._transfers[self._next_flow] = transfer
            way = self._way(self._next_flow)
            flows.append(Flow(id=self._next_flow, payload_bytes=transfer.payload_bytes, path=way))
        self._engine.start(flows)
        return {flow.id for flow in flows}, self._ideal_s(flows)

    def _ideal_s(self, flows: Iterable[Flow]) -> float:
        """How long the routed flows take at max-min fair rates."""
        routed = [(flow.path.links, flow.payload_bytes) for flow in flows if flow.path is not None]
        payload_share = self._framing.octets_per_wire / self._framing.octets_per_payload
        rates = max_min_rates([links for links, _ in routed], self._conclusion.network.rate_gbps * payload_share)
        return max(
            (size / bytes_per_s(float(rate)) for (_, size), rate in zip(routed, rates, strict=True)), default=0.0
        )

    def _end_job(self) -> None:
        self._run = None
        self._engine.stop()
        self._transfers.clear()
        self._stalled.clear()
