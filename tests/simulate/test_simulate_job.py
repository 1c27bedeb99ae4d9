"""A job on the links of a fabric: the closed form where nothing is in its way, and what faults and hashes add."""

from __future__ import annotations

from pathlib import Path

import pytest

from railfab.errors import RailfabError
from railfab.fabric import Design, design
from railfab.intent import Job
from railfab.simulate import FabricEstimate, exchange, simulate_job
from railfab.simulate.named_faults import faults
from railfab.workload import estimate

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
LEAVES = ["switch=pod1-seg1-leaf1", "switch=pod1-seg1-leaf2"]
SPINES = [f"switch=pod1-spine{number}" for number in range(1, 5)]


@pytest.fixture(scope="module")
def pod64() -> Design:
    return design(FABRICS / "pod64.yml")


def job(collective: dict[str, object], hosts: list[str] | str = "all") -> Job:
    document = {"version": 1, "job": "made", "hosts": hosts, "phases": [{"collective": collective}]}
    return Job.model_validate(document)


RING = job({"op": "allreduce", "algorithm": "ring", "bytes": "1GB"})
EXCHANGE = job({"op": "alltoall", "bytes": "64MB", "group": "all"})


def run(fabric: Design, asked: Job, *texts: str, seed: int = 1) -> FabricEstimate:
    return simulate_job(asked, fabric, seed=seed, change=faults(texts, fabric.topology))


@pytest.mark.parametrize("asked", [RING, EXCHANGE], ids=["ring", "alltoall"])
def test_a_step_is_that_of_the_closed_form_where_only_nics_limit_it(pod64: Design, asked: Job) -> None:
    """Rails are aligned and the fabric does not block: a ring crosses the spines from segment to segment alone."""
    result = run(pod64, asked)
    closed = estimate(asked, pod64.intent, pod64.topology)
    assert result.step.step_s == pytest.approx(closed.step_s, rel=1e-9)
    assert [contention.busiest for contention in result.contentions] == [None]


def test_one_spine_of_four_is_the_bottleneck_of_what_crosses_segments(pod64: Design) -> None:
    """36 of 63 parts of a rank are for the other segment, by a quarter of the uplinks, which hashes share unevenly."""
    healthy, narrow = run(pod64, EXCHANGE), run(pod64, EXCHANGE, *SPINES[:3])
    (contention,) = narrow.contentions
    assert 1.8 < contention.slowest_s / contention.ideal_s < 3.0
    assert "pod1-spine4" in contention.link
    assert contention.busiest is not None
    assert contention.busiest.share < 0.6
    added_s = contention.slowest_s - contention.ideal_s
    assert narrow.step.step_s == pytest.approx(healthy.step.step_s + added_s, rel=1e-6)


def test_a_spine_less_changes_nothing_for_a_ring_that_needs_a_quarter_of_the_uplinks(pod64: Design) -> None:
    assert run(pod64, RING, SPINES[0]).step == run(pod64, RING).step


def test_a_ring_is_as_slow_as_its_slowest_host(pod64: Design) -> None:
    (healthy,), (slow,) = (run(pod64, RING, *texts).contentions for texts in ((), ("slow-host=pod1-seg1-host1:25",)))
    assert slow.ideal_s == healthy.ideal_s
    assert slow.slowest_s / slow.ideal_s == pytest.approx(4.0, rel=0.01)


def test_a_nic_with_a_port_left_uses_that_port_and_one_without_is_named(pod64: Design) -> None:
    """A ring waits for its slowest edge, which has half of its rate."""
    (cut,) = run(pod64, RING, "cable=pod1-seg1-host1:rail1-p0").contentions
    assert cut.slowest_s / cut.ideal_s == pytest.approx(2.0, rel=0.01)
    assert cut.median_s == pytest.approx(cut.ideal_s, rel=1e-6)
    with pytest.raises(RailfabError, match=r"pod1-seg1-host1 rail1-p0 .*no path"):
        run(pod64, RING, "cable=pod1-seg1-host1:rail1-p0", "cable=pod1-seg1-host1:rail1-p1")


def test_equal_seeds_give_equal_steps_and_hashes_of_another_seed_another_one(pod64: Design) -> None:
    narrow = [run(pod64, EXCHANGE, *SPINES[:3], seed=seed).contentions[0].slowest_s for seed in (1, 1, 2)]
    assert narrow[0] == narrow[1] != narrow[2]


def test_a_rank_that_is_cut_off_is_named_with_the_reason(pod64: Design) -> None:
    with pytest.raises(RailfabError, match=r"pod1-seg1-host1 .* no path: .*pod1-seg1-leaf1.* no power"):
        run(pod64, RING, *LEAVES)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fire", "--fault fire: it is not a known fault. Use one of cable=NODE:INTERFACE, switch=NAME, host="),
        ("switch=spine1", "--fault switch=spine1: the fabric has no switch spine1. Use a name such as pod1-seg1-leaf1"),
        (
            "cable=pod1-spine1:x",
            "--fault cable=pod1-spine1:x: pod1-spine1 has no cabled port x. Use a port such as pod1",
        ),
        ("cable=x", "--fault cable=x: the fabric has no node x. Use a port such as pod1-seg1-host1:rail1-p0"),
        (
            "slow-host=pod1-seg1-host1",
            "--fault slow-host=pod1-seg1-host1: nothing is no rate above 0. Use a rate in Gb",
        ),
        (
            "slow-host=pod1-seg1-host1:nan",
            "--fault slow-host=pod1-seg1-host1:nan: nan is no rate above 0. Use a rate in",
        ),
        ("slow-host=x:1", "--fault slow-host=x:1: the fabric has no host x. Use a name such as pod1-seg1-host1"),
        ("host=pod1-spine1", "--fault host=pod1-spine1: the fabric has no host pod1-spine1. Use a name such as pod1"),
        (
            "slow-port=pod1-seg1-host1:rail1-p0",
            "--fault slow-port=pod1-seg1-host1:rail1-p0: nothing is no rate above 0. Use a rate in Gb/s, such as slow-"
            "port=pod1-seg1-host1:rail1-p0:10",
        ),
        (
            "slow-port=pod1-seg1-host1:rail9-p0:10",
            "--fault slow-port=pod1-seg1-host1:rail9-p0:10: pod1-seg1-host1 has no cabled port rail9-p0. Use a port",
        ),
    ],
)
def test_a_fault_that_cannot_be_is_one_line(pod64: Design, text: str, message: str) -> None:
    with pytest.raises(RailfabError) as raised:
        faults([text], pod64.topology)
    assert str(raised.value).startswith(message)


def test_the_remedies_for_faults_work(pod64: Design) -> None:
    texts = ["cable=pod1-seg1-host1:rail1-p0", "switch=pod1-seg1-leaf1", "slow-host=pod1-seg1-host1:10"]
    texts += ["slow-port=pod1-seg1-host1:rail1-p0:10"]
    change = faults(texts, pod64.topology)
    assert change is not None
    assert (len(change.cut), len(change.switch_faults), set(change.slow.values())) == (1, 1, {10.0})
    assert change.reduced == {("pod1-seg1-host1", "rail1-p0"): 10.0}
    assert faults([], pod64.topology) is None


def test_a_packed_job_needs_no_spine_and_a_scattered_one_crosses_them_with_every_edge(pod64: Design) -> None:
    phases = [{"collective": {"op": "allreduce", "algorithm": "ring", "bytes": "1GB"}}]
    packed, scattered = (
        Job.model_validate(
            {"version": 1, "job": "made", "hosts": 4, "phases": phases, "placement": {"hosts": placement}}
        )
        for placement in ("packed", "scattered")
    )
    assert run(pod64, packed, *SPINES).step == run(pod64, packed).step
    with pytest.raises(RailfabError, match="no path"):
        run(pod64, scattered, *SPINES)
    (narrow,) = run(pod64, scattered, *SPINES[:3]).contentions
    assert narrow.slowest_s > 1.5 * narrow.ideal_s


def test_equal_flows_of_a_single_round_are_followed_as_one_with_the_same_result(
    pod64: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    together = run(pod64, EXCHANGE, *SPINES[:3]).contentions[0]
    monkeypatch.setattr(exchange, "merged", lambda _rounds, carriers, _group_of: carriers)
    apart = run(pod64, EXCHANGE, *SPINES[:3]).contentions[0]
    assert together.slowest_s == pytest.approx(apart.slowest_s, rel=exchange.QUANTA[1])
    assert together.ideal_s == pytest.approx(apart.ideal_s, rel=exchange.QUANTA[1])
    assert together.busiest is not None
    assert apart.busiest is not None
    assert together.busiest.flows == apart.busiest.flows


def test_groups_that_are_spread_differently_over_hosts_run_together(pod64: Design) -> None:
    """Of groups of 6 ranks on hosts with 8 GPUs some are on one host, some on two."""
    shape = {"layers": 4, "hidden": 1536, "heads": 12, "ffn": 4096, "vocabulary": 32000, "sequence": 1536}
    document = {"version": 1, "job": "made", "hosts": 6, "model": shape, "parallelism": {"tp": 6}}
    result = run(pod64, Job.model_validate(document))
    tensor = next(held for held in result.contentions if held.group == "tp")
    assert (tensor.groups, tensor.algorithm) == (8, "ring")
    assert tensor.slowest_s >= tensor.median_s > 0


def test_a_job_names_what_it_does_not_follow(pod64: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchange, "MOST_FOLLOWED", 1000)
    result = run(pod64, EXCHANGE)
    assert result.contentions == ()
    assert result.unfollowed == (
        "all alltoall is in closed form: 8,064 transfers are more than the 1,000 that are held at most",
    )
