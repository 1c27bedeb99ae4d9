"""Laws of the stages of a job: which ports send, to which ports, and how many bytes."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws import examples
from tests.topology.fabric_intents import fabric

from railfab.errors import IntentError
from railfab.intent import Job
from railfab.topology import PortKey, Topology, wire
from railfab.units import NS_PER_MS
from railfab.workload import Stage, Transfer, background, stages
from railfab.workload.job_hosts import hosts_of
from railfab.workload.stages import QUEUE_PAIRS, ring_pairs

TOPOLOGY: Topology = wire(fabric())
"""8 hosts of 8 NICs with 2 ports each."""
HOSTS = [node.name for node in TOPOLOGY.hosts()]
RAILS, PORTS = 8, 2
RAIL_OF = {(port.node, port.name): port.rail for port, _, _ in TOPOLOGY.ports()}


def job(**fields: object) -> Job:
    return Job.model_validate({"version": 1, "job": "made", **fields})


def stage(phase: dict[str, object], hosts: object = "all") -> Stage:
    (found,) = stages(job(hosts=hosts, phases=[phase]), TOPOLOGY)
    return found


def ring(size_bytes: int, hosts: object = "all") -> tuple[Transfer, ...]:
    return stage({"collective": {"op": "allreduce", "bytes": size_bytes}}, hosts).transfers


def incast(senders: object, receivers: int, size_bytes: int = 1000) -> tuple[Transfer, ...]:
    return stage(
        {"traffic": {"pattern": "incast", "senders": senders, "receivers": receivers, "bytes": size_bytes}}
    ).transfers


def payload(transfers: Iterable[Transfer]) -> float:
    return sum(transfer.payload_bytes for transfer in transfers)


@given(hosts=st.integers(2, len(HOSTS)), size_bytes=st.integers(1, 10**12))
@settings(max_examples=examples(30), deadline=None)
def test_a_ring_moves_twice_the_buffer_less_one_part_over_every_edge(hosts: int, size_bytes: int) -> None:
    """2 (n - 1) / n of the buffer on each of n edges of each rail (Patarasuk and Yuan, 2009)."""
    edge_bytes = 2 * (hosts - 1) / hosts * size_bytes
    edges: Counter[tuple[str, str, int | None]] = Counter()
    for found in ring(size_bytes, hosts):
        edges[found.source[0], found.target[0], RAIL_OF[found.source]] += found.payload_bytes  # type: ignore[assignment]
    assert len(edges) == hosts * RAILS
    assert list(edges.values()) == pytest.approx([edge_bytes] * len(edges))


@given(st.lists(st.sampled_from(HOSTS), min_size=2, unique=True))
@settings(max_examples=examples(30), deadline=None)
def test_the_steps_of_a_ring_pass_every_host_once_in_the_order_of_the_job(hosts: list[str]) -> None:
    following = dict(zip(hosts, [*hosts[1:], hosts[0]], strict=True))
    for found in ring(1_000_000, hosts):
        assert found.target[0] == following[found.source[0]]
        assert RAIL_OF[found.target] == RAIL_OF[found.source]
        assert found.target[1] == found.source[1]


def test_an_alltoall_goes_from_every_host_to_every_other_one_on_its_rail() -> None:
    transfers = stage({"collective": {"op": "alltoall", "bytes": 800}}).transfers
    pairs = {(each.source[0], each.target[0]) for each in transfers}
    assert pairs == {(a, b) for a in HOSTS for b in HOSTS if a != b}
    assert payload(transfers) == pytest.approx(RAILS * len(HOSTS) * 800 * (len(HOSTS) - 1) / len(HOSTS))


def test_an_algorithm_that_needs_a_power_of_two_names_the_job() -> None:
    collective = {"op": "allreduce", "algorithm": "halving-doubling", "bytes": 8}
    with pytest.raises(IntentError) as refused:
        stage({"collective": collective}, hosts=3)
    problem = "halving-doubling needs a power of two ranks, and there are 3. Use ring."
    assert str(refused.value) == f"job made: phases.0.collective.algorithm: {problem}"


def test_a_twin_refuses_a_collective_of_all_gpus() -> None:
    with pytest.raises(IntentError) as refused:
        stage({"collective": {"op": "allreduce", "bytes": 8, "group": "all"}})
    problem = "a twin has no group all. Use rail, or `railfab simulate`."
    assert str(refused.value) == f"job made: phases.0.collective.group: {problem}"


def test_bytes_are_split_evenly_over_the_ports_of_a_nic_and_its_queue_pairs() -> None:
    found = ring(1_000_000)
    flows = {(one.source, one.target, one.stream) for one in found}
    assert len(flows) == len(found) == len(HOSTS) * RAILS * PORTS * QUEUE_PAIRS
    assert {one.stream for one in found} == set(range(QUEUE_PAIRS))
    assert len({one.payload_bytes for one in found}) == 1


@pytest.mark.parametrize("hosts", [1, HOSTS[:1]])
def test_a_job_in_which_nothing_moves_is_refused(hosts: object) -> None:
    with pytest.raises(IntentError) as refused:
        ring(1_000_000, hosts)
    problem = "nothing takes any time. Use more hosts, or a compute phase."
    assert str(refused.value) == f"job made: phases: {problem}"


@given(receivers=st.integers(1, 8), senders=st.integers(1, 56), size_bytes=st.integers(1, 10**9))
@settings(max_examples=examples(30), deadline=None)
def test_an_incast_moves_its_bytes_from_each_sender_to_each_receiver(
    receivers: int, senders: int, size_bytes: int
) -> None:
    found = incast(senders, receivers, size_bytes)
    pairs = {(one.source, one.target) for one in found}
    sources, targets = {one.source for one in found}, {one.target for one in found}
    assert payload(found) == senders * receivers * size_bytes
    assert (len(pairs), len(sources), len(targets)) == (senders * receivers, senders, receivers)
    assert {host for host, _ in sources}.isdisjoint({host for host, _ in targets})


@given(st.integers(1, 56))
@settings(max_examples=examples(20), deadline=None)
def test_senders_of_an_incast_are_spread_over_the_hosts_rail_by_rail(senders: int) -> None:
    found = incast(senders, 1)
    by_host = Counter(one.source[0] for one in found)
    assert max(by_host.values()) - min(by_host.values()) <= 1
    assert len(by_host) == min(senders, len(HOSTS) - 1)
    assert {RAIL_OF[one.source] for one in found} == set(range(1, -(-senders // (len(HOSTS) - 1)) + 1))


@given(at_most=st.integers(1, 100), receivers=st.integers(1, 56))
@settings(max_examples=examples(20), deadline=None)
def test_an_incast_of_at_most_some_senders_has_all_that_there_are_if_those_are_fewer(
    at_most: int, receivers: int
) -> None:
    available = RAILS * (len(HOSTS) - -(-receivers // RAILS))
    assert incast({"at_most": at_most}, receivers) == incast(min(at_most, available), receivers)


@pytest.mark.parametrize(
    ("senders", "receivers", "ends", "fits"),
    [
        (57, 1, "57 senders and 1 receiver", "Use at most 56 senders"),
        (49, 9, "49 senders and 9 receivers", "Use at most 48 senders"),
        (1, 64, "1 sender and 64 receivers", "Use fewer receivers, or more hosts"),
        ({"at_most": 8}, 64, "1 sender and 64 receivers", "Use fewer receivers, or more hosts"),
    ],
)
def test_an_incast_with_too_few_gpus_is_refused(senders: object, receivers: int, ends: str, fits: str) -> None:
    with pytest.raises(IntentError) as refused:
        incast(senders, receivers)
    assert str(refused.value) == (
        f"job made: phases.0.traffic.senders: {ends} are too many for 64 GPUs. {fits}; "
        "GPUs on the hosts of the receivers use the scale-up network."
    )


def test_computing_takes_its_time_and_sends_nothing() -> None:
    found = stage({"compute": {"ms": 1.5}})
    assert (found.name, found.compute_ns, found.transfers) == ("compute", round(1.5 * NS_PER_MS), ())


def test_stages_are_the_phases_in_their_order() -> None:
    phases = [{"compute": {"ms": 1}}, {"collective": {"op": "allreduce", "bytes": 8}}, {"compute": {"ms": 2}}]
    assert [found.name for found in stages(job(phases=phases), TOPOLOGY)] == ["compute", "allreduce", "compute"]


@pytest.mark.parametrize(
    ("hosts", "problem"),
    [
        (9, "9 is more than the 8 hosts of the fabric. Use 8 or less."),
        (["nowhere"], f"the fabric has no host 'nowhere'. Use names such as {HOSTS[0]}."),
    ],
)
def test_hosts_that_the_fabric_does_not_have_are_refused(hosts: object, problem: str) -> None:
    with pytest.raises(IntentError) as refused:
        ring(8, hosts)
    assert str(refused.value) == f"job made: hosts: {problem}"


def test_background_traffic_is_a_share_of_each_port_on_the_edges_of_the_ring() -> None:
    compute: list[object] = [{"compute": {"ms": 1}}]
    found = background(job(hosts=3, phases=compute, background={"default": 20}), TOPOLOGY)
    edges = list(ring_pairs(job(hosts=3, phases=compute), TOPOLOGY))
    assert [(one.source, one.target) for one in found] == edges
    assert len(edges) == 3 * RAILS * PORTS
    assert {(one.traffic_class, one.rate_gbps) for one in found} == {("default", 20.0)}
    assert background(job(phases=compute), TOPOLOGY) == ()


def ports_of(transfers: Iterable[Transfer]) -> set[PortKey]:
    return {key for one in transfers for key in (one.source, one.target)}


def test_only_hosts_of_the_job_send_and_receive() -> None:
    assert {host for host, _ in ports_of(ring(8, 3))} == set(HOSTS[:3])


def test_background_is_a_function_whatever_is_imported_before_it() -> None:
    """A module of that name would hide it, once something else of the module has been imported."""
    text = "from railfab.workload import Background, background; assert callable(background)"
    subprocess.run([sys.executable, "-c", text], check=True)


def test_scattered_hosts_are_the_next_of_each_segment_in_turn() -> None:
    """Two segments of four hosts: a number takes the first ones, and ranks are in this order."""
    halves = HOSTS[:4], HOSTS[4:]
    scattered = [host for pair in zip(*halves, strict=True) for host in pair]
    asked = {"phases": [{"compute": {"ms": 1}}], "placement": {"hosts": "scattered"}}
    assert list(hosts_of(job(**asked), TOPOLOGY)) == scattered
    assert list(hosts_of(job(**asked, hosts=3), TOPOLOGY)) == scattered[:3]
    packed = {**asked, "placement": {"hosts": "packed"}}
    assert list(hosts_of(job(**packed, hosts=5), TOPOLOGY)) == HOSTS[:5]
