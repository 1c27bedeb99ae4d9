"""How fast the simulated fabric runs: simulated seconds per CPU second on a fabric, for the ring and the incast.

    python benchmarks/bench_simulator.py inventory/fabrics/pod64.yml inventory/jobs

Also the CPU time of a convergence after a configuration change, and of reading all samples.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

from railfab.device import DeviceModel, plan
from railfab.intent import load_intent, load_job
from railfab.topology import wire
from railfab.twin.live import LiveFabric
from railfab.units import NS_PER_S

ROUNDS = 20


def cpu_ms(action: Callable[[], object], rounds: int = ROUNDS) -> float:
    """CPU milliseconds of one call, mean of several."""
    began = time.process_time()
    for _ in range(rounds):
        action()
    return (time.process_time() - began) / rounds * 1e3


def speed(fabric: LiveFabric, job: Path, simulated_s: int) -> str:
    """Simulated seconds per CPU second, and what one pass of the job took."""
    fabric.start(load_job(job))
    cpu_s = cpu_ms(lambda: fabric.advance(simulated_s * NS_PER_S), rounds=1) / 1e3
    recent = fabric.job_status().recent
    step = recent[-1]
    return (
        f"{simulated_s / cpu_s:8.1f} simulated s per CPU s   {cpu_s / len(recent) * 1e3:7.1f} CPU ms a step   "
        f"communication {step.communication_s * 1e3:.2f} ms (ideal {step.ideal_s * 1e3:.2f} ms)"
    )


def main(intent_file: Path, jobs: Path) -> None:
    intent = load_intent(intent_file)
    topology = wire(intent)
    models: dict[str, DeviceModel] = plan(topology, intent)
    fabric = LiveFabric(topology)
    for name, model in models.items():
        fabric.configure(name, model)
    spines = [node.name for node in topology.switches() if node.segment is None]
    first = spines[0]
    print(f"{'convergence, idle':28} {cpu_ms(lambda: fabric.configure(first, models[first])):8.1f} CPU ms")
    print(f"{'ring':28} {speed(fabric, jobs / 'ring.yml', 20)}")
    print(f"{'convergence, ring running':28} {cpu_ms(lambda: fabric.configure(first, models[first])):8.1f} CPU ms")
    print(f"{'samples of all switches':28} {cpu_ms(lambda: [fabric.samples(name) for name in models]):8.1f} CPU ms")
    print(f"{'incast':28} {speed(fabric, jobs / 'incast.yml', 20)}")
    for name in spines[1:]:
        fabric.configure(name, None)
    print(f"{'ring, one spine left':28} {speed(fabric, jobs / 'ring.yml', 2)}")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), Path(sys.argv[2]))
