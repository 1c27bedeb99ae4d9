"""How near the simulator's engine comes to ns-3, and how much sooner it is done.

    python benchmarks/bench_simulator.py                        # all scenarios, 5 seeds: about a minute
    python benchmarks/bench_simulator.py --seeds 20 ls64_a2a
    python benchmarks/bench_simulator.py --permutation-hosts    # without the permutations

Accuracy and speed come from the same runs with the settings of `railfab sim replay`. CPU seconds are those of the
engine's `run`; the first run of a process, in which compiled code is loaded, is not counted.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from simulator_reference import (
    REFERENCE,
    Compared,
    Timed,
    compared,
    permutation,
    permutations_of_ns3,
    reference_seeds,
    timed,
)

from railfab.sim.replay.scenario import load

COLUMNS = ("jct_ns", "fct_mean_ns", "fct_p99_ns", "ecn_marked", "pause_rx", "q_max_bytes")
SHARES = {"jct_ns": 0.05, "fct_mean_ns": 0.05, "fct_p99_ns": 0.07, "ecn_marked": 0.15, "pause_rx": 0.15}
SHARES["q_max_bytes"] = 0.10
LEAST_PAUSES = 20
LARGE = ("ls64_a2a", "ls64_perm_ecmp", "ls64_ring_ar", "permutation of 512", "permutation of 1024")
LARGE_TIMES, MEDIAN_TIMES, LEAST_TIMES = 80, 50, 25
SHORT_NS3_S, SHORT_S = 1.0, 0.030
LIMITS_S = {"permutation of 1024": 0.4, "ls64_ring_ar": 0.5}


@dataclass(frozen=True, slots=True)
class Measured:
    """A scenario. ns3_cpu_s: mean over the reference's seeds."""

    name: str
    runs: tuple[Timed, ...]
    columns: dict[str, Compared]
    ns3_cpu_s: float

    @property
    def cpu_s(self) -> float:
        return median(run.cpu_s for run in self.runs)

    @property
    def least_cpu_s(self) -> float:
        return min(run.cpu_s for run in self.runs)

    @property
    def times(self) -> float:
        return self.ns3_cpu_s / self.cpu_s


def measured(name: str, seeds: int) -> Measured:
    scenario, rows = load(REFERENCE / "scenarios" / name), reference_seeds(name)
    runs = tuple(timed(scenario, seed) for seed in range(1, seeds + 1))
    columns = {
        column: compared([run.result.row()[column] or 0.0 for run in runs], [float(row[column]) for row in rows])
        for column in COLUMNS
    }
    return Measured(name, runs, columns, fmean(float(row["ns3_cpu_s"]) for row in rows))


def measured_permutation(row: dict[str, str], seeds: int) -> Measured:
    """The reference has one run, of another draw of the permutation; the last completion is shown for the order."""
    runs = []
    for seed in range(1, seeds + 1):
        runs.append(timed(permutation(int(row["hosts"]), seed), seed))
    last_us = compared([(run.result.jct_ns or 0.0) / 1e3 for run in runs], [float(row["last_fct_us"])])
    return Measured(f"permutation of {row['hosts']}", tuple(runs), {"last_fct_us": last_us}, float(row["cpu_s"]))


def cell(found: Compared, share: float) -> str:
    """Error, and a mark: blank within the share, ~ within two standard errors only, ! neither."""
    mark = " " if abs(found.error) <= share else "~" if found.within(share) else "!"
    return f"{found.ours:11.0f} {found.reference:11.0f} {found.error:+7.1%}{mark}"


def print_accuracy(all_measured: Sequence[Measured]) -> None:
    for column in COLUMNS:
        print(f"\n{column}: ours, ns-3, error (bar {SHARES[column]:.0%}; ~ within 2 standard errors, ! a miss)")
        for found in all_measured:
            if counts(found, column):
                values = [run.result.row()[column] or 0.0 for run in found.runs]
                spread = stdev(values) / fmean(values) if len(values) > 1 and fmean(values) else 0.0
                print(f"  {found.name:24}{cell(found.columns[column], SHARES[column])}  our sd {spread:5.1%}")


def counts(found: Measured, column: str) -> bool:
    """Whether a column of a scenario is judged: marks where there are any, pauses where there are enough."""
    reference = found.columns[column].reference
    return reference > 0 if column != "pause_rx" else reference >= LEAST_PAUSES


def print_bars(all_measured: Sequence[Measured]) -> None:
    print("\nbars")
    errors = sorted(abs(found.columns["jct_ns"].error) for found in all_measured)
    verdict("jct_ns, median error at most 1.5 %", median(errors) <= 0.015, f"{median(errors):.2%}")
    for column, needed in (
        ("jct_ns", 1.0),
        ("fct_mean_ns", 1.0),
        ("fct_p99_ns", 1.0),
        ("ecn_marked", 0.85),
        ("pause_rx", None),
        ("q_max_bytes", 0.80),
    ):
        judged = [found for found in all_measured if counts(found, column)]
        missed = [found.name for found in judged if not found.columns[column].within(SHARES[column])]
        passes = len(missed) <= 1 if needed is None else len(judged) - len(missed) >= needed * len(judged)
        needs = "all but one" if needed is None else f"{needed:.0%}"
        text = f"{len(judged) - len(missed)} of {len(judged)}"
        verdict(f"{column} within {SHARES[column]:.0%}: {needs}", passes, text + "".join(f", not {n}" for n in missed))


def verdict(bar: str, passes: bool, text: str) -> None:
    print(f"  {'pass' if passes else 'FAIL'}  {bar:44} {text}")


def print_speed(all_measured: Sequence[Measured]) -> None:
    print("\nCPU seconds of the engine: ours median and least, ns-3, times")
    for found in all_measured:
        print(
            f"  {found.name:24}{found.cpu_s * 1e3:8.1f} ms {found.least_cpu_s * 1e3:8.1f} ms"
            f" {found.ns3_cpu_s:8.2f} s {found.times:6.0f} x"
        )
    print("\nbars")
    large = [found for found in all_measured if found.name in LARGE]
    rest = [found for found in all_measured if found.name not in LARGE]
    for bar, group, least in ((f"large: {LARGE_TIMES} x", large, LARGE_TIMES), ("others: 25 x", rest, LEAST_TIMES)):
        missed = [f"{found.name} {found.times:.0f} x" for found in group if found.times < least]
        verdict(bar, not missed, ", ".join(missed) or f"least {min((f.times for f in group), default=0):.0f} x")
    middle = median(found.times for found in all_measured)
    verdict(f"median: {MEDIAN_TIMES} x", middle >= MEDIAN_TIMES, f"{middle:.0f} x")
    short = [found for found in all_measured if found.ns3_cpu_s < SHORT_NS3_S]
    slow = [f"{found.name} {found.cpu_s * 1e3:.0f} ms" for found in short if found.cpu_s > SHORT_S]
    verdict("at most 30 ms where ns-3 took under 1 CPU-s", not slow, ", ".join(slow) or f"{len(short)} scenarios")
    for found in all_measured:
        if limit := LIMITS_S.get(found.name):
            verdict(f"{found.name}: at most {limit} CPU-s", found.cpu_s <= limit, f"{found.cpu_s:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("scenarios", nargs="*", help="names of scenarios; all by default, with the permutations")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--permutation-hosts", type=int, nargs="*", help="sizes of the permutations; 128 512 1024")
    arguments = parser.parse_args()
    names = arguments.scenarios or sorted(path.name for path in (REFERENCE / "scenarios").iterdir())
    sizes = arguments.permutation_hosts
    if sizes is None:
        sizes = [] if arguments.scenarios else [128, 512, 1024]
    timed(load(REFERENCE / "scenarios" / "incast2_pfconly"), 1)
    found = [measured(name, arguments.seeds) for name in names]
    print_accuracy(found)
    print_bars(found)
    wide = [measured_permutation(row, arguments.seeds) for row in permutations_of_ns3() if int(row["hosts"]) in sizes]
    for one in wide:
        print(f"\n{one.name}, last completion [us]: {cell(one.columns['last_fct_us'], 0.05)}")
    print_speed([*found, *wide])


if __name__ == "__main__":
    main()
