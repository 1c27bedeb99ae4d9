"""What a drain saves on a twin: a ring job while all spines and super-spines go without power and come back, in waves.

The waves are those of `railfab deploy`. Each is drained before and undrained after it, or not; in the live fabric
behind a twin, without its servers, so that no deploy and no clock is part of it.

    python benchmarks/bench_rolling_change.py                       # with drains
    python benchmarks/bench_rolling_change.py --no-drain
    python benchmarks/bench_rolling_change.py --waves 1             # the first wave alone
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from measured import machine

from railfab.deploy import waves_of
from railfab.fabric import design
from railfab.forwarding import Marking
from railfab.intent import load_job
from railfab.text.folding import folded_all
from railfab.topology import Role
from railfab.twin.live import LiveFabric
from railfab.units import NS_PER_MS

REPOSITORY = Path(__file__).resolve().parent.parent
FABRIC = REPOSITORY / "benchmarks" / "fabrics" / "multi-pod-72.yml"
JOB = REPOSITORY / "inventory" / "jobs" / "ring.yml"
WITHOUT_POWER_S, BACK_S = 2.0, 16.0
"""Simulated time of the change, and until sessions are back: connections are retried after 10 s, and BFD takes 2 s."""
MOVED_S = 1.0
DROPS = ("dropped", "queue_dropped", "priority_refused", "no_route")


class RollingChange:
    """The fabric with the job at work, and its waves."""

    def __init__(self) -> None:
        fabric = design(FABRIC)
        upper = [node.name for node in fabric.topology.switches() if node.role is not Role.LEAF]
        self.waves = [wave.switches for wave in waves_of(fabric, upper)]
        lossless = fabric.intent.profile.lossless
        assert lossless is not None
        marking = Marking(dscp=lossless.dscp, cnp_dscp=lossless.cnp_dscp, priority=lossless.priority, seed=1)
        self._models = fabric.models
        self._live = LiveFabric(fabric.topology, design=fabric, marking=marking)
        self._live.configure_all(dict(fabric.models))
        self._live.start(load_job(JOB))
        self._steps = 0

    def report(self, part: str, seconds: float) -> None:
        """Let simulated time pass, and print the steps that ended in it and all drops so far."""
        for _ in range(round(seconds * 20)):
            self._live.advance(50 * NS_PER_MS)
        status = self._live.job_status()
        ended = status.steps - self._steps
        self._steps = status.steps
        times = [step.duration_s for step in status.recent][-ended:] if ended else []
        counters = self._live._newest().counters
        drops = "  ".join(f"{name} {int(counters[name].sum()):,}" for name in DROPS)
        longest = f"longest {max(times):.4f} s" if times else "none ended"
        print(f"{part:<14} {ended:>3} steps, {longest}; {drops}", flush=True)

    def drain(self, names: Sequence[str], drained: bool) -> None:
        self._live.configure_all({name: replace(self._models[name], drain=drained) for name in names})

    def power(self, names: Sequence[str], on: bool, drained: bool) -> None:
        for name in names:
            if on:
                self._live.power_on(name, replace(self._models[name], drain=drained))
            else:
                self._live.power_off(name)


def main(drained: bool, waves: int | None) -> None:
    print(machine())
    change = RollingChange()
    change.report("before", MOVED_S)
    for number, wave in enumerate(change.waves[:waves], 1):
        print(f"wave {number} of {len(change.waves)}: {folded_all(wave)}", flush=True)
        if drained:
            change.drain(wave, drained=True)
            change.report("drained", MOVED_S)
        change.power(wave, on=False, drained=drained)
        change.report("without power", WITHOUT_POWER_S)
        change.power(wave, on=True, drained=drained)
        change.report("coming back", BACK_S)
        if drained:
            change.drain(wave, drained=False)
            change.report("undrained", MOVED_S)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--no-drain", action="store_true")
    parser.add_argument("--waves", type=int)
    options = parser.parse_args()
    main(not options.no_drain, options.waves)
