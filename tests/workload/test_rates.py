"""Rates and latencies of the links of a GPU, from an intent."""

from __future__ import annotations

import pytest
from tests.topology.fabric_intents import fabric

from railfab.workload.ranks import Span
from railfab.workload.rates import CALL_S, NETWORK_STEP_S, SCALE_UP_STEP_S, LinkRates, link_rates

RATES = LinkRates(nic=50e9, scale_up=400e9)
HOST, RAIL = Span(ranks=8, hosts=1, ranks_per_host=8), Span(ranks=4, hosts=4, ranks_per_host=1)
WHOLE = Span(ranks=32, hosts=4, ranks_per_host=8)


def test_a_nic_carries_its_ports_less_headers() -> None:
    """Maintainers of nccl-tests (267) say 48 to 49 GB/s of a 400G NIC."""
    rates = link_rates(fabric(hosts={"nic_ports": 2, "rate_gbps": 200}))
    assert 48e9 < rates.nic < 49e9
    assert rates.scale_up == pytest.approx(370e9)


def test_gpus_share_a_nic() -> None:
    rates = [link_rates(fabric(hosts={"nic_ports": 2, "rate_gbps": 200, "nic_per": each})).nic for each in ("gpu", 2)]
    assert rates[0] == pytest.approx(2 * rates[1])


def test_a_ring_leaves_a_host_by_the_nics_of_all_its_ranks() -> None:
    assert [RATES.bus("allreduce", span) for span in (HOST, RAIL, WHOLE)] == [400e9, 50e9, 400e9]
    assert LinkRates(nic=50e9, scale_up=300e9).bus("allgather", WHOLE) == 300e9


def test_an_alltoall_has_one_nic_for_what_leaves_the_host() -> None:
    assert RATES.bus("alltoall", WHOLE) == pytest.approx(50e9 * 31 / 24)


def test_without_a_scale_up_network_a_gpu_has_its_nic_alone() -> None:
    alone = LinkRates(nic=50e9, scale_up=None)
    assert {alone.bus("allreduce", span) for span in (HOST, RAIL, WHOLE)} == {50e9}


def test_a_ring_crosses_the_network_once_for_each_host() -> None:
    crossing, inside = 3, 28
    steps_s = crossing * NETWORK_STEP_S + inside * SCALE_UP_STEP_S
    assert RATES.call_s("allgather", 0, WHOLE) == pytest.approx(CALL_S + steps_s)
    assert RATES.call_s("allreduce", 0, WHOLE) == pytest.approx(CALL_S + 1.4 * 2 * steps_s)
    assert RATES.call_s("alltoall", 0, WHOLE) == pytest.approx(CALL_S + NETWORK_STEP_S)
