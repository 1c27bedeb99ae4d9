"""What the waves of a change cost to plan: fabrics of 512 and 2,048 switches, with one port and with two for each NIC.

CPU of the planner alone, in a process that has the design: indexing the topology, packing, and the outage of each wave.
Each figure is the median of several rounds on one core.

    python benchmarks/bench_waves.py           # a minute
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from measured import machine, stay_on_one_core
from wave_fabrics import PODS_AND_SUPER_SPINES, intent_of

from railfab.deploy import Wave, waves_of
from railfab.fabric import Design, design
from railfab.topology.outages import outages

ROUNDS = 5


@dataclass(frozen=True, slots=True)
class Planned:
    """A planned fabric. Times are CPU [s]: of the design, of the index of outages, of all waves, of one outage."""

    fabric: Design
    waves: Sequence[Wave]
    design_s: float
    index_s: float
    waves_s: float
    outage_s: float


def planned(intent: Path) -> Planned:
    fabric, design_s = timed(lambda: design(intent))
    names = [node.name for node in fabric.topology.switches()]
    waves, waves_s = typical(lambda: waves_of(fabric, names))
    lost, index_s = typical(lambda: outages(fabric.topology))
    quarter = frozenset(waves[1].switches)
    return Planned(fabric, waves, design_s, index_s, waves_s, typical(lambda: lost(quarter))[1])


def typical(action: Callable[[], Any]) -> tuple[Any, float]:
    """The result and the median CPU time [s]."""
    runs = [timed(action) for _ in range(ROUNDS)]
    return runs[0][0], median(cpu_s for _, cpu_s in runs)


def timed(action: Callable[[], Any]) -> tuple[Any, float]:
    began_s = time.process_time()
    result = action()
    return result, time.process_time() - began_s


def rows() -> Iterator[tuple[str, ...]]:
    with tempfile.TemporaryDirectory() as folder:
        for switches in PODS_AND_SUPER_SPINES:
            for ports in (1, 2):
                path = Path(folder) / f"waves-{switches}-{ports}.yml"
                path.write_text(intent_of(switches, ports))
                run = planned(path)
                yield (
                    f"{len(run.fabric.topology.switches()):,}",
                    str(ports),
                    f"{len(run.fabric.topology.links):,}",
                    str(len(run.waves)),
                    f"{max(len(wave.switches) for wave in run.waves):,}",
                    f"{run.design_s:.2f}",
                    f"{run.index_s:.2f}",
                    f"{run.waves_s:.2f}",
                    f"{run.outage_s * 1e3:.1f}",
                )


def main() -> None:
    stay_on_one_core()
    columns = (
        "switches",
        "ports a NIC",
        "links",
        "waves",
        "largest wave",
        "design, CPU s",
        "index, CPU s",
        "waves, CPU s",
        "an outage, CPU ms",
    )
    print(f"{machine()}, median of {ROUNDS}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)
    for row in rows():
        print(f"| {' | '.join(row)} |", flush=True)


if __name__ == "__main__":
    main()
