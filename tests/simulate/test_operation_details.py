"""Ranks and links of an operation: bytes are conserved, full links are those on which flows wait, and who waits."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from railfab.fabric import Design, design
from railfab.forwarding import LinkTable
from railfab.intent import Job
from railfab.intent.load import load_job_file
from railfab.simulate import FabricEstimate, OperationDetail, simulate_job
from railfab.simulate.named_faults import faults

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
RING_BYTES, EXCHANGED_BYTES = 1_000_000_000, 64_000_000
RING = {"op": "allreduce", "algorithm": "ring", "bytes": RING_BYTES}
EXCHANGE = {"op": "alltoall", "bytes": EXCHANGED_BYTES, "group": "all"}
NARROW = [f"switch=pod1-spine{number}" for number in (1, 2, 3)]


@pytest.fixture(scope="module")
def pod64() -> Design:
    return design(FABRICS / "pod64.yml")


def run(fabric: Design, collective: dict[str, object], *texts: str) -> FabricEstimate:
    job = Job.model_validate({"version": 1, "job": "made", "phases": [{"collective": collective}]})
    return simulate_job(job, fabric, change=faults(texts, fabric.topology), details=True)


def detail(fabric: Design, collective: dict[str, object], *texts: str) -> OperationDetail:
    (only,) = run(fabric, collective, *texts).details
    return only


def by_tier(fabric: Design, each: OperationDetail) -> dict[tuple[str, str], float]:
    """Bytes of all links by the roles of their ends."""
    links, sums = LinkTable(fabric.topology), {}
    for link, carried in enumerate(each.link_bytes.tolist()):
        ends = links.nodes[links.keys[link][0]].role, links.nodes[links.far_key(link)[0]].role
        sums[ends] = sums.get(ends, 0.0) + carried
    return sums


def test_every_nic_of_a_ring_sends_what_the_algorithm_says_and_what_it_receives(pod64: Design) -> None:
    ring = detail(pod64, RING)
    ports = LinkTable(pod64.topology).nics
    each = 2 * 7 / 8 * RING_BYTES / 2
    assert ring.link_bytes[ports] == pytest.approx(np.full(len(ports), each), rel=1e-6)
    assert ring.link_bytes[ports ^ 1] == pytest.approx(np.full(len(ports), each), rel=1e-6)


@pytest.mark.parametrize("texts", [(), NARROW], ids=["healthy", "one-spine"])
def test_what_hosts_send_arrives_and_what_goes_up_comes_down(pod64: Design, texts: list[str]) -> None:
    """Of an AllToAll 56 of 64 parts of each rank leave its host, and 32 its segment."""
    sums = by_tier(pod64, detail(pod64, EXCHANGE, *texts))
    assert sums["host", "leaf"] == pytest.approx(56 * EXCHANGED_BYTES, rel=1e-9)
    assert sums["leaf", "spine"] == pytest.approx(32 * EXCHANGED_BYTES, rel=1e-9)
    assert (sums["leaf", "host"], sums["spine", "leaf"]) == pytest.approx((sums["host", "leaf"], sums["leaf", "spine"]))


def test_no_link_carries_more_than_it_can_and_the_busiest_one_is_full(pod64: Design) -> None:
    narrow = detail(pod64, EXCHANGE, *NARROW)
    assert narrow.peak.max() == pytest.approx(1.0, abs=2e-3)
    assert (narrow.load <= narrow.peak + 1e-2).all()
    assert 0 < narrow.load.max() <= 1.0


def test_the_last_rank_ends_when_the_slowest_group_does(pod64: Design) -> None:
    result = run(pod64, RING, "slow-host=pod1-seg1-host1:25")
    (contention,), (ring,) = result.contentions, result.details
    assert ring.rank_s.max() == contention.slowest_s == ring.seconds
    assert ring.rank_ideal_s.max() == contention.ideal_s
    assert sorted(np.bincount(ring.group_of_rank).tolist()) == [8] * 8


def test_the_first_link_is_that_of_the_slowest_group_with_each_of_its_flows(pod64: Design) -> None:
    result = run(pod64, EXCHANGE, *NARROW)
    (contention,), (wait,) = result.contentions, result.waits()
    assert contention.busiest is not None
    first = wait.links[0]
    assert (first.link, first.flows, first.reason) == (
        contention.link,
        contention.busiest.flows,
        contention.busiest.reason,
    )
    for link in wait.links:
        assert sum(flows.flows for flows in link.collisions) == link.flows
        carried = sum(flows.flows * flows.bytes_per_s for flows in link.collisions)
        assert carried == pytest.approx(link.bytes_per_s, rel=5e-3), "flows wait on full links alone"
        assert all(flows.bytes_per_s < flows.alone_bytes_per_s for flows in link.collisions)
    assert wait.extra_s == pytest.approx(contention.extra_s)


def test_ranks_that_wait_at_a_link_are_ends_of_its_flows(pod64: Design) -> None:
    """A flow may leave by the NIC of another GPU of its host (PXN), so that hosts are compared."""
    (wait,) = run(pod64, EXCHANGE, *NARROW).waits()
    down = next(link for link in wait.links if link.tier == "spine > leaf")
    ends = {name.split()[0] for flows in down.collisions for name in (flows.source, flows.target)}
    assert {rank.host for rank in down.ranks} <= ends
    assert {rank.gpu for rank in down.ranks} <= set(range(8))


def test_a_slow_host_is_the_link_on_which_its_ring_waits(pod64: Design) -> None:
    (wait,) = run(pod64, RING, "slow-host=pod1-seg1-host1:25").waits()
    assert {link.tier for link in wait.links} == {"leaf > host"}
    first = wait.links[0]
    assert first.link.endswith("> pod1-seg1-host1 rail1-p0")
    assert first.reason == "it carries 3.1 of 12.3 GB/s"
    assert [rank.host for rank in first.ranks] == ["pod1-seg1-host1", "pod1-seg2-host4"]


def test_a_nic_with_one_port_left_is_the_reason_for_its_flows(pod64: Design) -> None:
    (wait,) = run(pod64, RING, "cable=pod1-seg1-host1:rail1-p0").waits()
    assert {link.reason for link in wait.links} == {"rail1-p0 of the NIC is down"}
    assert wait.ranks[0].seconds == pytest.approx(2 * wait.ranks[0].ideal_s, rel=0.01)
    assert wait.ranks[0].rank.gpu == 0


def test_nothing_waits_where_only_nics_limit(pod64: Design) -> None:
    for collective in (RING, EXCHANGE):
        (wait,) = run(pod64, collective).waits()
        assert (wait.links, wait.extra_s) == ((), 0.0)


def test_a_link_that_is_full_is_none_on_which_flows_wait_unless_they_get_less_than_their_nics_allow(
    pod64: Design,
) -> None:
    """With seed 1 the hashes fill three uplinks with as many flows as NICs can feed."""
    job, _ = load_job_file(FABRICS.parent / "jobs" / "llama3-70b.yml")
    free = simulate_job(job, pod64, details=True)
    pipeline = next(each for each in free.details if each.group == "pp")
    inner = np.setdiff1d(
        np.flatnonzero(pipeline.peak > 0.998), [nic ^ end for nic in LinkTable(pod64.topology).nics for end in (0, 1)]
    )
    assert len(inner) == 3
    assert [wait.links for wait in free.waits()] == [(), (), ()]


@pytest.mark.parametrize("seed", [1, 2])
def test_the_link_of_the_slowest_group_comes_before_others_that_are_as_full(pod64: Design, seed: int) -> None:
    job, _ = load_job_file(FABRICS.parent / "jobs" / "llama3-70b.yml")
    result = simulate_job(job, pod64, seed=seed, change=faults(NARROW, pod64.topology), details=True)
    wait, contention = result.waits()[0], next(each for each in result.contentions if each.group == "pp")
    assert (wait.group, wait.links[0].link) == ("pp", contention.link)
    assert wait.extra_s == pytest.approx(144 * contention.extra_s), "of 144 calls a step"


def test_details_are_kept_only_where_they_are_asked_for(pod64: Design) -> None:
    job = Job.model_validate({"version": 1, "job": "made", "phases": [{"collective": RING}]})
    said: list[str] = []
    assert simulate_job(job, pod64, say=said.append).details == ()
    assert said == ["rail allreduce of 8 groups"]
