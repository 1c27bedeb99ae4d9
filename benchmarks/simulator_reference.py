"""The ns-3 reference of the simulator: what it measured, and how a figure of ours is held against it."""

from __future__ import annotations

import csv
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt
from pathlib import Path
from statistics import fmean, variance
from time import process_time

import numpy as np

from railfab.sim.replay.results import SeedResult
from railfab.sim.replay.run import scenario_engine
from railfab.sim.replay.scenario import Scenario, load

REFERENCE = Path(__file__).resolve().parents[1] / "tests" / "reference" / "simulator"
SEEDS_OF_AN_ERROR = 5
"""Standard errors are compared where the reference has so many seeds."""
LEAF_HOSTS, SPINES, FLOW_BYTES = 32, 8, 2_000_000


@dataclass(frozen=True, slots=True)
class Timed:
    """One run. cpu_s: of the engine's `run` alone, without imports, compiling, reading and the building of routes."""

    result: SeedResult
    cpu_s: float


def timed(scenario: Scenario, seed: int) -> Timed:
    """Run a scenario with the settings of `railfab sim replay`."""
    engine = scenario_engine(scenario, seed=seed)
    began = process_time()
    done = engine.run(scenario.stop_ns)
    cpu_s = process_time() - began
    if not done:
        raise SystemExit(f"{scenario.name}, seed {seed}: flows are left at the end")
    return Timed(SeedResult.of(seed, engine.flows(), engine.counters(), scenario.network), cpu_s)


def reference_seeds(name: str) -> list[dict[str, str]]:
    with (REFERENCE / "scenarios" / name / "seeds.csv").open(newline="") as lines:
        return list(csv.DictReader(lines))


def permutations_of_ns3() -> list[dict[str, str]]:
    with (REFERENCE / "scale_permutation.csv").open(newline="") as lines:
        return [row for row in csv.DictReader(lines) if row["simulator"].startswith("ns-3")]


@dataclass(frozen=True, slots=True)
class Compared:
    """Means over seeds. errors_apart: their difference in standard errors of it; infinite with too few seeds."""

    ours: float
    reference: float
    errors_apart: float

    @property
    def error(self) -> float:
        """Relative difference; 0 where both are 0."""
        if self.ours == self.reference:
            return 0.0
        return self.ours / self.reference - 1 if self.reference else float("inf")

    def within(self, share: float) -> bool:
        return abs(self.error) <= share or self.errors_apart <= 2.0


def compared(ours: Sequence[float], reference: Sequence[float]) -> Compared:
    difference = abs(fmean(ours) - fmean(reference))
    apart = float("inf")
    if len(reference) >= SEEDS_OF_AN_ERROR and len(ours) > 1:
        error = sqrt(variance(ours) / len(ours) + variance(reference) / len(reference))
        apart = difference / error if error else (0.0 if difference == 0 else float("inf"))
    return Compared(fmean(ours), fmean(reference), apart)


def permutation(hosts: int, seed: int = 1) -> Scenario:
    """The permutation that ns-3 was timed with: leaf-spine, 32 x 100G down and 8 x 400G up, 2 MB flows, payload 1000 B,
    ECMP; DCQCN, PFC and buffers as in the leaf-spine scenarios of the reference. Who sends to whom is drawn here."""
    leaves = hosts // LEAF_HOSTS
    document = json.loads((REFERENCE / "scenarios" / "ls64_perm_ecmp" / "scenario.json").read_text())
    document["name"] = f"permutation of {hosts}"
    document["nodes"] = hosts + leaves + SPINES
    document["switches"] = list(range(hosts, hosts + leaves + SPINES))
    document["queue_depth_watch"] = ""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "scenario.json").write_text(json.dumps(document))
        _write(folder / "links.csv", "a,a_port,b,b_port,rate_bps,delay_ns", _cables(hosts, leaves))
        _write(folder / "flows.csv", "flow,src,dst,size_bytes,start_ns,after,gap_ns", _pairs(hosts, seed))
        return load(folder)


def _cables(hosts: int, leaves: int) -> list[tuple[int, ...]]:
    down = [(h, 1, hosts + h // LEAF_HOSTS, 1 + h % LEAF_HOSTS, 10**11, 1000) for h in range(hosts)]
    up = [
        (hosts + leaf, 1 + LEAF_HOSTS + spine, hosts + leaves + spine, 1 + leaf, 4 * 10**11, 1000)
        for leaf in range(leaves)
        for spine in range(SPINES)
    ]
    return down + up


def _pairs(hosts: int, seed: int) -> list[tuple[int, ...]]:
    """A permutation without fixed points, drawn until there are none."""
    rng = np.random.default_rng(seed)
    target = rng.permutation(hosts)
    while (target == np.arange(hosts)).any():
        target = rng.permutation(hosts)
    return [(n, n, int(target[n]), FLOW_BYTES, 1000, -1, 0) for n in range(hosts)]


def _write(path: Path, header: str, rows: Sequence[Sequence[int]]) -> None:
    path.write_text("\n".join([header, *(",".join(map(str, row)) for row in rows)]) + "\n")
