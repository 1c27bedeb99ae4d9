"""Steps of a ring AllReduce on pod64 with one spine left: every packet against fast-forward.

    python benchmarks/bench_fast_forward.py [SEEDS] [STEPS]

Prints CPU seconds, the time of the step, and counters, for each seed; then the cost of equal steps in a row.
"""

from __future__ import annotations

import sys
import time

from pod64_numbers import FRAMING, pod64, ring, routes

from railfab.sim import Engine
from railfab.sim.fast_forward import NEVER, FastForward, FastForwardPolicy

COMPUTE_NS = 150e6


def forward(seed: int, policy: FastForwardPolicy) -> FastForward:
    network = pod64()
    return FastForward(Engine(network, routes(network), seed=seed, framing=FRAMING), policy)


def step(engine: FastForward, number: int) -> str:
    """Run a step; what it took and gave."""
    began_ns, before, began_s = engine.now_ns, engine.counters(), time.process_time()
    engine.forget_finished()
    engine.add(ring(first=number * 256, start_ns=int(began_ns)))
    while not engine.run(engine.now_ns + 20e6):
        engine.counters()
    cpu_s = time.process_time() - began_s
    after = engine.counters()
    figures = {
        "CPU s": f"{cpu_s:.3f}",
        "step ms": f"{(engine.flows().finish_ns.max() - began_ns) / 1e6:.2f}",
        "marks": after.marked_packets.sum() - before.marked_packets.sum(),
        "of uplinks": after.marked_packets[256:].sum() - before.marked_packets[256:].sum(),
        "XOFF": after.xoff_sent.sum() - before.xoff_sent.sum(),
        "octets": after.sent_bytes.sum() - before.sent_bytes.sum(),
    }
    engine.run(engine.now_ns + COMPUTE_NS, stop_when_done=False)
    return "  ".join(f"{name} {value}" for name, value in figures.items())


def main(seeds: int, steps: int) -> None:
    for seed in range(1, seeds + 1):
        for name, policy in (("every packet", NEVER), ("fast-forward", FastForwardPolicy())):
            print(f"seed {seed}  {name}  {step(forward(seed, policy), 0)}", flush=True)
    engine, began_s = forward(1, FastForwardPolicy()), time.process_time()
    for number in range(steps):
        print(f"step {number}  {step(engine, number)}", flush=True)
    cpu_s = time.process_time() - began_s
    print(f"{engine.now_ns / 1e9:.2f} simulated s in {cpu_s:.2f} CPU s")


if __name__ == "__main__":
    main(*(int(word) for word in (sys.argv[1:] or ["2", "30"])))
