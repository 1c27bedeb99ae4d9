"""Jobs: CPU and memory of a step and of a collective, beside those measured of simulators of others, and of the packets
of a step.

    python benchmarks/bench_jobs.py [RUNS]
    python benchmarks/bench_jobs.py --packets FABRIC    # with an empty and a full memo
    python benchmarks/bench_jobs.py --whole FABRIC      # against all packets of all rounds at once: takes long

Each work has a process of its own; CPU seconds are those of the work, after Python and its modules have started.
"""

from __future__ import annotations

import csv
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from railfab.simulate import FabricEstimate

REFERENCE = Path(__file__).parents[1] / "tests" / "reference" / "jobs"
MODELS: dict[str, dict[str, Any]] = json.loads((REFERENCE / "models.json").read_text())
RINGS = {256: (0.23, 35), 512: (0.84, 100), 1024: (6.8, 354)}
"""CPU seconds and memory [MB] of ASTRA-sim, by ranks (AllReduce of 256 MiB by a ring on a flat network)."""
INTENT = {
    "version": 1,
    "fabric": "measured",
    "hosts": {"gpus": 8, "rate_gbps": 400, "gpu_memory_gb": 10_000},
    "backend": {
        "segments": {"count": 2, "hosts": 4, "rail_switches": 2, "model": "7220-ixr-d5"},
        "spines": {"count": 4, "rate_gbps": 400, "model": "7220-ixr-d5"},
    },
}
Work = Callable[[], object]


def ring(ranks: int) -> Work:
    """Rounds of a ring AllReduce of 256 MiB, and their time on a flat network."""
    from railfab.workload import RanksByHost, transfer_rounds

    def work() -> float:
        rounds = transfer_rounds("allreduce", "ring", RanksByHost((1,) * ranks), 256 << 20)
        return rounds.seconds(bytes_per_s=50e9, latency_s=1e-6)

    return work


def step(name: str) -> Work:
    """The estimate of a training step of a model of the reference, on hosts without cables: those were wired before."""
    from railfab.intent import FabricIntent, Job
    from railfab.topology import Node, Role, Topology
    from railfab.workload import estimate

    model = MODELS[name]
    hosts = range(1, model["world"] // 8 + 1)
    nodes = (Node(name=f"host{index}", role=Role.HOST, pod=1, segment=1, index=index) for index in hosts)
    topology = Topology(fabric="measured", nodes=tuple(nodes), links=())
    shape: dict[str, Any] = {
        **{"layers": model["L"], "hidden": model["h"], "heads": model["heads"], "ffn": model["ffn"]},
        **{"vocabulary": model["vocab"], "sequence": model["seq"]},
    }
    if "moe" in model:
        count, per_token = model["moe"]
        shape["experts"] = {"count": count, "per_token": per_token, "ffn": model["ffn"]}
    batches = model["gbs"] * model["tp"] * model["pp"] // model["world"]
    parallelism = {**{key: model[key] for key in ("tp", "pp", "ep")}, "micro_batches": batches}
    job = Job.model_validate({"version": 1, "job": "measured", "model": shape, "parallelism": parallelism})
    intent = FabricIntent.model_validate(INTENT)
    return lambda: estimate(job, intent, topology)


def idle() -> Work:
    """Nothing: what an idle process holds."""
    return lambda: None


def step_of(fabric: str, **options: Any) -> tuple[FabricEstimate, float, float]:
    """A step of Llama 3 70B on a fabric of the inventory, CPU seconds of it, and of the design and its routes."""
    from railfab.fabric import design
    from railfab.intent.load import load_job_file
    from railfab.sim.warm import compile_kernel
    from railfab.simulate import simulate_job
    from railfab.simulate.routed import routed

    inventory = Path(__file__).parents[1] / "inventory"
    compile_kernel()
    began_s = time.process_time()
    wanted = load_job_file(inventory / "jobs" / "llama3-70b.yml")[0]
    there = design(inventory / "fabrics" / f"{fabric}.yml")
    routes = routed(there)
    design_s = time.process_time() - began_s
    began_s = time.process_time()
    return simulate_job(wanted, there, fabric=routes, **options), time.process_time() - began_s, design_s


def in_process(code: str) -> str:
    """What Python prints in a process of its own."""
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); {code}"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def packets(fabric: str) -> None:
    """Print CPU seconds and memory of the packets of a step, with an empty memo and with a full one."""
    with tempfile.TemporaryDirectory() as folder:
        for state in ("empty", "full"):
            print(
                state,
                "memo:",
                in_process(f"import bench_jobs; bench_jobs.packets_once({fabric!r}, {folder!r})"),
                end="",
            )


def packets_once(fabric: str, folder: str) -> None:
    """Print what the packets of a step cost with a memo in a folder."""
    from railfab.simulate.memo import Memo

    result, cpu_s, design_s = step_of(fabric, packets=Memo(Path(folder)))
    memory_mb = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{fabric}: {cpu_s:.2f} CPU-s, design and routes {design_s:.1f}, {memory_mb:,.0f} MB; "
        f"step {result.step.step_s:.4f} s"
    )
    for held in result.contentions:
        print(f"  {held.group} {held.op}: {held.slowest_s * 1e3:.3f} ms, {held.tier}; {held.why or held.sample}")


def whole(fabric: str) -> None:
    """Print a step with components beside one with all packets at once."""
    from functools import partial

    from railfab.simulate import job
    from railfab.simulate.memo import Memo
    from railfab.simulate.packets import PacketTier

    parts, cpu_s, _ = step_of(fabric, packets=Memo(None))
    setattr(job, "PacketTier", partial(PacketTier, whole=True))  # noqa: B010
    all_at_once, whole_s, _ = step_of(fabric, packets=Memo(None))
    print(f"{fabric}: {cpu_s:.1f} CPU-s, all packets at once {whole_s:.1f}")
    for held, reference in zip(parts.contentions, all_at_once.contentions, strict=True):
        difference = held.slowest_s / reference.slowest_s - 1
        print(f"  {held.group} {held.op}: {held.slowest_s * 1e3:.3f} ms, {difference:+.2%} of all packets")
    print(f"  step {parts.step.step_s:.4f} s, {parts.step.step_s / all_at_once.step.step_s - 1:+.2%}")


def measure(kind: str, argument: str) -> None:
    """Print CPU seconds of a work, and the most memory of the process [MB]."""
    work = {"ring": lambda: ring(int(argument)), "step": lambda: step(argument), "idle": idle}[kind]()
    began_s = time.process_time()
    work()
    cpu_s = time.process_time() - began_s
    print(json.dumps([cpu_s, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024]))


def measured(kind: str, argument: str, runs: int) -> tuple[float, float, float]:
    """Least and median CPU seconds, and median memory [MB], of some processes."""
    command = [sys.executable, __file__, "--measure", kind, argument]
    figures = [json.loads(subprocess.run(command, check=True, capture_output=True).stdout) for _ in range(runs)]
    return min(cpu for cpu, _ in figures), median(cpu for cpu, _ in figures), median(mb for _, mb in figures)


def main(runs: int) -> None:
    print(f"load {os.getloadavg()[0]:.1f}; CPU seconds: least (median) of {runs} processes")
    idle_mb = measured("idle", "", runs)[2]
    print(f"idle process {idle_mb:.0f} MB")
    for ranks, (their_cpu_s, their_mb) in RINGS.items():
        least, middle, mb = measured("ring", str(ranks), runs)
        ours = f"{least:.4f} ({middle:.4f}) s, {mb - idle_mb:.0f} MB above idle"
        print(f"ring of {ranks}: {ours}; ASTRA-sim {their_cpu_s} s, {their_mb} MB: {their_cpu_s / least:.0f} times")
    with (REFERENCE / "steps_simai.csv").open(newline="") as file:
        theirs = {row["model"]: row for row in csv.DictReader(file) if row["variant"] == "no_overlap"}
    for name, row in theirs.items():
        least, middle, mb = measured("step", name, runs)
        ours = f"{least:.4f} ({middle:.4f}) s, {mb - idle_mb:.0f} MB above idle"
        ratio = float(row["cpu_s"]) / least
        print(f"step of {name}: {ours}; SimAI {row['cpu_s']} s, {row['rss_mb']} MB: {ratio:.1f} times")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--measure"]:
        measure(*sys.argv[2:])
    elif sys.argv[1:2] in (["--packets"], ["--whole"]):
        {"--packets": packets, "--whole": whole}[sys.argv[1]](sys.argv[2])
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 5)
