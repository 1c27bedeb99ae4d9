"""Jobs: CPU and memory of a step and of a collective, beside those measured of simulators of others, and of the packets
of a step.

    python benchmarks/bench_jobs.py [RUNS]
    python benchmarks/bench_jobs.py --tiers FABRIC           # whole commands: max-min, packets, packets again
    python benchmarks/bench_jobs.py --whole FABRIC LAYERS    # against all packets of all rounds at once: takes long
    python benchmarks/bench_jobs.py --balancing [RUNS]       # permutations under each balancing, against htsim

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
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

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
LLAMA3_70B = {"hidden": 8192, "heads": 64, "kv_heads": 8, "ffn": 28672, "vocabulary": 128256, "sequence": 8192}
MOST_APART = 0.02
"""Relative difference of a step in packets from that at max-min fair rates, for a job whose computation hides most of
its communication."""
OPERATION_RATIOS = (0.98, 1.5)
"""Least and greatest time of an operation in packets over that at max-min fair rates, with which it meets no queue."""
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


def tiers(fabric: str) -> None:
    """Print CPU seconds and memory of whole commands, with compiled kernels and a memo that is empty at first.

    Exits with what `tier_problems` names.
    """
    from railfab.compiled.cache import cache_base

    subprocess.run([sys.executable, "-m", "railfab.sim.warm"], check=True)
    kernels = cache_base()
    assert kernels is not None
    inventory = Path(__file__).parents[1] / "inventory"
    run = [sys.executable, "-m", "railfab", "simulate", str(inventory / "fabrics" / f"{fabric}.yml")]
    run += ["--job", str(inventory / "jobs" / "llama3-70b.yml"), "--output", "json", "--tier"]
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "railfab").mkdir()
        for kernel in kernels.glob("kernel-*"):
            (Path(folder) / "railfab" / kernel.name).symlink_to(kernel)
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        documents: list[Any] = []
        for name, tier in (
            ("max-min", "max-min"),
            ("packets, empty memo", "packets"),
            ("packets, full memo", "packets"),
        ):
            output = Path(folder) / "output.json"
            with output.open("wb") as file, subprocess.Popen([*run, tier], stdout=file, env=environment) as process:
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode:
                sys.exit(f"{fabric}, {name}: exit code {process.returncode}")
            documents.append(json.loads(output.read_text()))
            print(f"{fabric}, {name}: {used.ru_utime + used.ru_stime:.2f} CPU-s, {used.ru_maxrss / 1024:,.0f} MB")
    if problems := list(tier_problems(*documents)):
        sys.exit("\n".join(f"{fabric}: {problem}" for problem in problems))
    steps = [document["designs"][0]["estimate"]["step_s"] for document in documents]
    print(f"{fabric}: step {steps[0]:.4f} s at max-min fair rates, {steps[1] / steps[0] - 1:+.2%} in packets")


def tier_problems(max_min: Any, packets: Any, again: Any) -> Iterator[str]:
    """What is wrong with the documents of a job at max-min fair rates, in packets, and again: tiers that were not used,
    operations whose packets were not simulated, and times that differ by more than the bounds above."""
    steps = []
    for document, tier in ((max_min, "max-min"), (packets, "packets"), (again, "packets")):
        (there,) = document["designs"]
        steps.append(there["estimate"]["step_s"])
        if there["estimate"]["tier"] != tier:
            yield f"the tier is {there['estimate']['tier']} where {tier} was asked for"
        for held in (held for run in there["runs"] for held in run["contentions"]):
            if held["tier"] != tier:
                yield f"{held['group']} {held['op']} is at {held['tier']}: {held['why']}"
    fair, sent = (document["designs"][0]["runs"][0]["contentions"] for document in (max_min, packets))
    for before, held in zip(fair, sent, strict=True):
        ratio = held["slowest_s"] / before["slowest_s"]
        if not OPERATION_RATIOS[0] <= ratio <= OPERATION_RATIOS[1]:
            yield f"{held['group']} {held['op']} takes {ratio:.2f} times as long in packets as at max-min fair rates"
    if abs(steps[1] / steps[0] - 1) > MOST_APART:
        yield f"a step takes {steps[1]:.4f} s in packets and {steps[0]:.4f} at max-min fair rates"
    if packets != again:
        yield f"a step takes {steps[2]:.4f} s with a full memo and {steps[1]:.4f} with an empty one"


def whole(fabric: str, layers: int) -> None:
    """Print a step of a Llama 3 70B of some layers with components beside one with all packets at once."""
    from functools import partial

    from railfab.fabric import design
    from railfab.fabric.routed import routed
    from railfab.intent import Job
    from railfab.intent.load import load_job_file
    from railfab.simulate import job, simulate_job
    from railfab.simulate.memo import Memo
    from railfab.simulate.packets import PacketTier

    inventory = Path(__file__).parents[1] / "inventory"
    document = load_job_file(inventory / "jobs" / "llama3-70b.yml")[0].model_dump(exclude_unset=True)
    wanted = Job.model_validate({**document, "model": {**LLAMA3_70B, "layers": layers}})
    there = design(inventory / "fabrics" / f"{fabric}.yml")
    results = []
    for tier in (PacketTier, partial(PacketTier, whole=True)):
        setattr(job, "PacketTier", tier)  # noqa: B010
        began_s = time.process_time()
        results.append(simulate_job(wanted, there, fabric=routed(there), packets=Memo(None)))
        print(f"{fabric}, {layers} layers: {time.process_time() - began_s:.1f} CPU-s")
    for held, reference in zip(*(result.contentions for result in results), strict=True):
        slowest, middle = held.slowest_s / reference.slowest_s - 1, held.median_s / reference.median_s - 1
        print(f"  {held.group} {held.op}: {held.slowest_s * 1e3:.3f} ms, {slowest:+.2%} of all packets; {middle:+.2%}")
    steps = [result.step.step_s for result in results]
    print(f"  step {steps[0]:.4f} s, {steps[0] / steps[1] - 1:+.2%}")


def balancing(runs: int) -> None:
    """Print last completions and CPU seconds of permutations beside those of htsim."""
    from bench_balancing import print_balancing

    with (REFERENCE / "htsim.csv").open(newline="") as file:
        print_balancing(list(csv.DictReader(file)), runs)


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
    elif sys.argv[1:2] == ["--tiers"]:
        tiers(sys.argv[2])
    elif sys.argv[1:2] == ["--whole"]:
        whole(sys.argv[2], int(sys.argv[3]))
    elif sys.argv[1:2] == ["--balancing"]:
        balancing(int(sys.argv[2]) if sys.argv[2:] else 5)
    else:
        main(int(sys.argv[1]) if sys.argv[1:] else 5)
