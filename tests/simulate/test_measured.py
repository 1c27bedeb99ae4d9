"""Measured collectives and the ceilings of a design: laws of faults and noise, and runs that are refused."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from math import exp, gamma, pi, sqrt
from pathlib import Path
from random import Random

import pytest
from tests.commands import run as command
from tests.docs.schemas import conforming
from tests.imports.nccl_output import Output, Row, at_rates

from railfab.errors import RailfabError
from railfab.fabric import Design, design
from railfab.fabric.host_names import HostNames
from railfab.fabric.routed import routed
from railfab.simulate.measured import DESIGN, LEAST_SHARE, measured_ceilings, nearest_cause, placed_run, simulated_calls
from railfab.simulate.run_difference import run_difference, t_quantile
from railfab.workload.measured_run import MeasuredRun, MeasuredSize, MeasuredTime
from railfab.workload.ranks import Span
from railfab.workload.rates import link_rates

FABRICS = Path("inventory/fabrics")
SIZES = [1 << power for power in range(30, 36)]
HOSTS = tuple(f"pod1-seg1-host{number}" for number in range(1, 5))
OPS = ("allreduce", "allgather", "reducescatter", "alltoall", "broadcast", "sendrecv")


@cache
def fabric_named(name: str) -> Design:
    return design(FABRICS / f"{name}.yml")


def run_of(op: str, rate: float, hosts: tuple[str, ...] = HOSTS, sizes: list[int] = SIZES) -> MeasuredRun:
    """A run with this bus bandwidth [bytes/s] at every size."""
    halves = [MeasuredTime(in_place=in_place, bus_bytes_per_s=rate, wrong=0) for in_place in (False, True)]
    return MeasuredRun(
        source="run.txt",
        op=op,
        gpus=[(host, gpu) for host in hosts for gpu in range(8)],
        groups=[list(range(8 * len(hosts)))],
        iterations=20,
        sizes=[MeasuredSize(size_bytes=size, measurements=tuple(halves)) for size in sizes],
    )


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("name", ["multi-rail", "shared-nic"])
def test_a_run_at_the_ceiling_of_a_fault_speaks_for_it(name: str, op: str) -> None:
    fabric = fabric_named(name)
    ceilings = measured_ceilings(placed_run(run_of(op, 1.0), fabric, HostNames()), fabric)
    assert ceilings.causes[0].cause == DESIGN
    assert len(ceilings.causes) > (1 if op == "sendrecv" else 2)
    for cause in ceilings.causes:
        again = measured_ceilings(placed_run(run_of(op, 0.97 * cause.bus_bytes_per_s), fabric, HostNames()), fabric)
        fitting = {each.cause: each.bus_bytes_per_s for each in again.fitting}
        assert cause.cause in fitting
        assert max(fitting.values()) * LEAST_SHARE <= cause.bus_bytes_per_s
    rates = [cause.bus_bytes_per_s for cause in ceilings.causes]
    assert rates == sorted(rates, reverse=True)


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("hosts", [2, 4, 16])
def test_hosts_with_fewer_nics_are_never_faster(op: str, hosts: int) -> None:
    span = Span(ranks=8 * hosts, hosts=hosts, ranks_per_host=8)
    rates = link_rates(fabric_named("multi-rail").intent)
    seconds = [replace(rates, missing=missing).call(op, 1 << 34, span).seconds for missing in range(8)]
    assert seconds == sorted(seconds)
    assert (seconds[-1] > 5 * seconds[0]) is (op != "sendrecv")


def test_a_gpu_that_sends_by_the_nic_of_another_halves_an_alltoall_in_the_simulation_too() -> None:
    fabric = fabric_named("routed")
    placed = placed_run(run_of("alltoall", 1.0), fabric, HostNames())
    shared = replace(placed, gpus=[(host, min(rail, 7)) for host, rail in placed.gpus])
    there, rates = routed(fabric), link_rates(fabric.intent)
    ideal = []
    for each in (placed, shared):
        calls = simulated_calls(each, fabric, there)
        calls.call(rates, "all", "alltoall", 1 << 34, each.span)
        (contention,) = calls.contentions.values()
        assert contention is not None
        ideal.append(contention.ideal_s)
    closed = [replace(rates, missing=missing).call("alltoall", 1 << 34, placed.span).seconds for missing in (0, 1)]
    assert ideal[1] / ideal[0] == pytest.approx(closed[1] / closed[0], rel=0.02)


def test_hashes_that_collide_are_a_range_of_seeds_below_the_design() -> None:
    fabric = fabric_named("gpu1024")
    hosts = tuple(f"pod1-seg{segment}-host{host}" for host in range(1, 5) for segment in (1, 2))
    placed = placed_run(run_of("allgather", 150e9, hosts), fabric, HostNames())
    there = routed(fabric)
    calls = [simulated_calls(placed, fabric, there.with_seed(seed)) for seed in (1, 2, 3)]
    ceilings = measured_ceilings(placed, fabric, calls)
    collisions = next(cause for cause in ceilings.causes if cause.cause.startswith("ECMP collisions"))
    assert ceilings.causes[0].cause == DESIGN
    assert collisions.least_bytes_per_s < collisions.bus_bytes_per_s < ceilings.causes[0].bus_bytes_per_s
    middle = (collisions.least_bytes_per_s + collisions.bus_bytes_per_s) / 2
    again = measured_ceilings(replace(placed, run=run_of("allgather", middle, hosts)), fabric, calls)
    assert collisions.cause in {cause.cause for cause in again.fitting}
    assert DESIGN not in {cause.cause for cause in again.fitting}
    assert {size.limit for size in ceilings.sizes} == {"network"}


def test_links_that_are_too_few_are_the_ceiling_of_the_design() -> None:
    fabric = design(FABRICS / "routed.yml", settings=("backend.spines.count=2", "backend.spines.links_per_leaf=1"))
    hosts = tuple(f"pod1-seg{segment}-host{host}" for host in range(1, 5) for segment in (1, 2))
    placed = placed_run(run_of("allgather", 120e9, hosts), fabric, HostNames())
    there = routed(fabric)
    calls = [simulated_calls(placed, fabric, there.with_seed(seed)) for seed in (1, 2)]
    first, *others = measured_ceilings(placed, fabric, calls).causes
    assert first.cause.startswith("the design (the links are too few")
    assert first.fits
    assert all(cause.bus_bytes_per_s < first.bus_bytes_per_s for cause in others)


def test_a_run_above_the_design_or_below_all_faults_fits_nothing() -> None:
    fabric = fabric_named("multi-rail")
    for rate in (900e9, 1e9):
        assert not measured_ceilings(placed_run(run_of("allgather", rate), fabric, HostNames()), fabric).fitting


def test_sizes_that_latency_limits_speak_for_nothing() -> None:
    fabric = fabric_named("multi-rail")
    run = run_of("allgather", 1e6, sizes=[8, 1024])
    ceilings = measured_ceilings(placed_run(run, fabric, HostNames()), fabric)
    assert ceilings.causes == ()
    assert {size.limit for size in ceilings.sizes} == {"latency"}
    assert ceilings.from_bytes is not None
    again = run_of("allgather", 300e9, sizes=[ceilings.from_bytes // 2, ceilings.from_bytes])
    bandwidth = measured_ceilings(placed_run(again, fabric, HostNames()), fabric)
    assert bandwidth.bandwidth_sizes == (ceilings.from_bytes,)


def test_the_ceiling_of_a_single_host_is_its_scale_up_network() -> None:
    fabric = fabric_named("multi-rail")
    ceilings = measured_ceilings(placed_run(run_of("allreduce", 470e9, HOSTS[:1]), fabric, HostNames()), fabric)
    assert [cause.cause for cause in ceilings.fitting] == [DESIGN]
    assert "no NVLS in the hosts" in {cause.cause for cause in ceilings.causes}
    assert {size.limit for size in ceilings.sizes} == {"scale-up"}


def _noisy(rate: float, noise: float, random: Random) -> MeasuredRun:
    run = run_of("allgather", rate)
    sizes = [
        replace(
            size,
            measurements=tuple(
                replace(half, bus_bytes_per_s=rate * exp(random.gauss(0, noise))) for half in size.measurements
            ),
        )
        for size in run.sizes
    ]
    return replace(run, sizes=sizes)


def test_noise_alone_differs_in_few_runs_and_a_lower_rate_in_all() -> None:
    random = Random(7)
    counts = Counter[str]()
    for _ in range(400):
        before, same, lower = (_noisy(rate, 0.004, random) for rate in (300e9, 300e9, 285e9))
        counts["same"] += any(size.differs for size in run_difference(before, same, SIZES).sizes)
        whole = run_difference(before, lower, SIZES)
        counts["lower"] += all(size.differs for size in whole.sizes)
        assert whole.least is not None
        assert whole.most is not None
        counts["within"] += whole.least <= 0.95 <= whole.most
    assert counts["same"] <= 400 * 0.08
    assert counts["lower"] >= 400 * 0.9
    assert 400 * 0.92 <= counts["within"] <= 400 * 0.98


def test_iterations_that_vary_more_than_the_halves_are_the_noise() -> None:
    before, after = run_of("allgather", 300e9), run_of("allgather", 290e9)
    assert all(size.differs for size in run_difference(before, after, SIZES).sizes)
    sizes = [
        replace(size, measurements=tuple(replace(half, variation=0.2) for half in size.measurements))
        for size in before.sizes
    ]
    assert not any(size.differs for size in run_difference(replace(before, sizes=sizes), after, SIZES).sizes)


def test_noise_of_sizes_that_latency_limits_hides_no_change_of_the_others() -> None:
    random = Random(3)
    small = [1 << power for power in range(10, 16)]
    few, many = (_noisy(300e9, noise, random) for noise in (0.001, 0.2))
    short = [replace(size, size_bytes=bytes_) for size, bytes_ in zip(many.sizes, small, strict=True)]
    lower = run_of("allgather", 290e9, sizes=[*small, *SIZES])
    found = run_difference(replace(few, sizes=[*short, *few.sizes]), lower, SIZES).sizes
    assert all(size.differs for size in found if size.size_bytes in SIZES)
    assert not all(size.differs for size in found if size.size_bytes in small)


def test_one_measurement_of_each_size_has_no_noise_that_is_known() -> None:
    run = run_of("allgather", 300e9)
    single = replace(run, sizes=[replace(size, measurements=size.measurements[:1]) for size in run.sizes])
    sizes = run_difference(single, single, SIZES).sizes
    assert [(size.noise, size.differs) for size in sizes] == [(None, False)] * len(SIZES)


def test_a_loss_is_that_of_the_fault_with_the_same_part_of_the_design() -> None:
    fabric = fabric_named("multi-rail")
    ceilings = measured_ceilings(placed_run(run_of("allgather", 330e9), fabric, HostNames()), fabric)
    for cause in ceilings.causes[1:]:
        part = cause.bus_bytes_per_s / ceilings.causes[0].bus_bytes_per_s
        assert nearest_cause(ceilings, 1.0001 * part) == (cause, part)


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 9, 30])
@pytest.mark.parametrize("probability", [0.9, 0.975, 0.9995])
def test_quantiles_of_t_are_those_of_its_density(freedom: int, probability: float) -> None:
    scale = gamma((freedom + 1) / 2) / (sqrt(freedom * pi) * gamma(freedom / 2))
    bound, steps = t_quantile(probability, freedom), 20_000
    points = (bound * (step + 0.5) / steps for step in range(steps))
    within = sum((1 + t * t / freedom) ** (-(freedom + 1) / 2) for t in points) * bound / steps
    assert 0.5 + scale * within == pytest.approx(probability, abs=1e-5)


PLACES = {
    "a host is unknown": ({"gpus": [("pod1-seg1-host1", 0), ("gpu7", 0)]}, "gpu7: the plan has no such host. Name the"),
    "too many hosts": (
        {"gpus": [(f"n{n}", 0) for n in range(17)]},
        "runs on 17 hosts, and the plan has 16. Use the in",
    ),
    "too many GPUs": (
        {"gpus": [("pod1-seg1-host1", 8)]},
        "uses GPU 8 of pod1-seg1-host1, and hosts of the plan have 8",
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_a_run_that_does_not_fit_the_plan_is_one_line(place: str) -> None:
    edit, message = PLACES[place]
    run = replace(run_of("allgather", 1.0), **edit, groups=[list(range(len(edit["gpus"])))])
    with pytest.raises(RailfabError) as refused:
        placed_run(run, fabric_named("multi-rail"), HostNames())
    assert str(refused.value).startswith(f"run.txt: {message}")


def test_hosts_have_the_names_of_the_cluster_or_the_first_places() -> None:
    fabric = fabric_named("multi-rail")
    planned = [host.name for host in fabric.topology.hosts()]
    names = HostNames({host: f"node{number}.site.example" for number, host in enumerate(planned)})
    run = run_of("allgather", 1.0, ("node3", "node1"))
    placed = placed_run(run, fabric, names)
    assert not placed.assumed
    assert list(dict.fromkeys(host for host, _ in placed.gpus)) == [planned[3], planned[1]]
    assumed = placed_run(run, fabric, HostNames())
    assert assumed.assumed
    assert list(dict.fromkeys(host for host, _ in assumed.gpus)) == planned[:2]


def write(folder: Path, name: str, output: Output) -> str:
    path = folder / name
    path.write_text(output.json() if name.endswith(".json") else output.text())
    return str(path)


def test_the_command_compares_runs_and_its_document_fits_the_schema(tmp_path: Path) -> None:
    rates = [(size, 330e9) for size in SIZES]
    files = [
        write(tmp_path, "before.txt", at_rates("allgather", HOSTS, rates)),
        write(tmp_path, "after.json", at_rates("allgather", HOSTS, [(size, 0.53 * rate) for size, rate in rates])),
    ]
    intent = str(FABRICS / "multi-rail.yml")
    shown = command("measured", *files, "--with", intent)
    assert shown.returncode == 0
    assert max(map(len, shown.stdout.splitlines())) <= 80
    assert "speak for: the design, or a rail missing." in shown.stdout.replace("\n", " ")
    document = conforming("measured", command("measured", *files, "--with", intent, "--output", "json").stdout)
    (difference,) = document["differences"]
    assert difference["ratio"] == pytest.approx(0.53, rel=0.01)
    assert all(size["differs"] for size in difference["sizes"])
    assert [run["file"] for run in document["runs"]] == ["before.txt", "after.json"]


def test_wrong_data_is_an_error_and_exit_code_1(tmp_path: Path) -> None:
    row = Row(1 << 30, (3000.0, 3000.0), (0, 12))
    path = write(tmp_path, "wrong.txt", Output("allgather", HOSTS, (row,)))
    shown = command("measured", path, "--with", str(FABRICS / "multi-rail.yml"))
    assert shown.returncode == 1
    assert "error: 12 elements of 1 GiB are wrong: the data was corrupted" in shown.stdout


def test_runs_of_two_operations_or_sizes_are_not_compared(tmp_path: Path) -> None:
    rates = [(size, 300e9) for size in SIZES]
    first = write(tmp_path, "a.txt", at_rates("allgather", HOSTS, rates))
    intent = str(FABRICS / "multi-rail.yml")
    second = write(tmp_path, "b.txt", at_rates("alltoall", HOSTS, rates))
    shown = command("measured", first, second, "--with", intent)
    assert (shown.returncode, shown.stderr) == (
        2,
        "railfab: b.txt: is a run of alltoall, and a.txt of allgather. Compare runs of one operation.\n",
    )
    third = write(tmp_path, "c.txt", at_rates("allgather", HOSTS[:2], rates))
    assert "c.txt: has 16 GPUs on 2 hosts, and a.txt 32 GPUs on 4 hosts." in (
        command("measured", first, third, "--with", intent).stderr
    )
