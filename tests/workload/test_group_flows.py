"""Collectives as transfers take as long as in closed form, where only the ports of hosts limit them."""

from __future__ import annotations

import pytest
from tests.topology.fabric_intents import fabric

from railfab.topology import wire
from railfab.workload.group_flows import TransferList, group_flows, group_rounds
from railfab.workload.ideal_times import between_host_ports
from railfab.workload.job_hosts import gpu_nics
from railfab.workload.mapping import HostPorts, ranks_by_host
from railfab.workload.ranks import Span
from railfab.workload.rates import link_rates

INTENT = fabric(hosts={"gpus": 8, "nic_ports": 1, "rate_gbps": 400})
TOPOLOGY = wire(INTENT)
GPUS = 8
NAMES = tuple(node.name for node in TOPOLOGY.hosts())


def durations_s(op: str, algorithm: str, hosts: int, size_bytes: float) -> tuple[float, float]:
    """Of a collective of all GPUs of the first hosts: as transfers, and in closed form."""
    rates, ranks = link_rates(INTENT), tuple(range(hosts * GPUS))
    gpus = [(host, gpu + 1) for host in NAMES[:hosts] for gpu in range(GPUS)]
    ports = HostPorts(gpus=gpus, nics=gpu_nics(TOPOLOGY, NAMES[:hosts]), scale_up=rates.scale_up)
    span = Span(ranks=len(ranks), hosts=hosts, ranks_per_host=GPUS)
    call, channels = rates.call(op, size_bytes, span, algorithm), rates.channels(op, span)
    rounds = group_rounds(op, size_bytes, ranks_by_host(ranks, ports), algorithm=algorithm, channels=channels)
    to = TransferList()
    group_flows(rounds, ranks, ports, call).begin(to, [()] * len(ranks))
    return between_host_ports(INTENT, TOPOLOGY)(to.transfers), call.seconds


@pytest.mark.parametrize("hosts", [2, 3, 4, 8])
@pytest.mark.parametrize(
    ("op", "algorithm"),
    [("allreduce", "nvls-tree"), ("allreduce", "double-binary-tree"), ("allreduce", "ring"), ("alltoall", "direct")],
)
def test_a_collective_with_many_transfers_takes_as_long_as_in_closed_form(op: str, algorithm: str, hosts: int) -> None:
    """Chunks that follow each other in a pipeline have the latency of its links once, not for each of them."""
    for size_bytes in (16e6, 1e9):
        transfers_s, closed_s = durations_s(op, algorithm, hosts, size_bytes)
        assert closed_s <= transfers_s * 1.001
        assert transfers_s == pytest.approx(closed_s, rel=0.06)
