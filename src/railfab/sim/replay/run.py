"""Run a scenario: with progress, with an end, and with the reason where flows are left."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from railfab.compiled import WHY_INTERPRETED
from railfab.sim.engine import Engine
from railfab.sim.kernel.records import DONE, QUEUES, STALLED
from railfab.sim.replay.results import SeedResult
from railfab.sim.replay.sampling import Sampler, Samples
from railfab.sim.replay.scenario import QUANTUM_PS, Scenario

SLICE_S = 0.1
"""About how long the engine runs before progress is reported and a deadlock looked for."""
FIRST_SLICE_NS = 20_000.0
MOST_PAUSES = 1 << 12 if WHY_INTERPRETED else 1 << 17
"""Pause frames that a saved run has; interpreted, the log costs time whenever the engine runs."""
MOST_NAMED = 8
LASTING_SHARE, LASTING_WINDOWS = 0.1, 1000
"""Where other flows still send, a cycle of paused ports is a deadlock if it lasts for this share of the run, and for so
many windows of the engine."""

Progress = Callable[[float, float], None]
"""Receives the share of payload that has arrived, and the simulated time [ns]."""


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """One run. stuck: why flows are left, in a sentence without its end; empty when all are done."""

    scenario: Scenario
    engine: Engine
    result: SeedResult
    stuck: str
    samples: Samples | None


def run(scenario: Scenario, *, seed: int, record: bool = False, progress: Progress | None = None) -> Run:
    """Run a scenario until its flows are done, nothing can move, or its time is over. record: keep samples and pause
    frames, which changes no result."""
    engine = scenario_engine(scenario, seed=seed, pause_log=MOST_PAUSES if record else 0)
    sampler = Sampler(engine) if record else None
    cycle = _advance(engine, scenario.stop_ns, sampler, progress or (lambda _share, _now: None))
    if sampler is not None:
        sampler.finish()
    flows = engine.flows()
    stuck = "" if (flows.state == DONE).all() else _stuck(scenario, engine, cycle or _lasting_deadlock(engine))
    result = SeedResult.of(seed, flows, engine.counters(), scenario.network)
    return Run(scenario, engine, result, stuck, sampler.samples() if sampler else None)


def scenario_engine(scenario: Scenario, *, seed: int, pause_log: int = 0) -> Engine:
    """An engine at time 0 with the flows of a scenario. pause_log: pause frames that it keeps."""
    engine = Engine(
        scenario.network,
        scenario.routing,
        seed=seed,
        framing=scenario.framing,
        transports=[scenario.transport],
        quantum_ps=QUANTUM_PS,
        pause_log=pause_log,
    )
    engine.add(scenario.flows)
    return engine


def _advance(engine: Engine, stop_ns: float, sampler: Sampler | None, progress: Progress) -> tuple[int, ...]:
    """Run in slices; the queues of a deadlock, if there is one."""
    span, before = FIRST_SLICE_NS, -1
    while engine.now_ns < stop_ns:
        began = perf_counter()
        done = _slice(engine, min(stop_ns, engine.now_ns + span), sampler)
        moved, share = engine.progress()
        progress(share, engine.now_ns)
        if done:
            break
        if moved == before and (cycle := engine.deadlock()):
            return cycle
        before = moved
        span *= 2.0 if perf_counter() - began < SLICE_S else 0.5
    return ()


def _lasting_deadlock(engine: Engine) -> tuple[int, ...]:
    return engine.deadlock(max(LASTING_SHARE * engine.now_ns, LASTING_WINDOWS * engine.window_ns))


def _slice(engine: Engine, until_ns: float, sampler: Sampler | None) -> bool:
    """Run for a while, with samples where they are due. Whether all flows are done."""
    while sampler is not None and sampler.next_ns < until_ns:
        if engine.run(sampler.next_ns):
            return True
        sampler.take()
    return engine.run(until_ns)


def _stuck(scenario: Scenario, engine: Engine, cycle: tuple[int, ...]) -> str:
    flows = engine.flows()
    left = flows.id[flows.state != DONE].tolist()
    count = f"{len(left)} of {len(flows.id)} flows are not done ({named(left)})"
    if cycle:
        ports = [scenario.ports[queue // QUEUES] for queue in cycle]
        way = " > ".join(f"{node}:{port}" for node, port in (*ports, ports[0]))
        return f"{count}: PFC deadlock before {engine.now_ns / 1e6:.3f} ms, each port waits for the next: {way}"
    stalled = flows.id[flows.state == STALLED].tolist()
    if stalled:
        return f"{count}: no route for {named(stalled)}"
    return f"{count} at {scenario.stop_ns / 1e6:g} ms, where the scenario stops"


def named(flows: list[int]) -> str:
    """The first of some flows."""
    shown = ", ".join(map(str, flows[:MOST_NAMED]))
    return f"{shown} and {len(flows) - MOST_NAMED} more" if len(flows) > MOST_NAMED else shown
