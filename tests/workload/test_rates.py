"""Rates and durations of collectives: laws of the links, NCCL's choice, and measurements of others."""

from __future__ import annotations

from statistics import median

import pytest
from tests.topology.fabric_intents import fabric
from tests.workload.references import rows

from railfab.errors import IntentError
from railfab.workload.algorithms import ALGORITHMS
from railfab.workload.nccl import BLACKWELL, HOPPER, CostModel
from railfab.workload.operations import OPERATIONS
from railfab.workload.ranks import Span
from railfab.workload.rates import CALL_S, NETWORK_STEP_S, SCALE_UP_STEP_S, LinkRates, link_rates

RATES = LinkRates(nic=50e9, scale_up=400e9)
HOST, RAIL = Span(ranks=8, hosts=1, ranks_per_host=8), Span(ranks=4, hosts=4, ranks_per_host=1)
WHOLE = Span(ranks=32, hosts=4, ranks_per_host=8)
H100 = link_rates(fabric(hosts={"nic_ports": 1, "rate_gbps": 400}))
"""Hosts of 8 GPUs, with NVLink 4 and a NIC of 400 Gb/s each."""
LARGE = 8 << 30


def whole_hosts(hosts: int, ranks_per_host: int = 8) -> Span:
    return Span(ranks=hosts * ranks_per_host, hosts=hosts, ranks_per_host=ranks_per_host)


def bus_gb_per_s(
    op: str, span: Span, size_bytes: float = LARGE, *, algorithm: str | None = None, rates: LinkRates = H100
) -> float:
    seconds = rates.call(op, size_bytes, span, algorithm).seconds
    return OPERATIONS[op].bus_factor(span.ranks) * size_bytes / seconds / 1e9


def test_a_nic_carries_its_ports_less_headers() -> None:
    """Maintainers of nccl-tests (267) say 48 to 49 GB/s of a 400G NIC."""
    rates = link_rates(fabric(hosts={"nic_ports": 2, "rate_gbps": 200}))
    assert 48e9 < rates.nic < 49e9
    assert rates == H100
    assert rates.scale_up == pytest.approx(370e9, rel=0.01)


def test_pcie_is_a_ceiling_of_a_nic_and_not_of_each_of_its_ports() -> None:
    whole, wide, narrow = (
        link_rates(fabric(hosts={"nic_ports": 2, "rate_gbps": 200, **pcie})).nic
        for pcie in ({}, {"pcie_gbps": 500}, {"pcie_gbps": 250})
    )
    assert wide == whole
    assert narrow == pytest.approx(250 / 400 * whole)


def test_gpus_share_a_nic() -> None:
    rates = [link_rates(fabric(hosts={"nic_ports": 2, "rate_gbps": 200, "nic_per": each})).nic for each in ("gpu", 2)]
    assert rates[0] == pytest.approx(2 * rates[1])


def test_a_ring_leaves_a_host_by_the_nics_of_all_its_ranks() -> None:
    assert [RATES.bus("allreduce", span) for span in (HOST, RAIL, WHOLE)] == [400e9, 50e9, 400e9]
    assert LinkRates(nic=50e9, scale_up=300e9).bus("allgather", WHOLE) == 300e9


def test_an_alltoall_has_one_nic_for_what_leaves_the_host() -> None:
    assert RATES.bus("alltoall", WHOLE) == pytest.approx(50e9 * 31 / 24)
    assert RATES.bus("alltoall", RAIL) == 50e9


def test_without_a_scale_up_network_a_gpu_has_its_nic_alone() -> None:
    alone = LinkRates(nic=50e9, scale_up=None)
    calls = [alone.call("allreduce", LARGE, span).nic_bytes for span in (HOST, RAIL, WHOLE)]
    assert calls == pytest.approx([2 * (span.ranks - 1) / span.ranks * LARGE for span in (HOST, RAIL, WHOLE)])
    assert bus_gb_per_s("allreduce", WHOLE, rates=alone) == pytest.approx(50, rel=0.01)


def test_a_ring_crosses_the_network_once_for_each_host() -> None:
    crossing, inside = 3, 28
    steps_s = crossing * NETWORK_STEP_S + inside * SCALE_UP_STEP_S
    assert RATES.call("allgather", 0, WHOLE).seconds == pytest.approx(CALL_S + steps_s)
    assert RATES.call("allreduce", 0, WHOLE).seconds == pytest.approx(CALL_S + 1.4 * 2 * steps_s)
    assert RATES.call("alltoall", 0, WHOLE).seconds == pytest.approx(CALL_S + NETWORK_STEP_S)


def test_the_search_gives_each_nic_a_channel_that_nvlink_can_carry() -> None:
    """Eight channels of 48 GB/s would need 384 of the 370.8 GB/s of NVLink 4; of NVLink 5, they have 721.8."""
    hopper, blackwell = (
        CostModel(generation=each, nic=50e9, scale_up=rate, span=whole_hosts(4)).ring_channels()
        for each, rate in ((HOPPER, 370.8e9), (BLACKWELL, 721.8e9))
    )
    assert (hopper.count, hopper.bytes_per_s) == (8, 45e9)
    assert (blackwell.count, blackwell.bytes_per_s) == (8, 48e9)
    alone = CostModel(generation=HOPPER, nic=50e9, scale_up=370.8e9, span=whole_hosts(4, 1)).ring_channels()
    assert (alone.count, alone.bytes_per_s) == (1, 48e9)


def test_channels_are_those_of_nccl() -> None:
    """16 of a collective on 8 NICs; of a pair in an AllToAll 4, 2 and 1 up to 32, 64 and more ranks."""

    def model(hosts: int, ranks_per_host: int = 8) -> CostModel:
        return CostModel(generation=HOPPER, nic=50e9, scale_up=370.8e9, span=whole_hosts(hosts, ranks_per_host))

    assert (model(4).channel_count(), model(4, 1).channel_count()) == (16, 4)
    assert [model(hosts).channels_per_peer() for hosts in (2, 4, 8, 16, 64)] == [4, 4, 2, 1, 1]


@pytest.mark.parametrize(
    ("op", "hosts", "algorithm", "measured", "bar"),
    [
        ("allreduce", 4, None, 320, 0.1),  # nccl 1221, NCCL 2.19.3, RoCE
        ("allreduce", 4, "ring", 320, 0.1),
        ("allreduce", 4, None, 330.9, 0.1),  # Voltage Park, NCCL 2.24.3, InfiniBand
        ("allgather", 4, None, 323.5, 0.1),
        ("allreduce", 2, "ring", 330, 0.1),  # nccl 1221
        ("allreduce", 2, None, 430, 0.1),
        ("allreduce", 1, None, 478, 0.02),  # nccl-tests 212 and 290
        ("allreduce", 1, "ring", 370, 0.02),
        ("allgather", 1, None, 370, 0.02),
    ],
)
def test_bus_bandwidths_are_those_that_were_measured_on_h100(
    op: str, hosts: int, algorithm: str | None, measured: float, bar: float
) -> None:
    """Published runs of nccl-tests on hosts with 8 NICs of 400 Gb/s, at large sizes."""
    assert bus_gb_per_s(op, whole_hosts(hosts), algorithm=algorithm) == pytest.approx(measured, rel=bar)


def test_an_alltoall_has_the_rate_of_a_nic_and_reports_what_stays_inside_too() -> None:
    """48 GB/s of a NIC; for N hosts the bus bandwidth is N / (N - 1) of that (maintainers, nccl-tests 267 and 130)."""
    for hosts in (2, 4, 16):
        call = H100.call("alltoall", LARGE, whole_hosts(hosts))
        assert call.nic_bytes / call.seconds / 1e9 == pytest.approx(48, rel=0.05)
        assert bus_gb_per_s("alltoall", whole_hosts(hosts)) == pytest.approx(48 * hosts / (hosts - 1), rel=0.05)


def test_a_thousand_gpus_reduce_half_a_gigabyte_by_trees() -> None:
    """248 hosts of H200: about 350 GB/s, with dips under 300 (nccl-tests 283)."""
    assert 300 < bus_gb_per_s("allreduce", whole_hosts(248), 512e6) < 350
    assert bus_gb_per_s("allreduce", whole_hosts(248), 512e6, algorithm="ring") < 50


SIMAI = [row for row in rows("simai_collectives.csv") if int(row["bytes"]) >= 16 << 20]
GIB = 2**30
SIMAI_RATES = LinkRates(nic=48.5 * GIB, scale_up=360.0 * GIB, generation=HOPPER)
"""What SimAI was given, in its gigabytes."""


def simai_error(row: dict[str, str], *, volume_alone: bool = False) -> float:
    op, size_bytes, ranks = row["op"], int(row["bytes"]), int(row["ranks"])
    span = whole_hosts(max(1, ranks // 8), min(8, ranks))
    seconds = SIMAI_RATES.call(op, size_bytes, span).seconds
    if volume_alone:
        seconds = OPERATIONS[op].bus_factor(ranks) * size_bytes / SIMAI_RATES.bus(op, span)
    return abs(seconds * 1e6 / float(row["time_us"]) - 1)


@pytest.mark.parametrize("op", ["allgather", "reducescatter", "alltoall", "allreduce"])
def test_a_collective_of_any_size_takes_what_simai_says(op: str) -> None:
    """From tables of its authors' cluster, but of AllReduce: its file has no latencies for that."""
    errors = [simai_error(row, volume_alone=op == "allreduce") for row in SIMAI if row["op"] == op]
    assert len(errors) == 30
    assert median(errors) < 0.15
    assert max(errors) < 0.30


def test_nccl_has_these_algorithms_for_these_operations() -> None:
    """Ring for all; trees, and the switch of NVLink, for AllReduce; PAT with one GPU on each host alone."""
    several, alone = whole_hosts(4), whole_hosts(4, 1)

    def names(op: str, span: Span) -> set[str]:
        model = CostModel(generation=HOPPER, nic=50e9, scale_up=370.8e9, span=span)
        return {prediction.algorithm for prediction in model.predictions(op, 1e6)}

    assert names("allreduce", several) == {"ring", "double-binary-tree", "nvls-tree"}
    assert names("allreduce", alone) == {"ring", "double-binary-tree"}
    assert names("allgather", several) == names("broadcast", several) == {"ring"}
    assert names("reducescatter", alone) == {"ring", "pat"}
    for op in ("allreduce", "allgather", "reducescatter", "broadcast"):
        assert names(op, several) | names(op, alone) <= set(ALGORITHMS[op])


@pytest.mark.parametrize("op", [op for op in ALGORITHMS if op != "sendrecv"])
@pytest.mark.parametrize("hosts", [1, 2, 3, 16])
@pytest.mark.parametrize("up", [3600, 10, None])
def test_no_nic_carries_more_than_its_rate_with_any_algorithm(op: str, hosts: int, up: int | None) -> None:
    """On whole hosts, with NVLink, with a network that is slower than the NICs, and without one."""
    scale_up = {"gbps_per_gpu": up} if up else False
    rates = link_rates(fabric(hosts={"nic_ports": 1, "rate_gbps": 400, "scale_up": scale_up}))
    span = whole_hosts(hosts)
    for algorithm in (None, *ALGORITHMS[op]):
        try:
            call = rates.call(op, LARGE, span, algorithm)
        except IntentError:
            continue
        assert 0 <= call.nic_bytes / call.seconds <= rates.nic * 1.0001, algorithm


def test_nccl_takes_trees_for_small_arrays_and_more_bandwidth_for_large_ones() -> None:
    small, large = (H100.choice("allreduce", size, WHOLE) for size in (1024, LARGE))
    assert small is not None
    assert large is not None
    assert (small.algorithm, small.protocol) == ("double-binary-tree", "LL")
    assert (large.algorithm, large.protocol) == ("nvls-tree", "Simple")
    times = [H100.call("allreduce", 2.0**exponent, WHOLE).seconds for exponent in range(8, 34)]
    assert times == sorted(times)


@pytest.mark.parametrize(
    "changes", [{"scale_up": {"gbps_per_gpu": 2400}}, {"gpus": 4}, {"scale_up": {"name": "Infinity Fabric"}}]
)
def test_hosts_without_a_switch_that_adds_have_no_nvls(changes: dict[str, object]) -> None:
    rates = link_rates(fabric(hosts={"nic_ports": 1, "rate_gbps": 400, **changes}))
    choice = rates.choice("allreduce", LARGE, whole_hosts(4, 4))
    assert choice is not None
    assert choice.algorithm == "ring"


def test_an_algorithm_that_nccl_does_not_have_takes_its_rounds() -> None:
    """Halves of the array cross the NICs with the partner on another host, as no rank of the host can pass them on."""
    call = H100.call("allreduce", LARGE, RAIL, "halving-doubling")
    steps = 2 * 2
    assert call.seconds == pytest.approx(CALL_S + steps * NETWORK_STEP_S + 2 * 3 / 4 * LARGE / H100.nic)
    assert call.nic_bytes == pytest.approx(2 * 3 / 4 * LARGE)
    rings = H100.call("allreduce", LARGE, WHOLE, "hierarchical")
    assert rings.nic_bytes == pytest.approx(2 * 3 / 4 * LARGE / 8)
    with pytest.raises(IntentError):
        H100.call("allreduce", LARGE, whole_hosts(3), "halving-doubling")


def test_more_transfers_than_a_process_should_hold_are_refused() -> None:
    with pytest.raises(IntentError) as refused:
        H100.call("allgather", LARGE, whole_hosts(2048), "direct")
    problem = "268,419,072 transfers are more than the 8,388,608 that are held at most"
    assert str(refused.value) == f"collective.algorithm: {problem}. Use another algorithm, or fewer hosts."
    with pytest.raises(IntentError):
        H100.call("alltoall", LARGE, whole_hosts(2048), "hierarchical")
