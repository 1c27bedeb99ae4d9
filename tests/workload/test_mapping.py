"""Laws of the flows of transfers: rails, ports, queue pairs, and what stays inside a host."""

from __future__ import annotations

import numpy as np
import pytest
from tests.topology.fabric_intents import fabric

from railfab.errors import IntentError
from railfab.topology import Topology, wire
from railfab.workload import MappedRounds, RanksByHost, mapped, transfer_rounds
from railfab.workload.algorithms import ALGORITHMS
from railfab.workload.job_hosts import gpu_nics

TOPOLOGY: Topology = wire(fabric())
"""8 hosts in two segments, of 8 NICs with 2 ports each, and 4 spines."""
HOSTS = tuple(node.name for node in TOPOLOGY.hosts())
NICS = gpu_nics(TOPOLOGY, HOSTS)
RAIL_OF = {(port.node, port.name): port.rail for port, _, _ in TOPOLOGY.ports()}
SIZE = 64e6
ACROSS = [(op, name) for op, algorithms in ALGORITHMS.items() for name in algorithms]


def whole_hosts(
    op: str, name: str, *, hosts: int = 4, channels: int = 8, scale_up: bool = True, pxn: bool = True
) -> MappedRounds:
    """An operation over all GPUs of some hosts."""
    rounds = transfer_rounds(op, name, RanksByHost((8,) * hosts), SIZE, channels=channels)
    gpus = [(host, rail) for host in HOSTS[:hosts] for rail in range(1, 9)]
    return mapped(rounds, gpus, NICS, scale_up=scale_up, pxn=pxn)


def rails(flows: MappedRounds) -> set[tuple[int | None, int | None]]:
    """Rails of both ends of every flow."""
    return {(RAIL_OF[source], RAIL_OF[target]) for source, target, _ in flows.whole_flows()}


@pytest.mark.parametrize(("op", "name"), ACROSS)
def test_no_flow_crosses_a_spine_between_rails(op: str, name: str) -> None:
    """A ring or tree leaves a host on the rail on which it came; what is sent to a GPU leaves on its rail (PXN)."""
    assert all(here == there for here, there in rails(whole_hosts(op, name)))


def test_without_pxn_an_alltoall_crosses_rails() -> None:
    assert len(rails(whole_hosts("alltoall", "direct", pxn=False))) == 64
    assert len(rails(whole_hosts("alltoall", "direct", scale_up=False))) == 64


def test_channels_take_the_rails_in_turn() -> None:
    flows = whole_hosts("allreduce", "ring", channels=16)
    channels = flows.rounds.table["channel"][flows.flows["transfer"]]
    taken = {
        (int(channel), RAIL_OF[flows.ports[port]])
        for channel, port in zip(channels, flows.flows["target"], strict=True)
    }
    assert taken == {(channel, channel % 8 + 1) for channel in range(16)}


def test_a_ring_over_whole_hosts_uses_every_port_alike() -> None:
    """Each of n ranks passes 2 (n - 1) / n of the array on; one rank of each host does so by a NIC."""
    sent: dict[object, float] = {}
    for (source, _, _), payload in whole_hosts("allreduce", "ring").whole_flows().items():
        sent[source] = sent.get(source, 0.0) + payload
    assert len(sent) == 4 * 8 * 2
    assert list(sent.values()) == pytest.approx([2 * 31 / 32 * SIZE / 8 / 2] * len(sent))


@pytest.mark.parametrize(("op", "name"), ACROSS)
def test_every_transfer_goes_by_ports_or_inside_its_host_and_whole(op: str, name: str) -> None:
    flows = whole_hosts(op, name)
    table, copies = flows.rounds.table, flows.copies
    crosses = table["source"] // 8 != table["target"] // 8
    assert np.bincount(flows.flows["transfer"], flows.flows["share"], len(table)) == pytest.approx(
        crosses.astype(float)
    )
    assert (copies["source"] // 8 == copies["target"] // 8).all()
    arrives = np.zeros(len(table), np.bool_)
    arrives[copies["transfer"][copies["target"] == table["target"][copies["transfer"]]]] = True
    assert (arrives == ~crosses).all()


def test_pxn_copies_to_the_gpu_on_the_rail_of_the_target() -> None:
    flows = whole_hosts("alltoall", "direct", channels=1, hosts=2)
    table = flows.rounds.table
    for transfer, source, relay in flows.copies.tolist():
        target = int(table["target"][transfer])
        assert source == table["source"][transfer]
        assert relay % 8 == target % 8 if target // 8 != source // 8 else relay == target


def test_one_rank_on_each_host_has_its_own_nic_alone() -> None:
    """Ranks on different rails: there is no GPU that could relay."""
    rounds = transfer_rounds("allreduce", "ring", RanksByHost((1, 1)), SIZE, channels=2)
    flows = mapped(rounds, [(HOSTS[0], 1), (HOSTS[1], 4)], NICS)
    assert rails(flows) == {(1, 4), (4, 1)}
    assert len(flows.copies) == 0


def test_queue_pairs_of_a_connection_share_it_and_keep_their_streams() -> None:
    rounds = transfer_rounds("allgather", "ring", RanksByHost((1, 1, 1)), 9e6, channels=2)
    whole = mapped(rounds, [(host, 1) for host in HOSTS[:3]], NICS, queue_pairs=4).whole_flows()
    assert {stream for _, _, stream in whole} == set(range(8))
    assert list(whole.values()) == pytest.approx([6e6 / 2 / 4 / 2] * 3 * 2 * 2 * 4)


def test_without_a_scale_up_network_gpus_of_a_host_talk_by_their_nics() -> None:
    rounds = transfer_rounds("allgather", "direct", RanksByHost((3,)), SIZE)
    flows = mapped(rounds, [(HOSTS[0], 1), (HOSTS[0], 2), (HOSTS[0], 2)], NICS, scale_up=False)
    assert rails(flows) == {(1, 2), (2, 1)}
    assert {(int(a), int(b)) for _, a, b in flows.copies} == {(1, 2), (2, 1)}


def test_a_gpu_without_nic_is_refused() -> None:
    rounds = transfer_rounds("allgather", "ring", RanksByHost((1, 1)), SIZE)
    with pytest.raises(IntentError) as refused:
        mapped(rounds, [(HOSTS[0], 1), (HOSTS[1], 9)], NICS)
    assert str(refused.value) == f"host {HOSTS[1]}: no NIC on rail 9. Use a GPU with a NIC."
