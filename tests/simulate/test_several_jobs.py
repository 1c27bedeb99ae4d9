"""Jobs that share a fabric: exact solutions, what a fault changes, and what is refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from railfab.errors import RailfabError
from railfab.fabric import Design, design
from railfab.fabric.route_links import RouteLinks
from railfab.fabric.routed import routed
from railfab.forwarding import LinkTable
from railfab.intent import Job
from railfab.sim.fluid import FluidFlows, fluid_ends
from railfab.simulate import SharedJob, several_jobs, simulate_job, simulate_jobs
from railfab.simulate.endless import EndlessFlows
from railfab.simulate.named_faults import faults
from railfab.simulate.placed import placed_job
from railfab.simulate.several_jobs import MOST_STATES, _states, _Tenant
from railfab.workload import estimate

NARROW = """version: 1
fabric: narrow
hosts: {gpus: 2, rate_gbps: 400}
backend:
  segments: {count: 2, hosts: 4, rail_switches: 1, model: 7220-ixr-d5}
  spines: {count: 1, links_per_leaf: 1, rate_gbps: 400, model: 7220-ixr-d5}
"""
"""Two segments of four hosts, with one link of 400 Gb/s between each and the spine."""
UPLINK = "pod1-seg1-leaf1 ethernet-1/32"


@pytest.fixture(scope="module")
def narrow(tmp_path_factory: pytest.TempPathFactory) -> Design:
    (path := tmp_path_factory.mktemp("narrow") / "narrow.yml").write_text(NARROW)
    return design(path)


def ring(name: str, *places: str, ms: float | None = None, size: str = "1GB") -> Job:
    """A ring of hosts SEGMENT-HOST on both rails, behind a computation."""
    hosts = ["pod1-seg{}-host{}".format(*place.split("-")) for place in places]
    collective = {"collective": {"op": "allreduce", "algorithm": "ring", "bytes": size}}
    phases = [{"compute": {"ms": ms}}, collective] if ms else [collective]
    return Job.model_validate({"version": 1, "job": name, "hosts": hosts, "phases": phases})


A, B, INSIDE = ring("a", "1-1", "2-1"), ring("b", "1-2", "2-2"), ring("inside", "1-3", "1-4")


def ratio(shared: SharedJob) -> float:
    """Duration of the only operation beside the others at worst, over that alone."""
    (call,) = shared.calls
    return call.worst_s / call.alone_s


def test_two_equal_jobs_get_half_of_the_link_that_both_need(narrow: Design) -> None:
    """The uplink of 400 Gb/s carries two rails of 400 Gb/s each."""
    (a, b) = simulate_jobs([A, B], narrow)
    assert ratio(a) == pytest.approx(2.0, rel=1e-3)
    assert (a.expected.step_s, a.worst.step_s) == (b.expected.step_s, b.worst.step_s)
    (call,) = a.calls
    assert (call.beside, call.beside_operation) == ("b", "rail allreduce")
    assert call.flows == call.beside_flows > 0
    assert call.link.startswith(f"{UPLINK} > pod1-spine1")
    assert call.reason == "the links are too few"


def test_three_equal_jobs_get_a_third(narrow: Design) -> None:
    third = simulate_jobs([A, B, ring("c", "1-3", "2-3")], narrow)
    assert [ratio(job) for job in third] == pytest.approx([3.0] * 3, rel=1e-3)


def test_jobs_on_disjoint_links_have_exactly_the_steps_that_they_have_alone(narrow: Design) -> None:
    both = simulate_jobs([A, INSIDE], narrow)
    for job, shared in zip((A, INSIDE), both, strict=True):
        alone = simulate_job(job, narrow).step
        assert shared.alone.step.step_s == shared.expected.step_s == shared.worst.step_s == alone.step_s
        assert shared.slowest is None


def test_the_expected_step_agrees_with_the_shares_of_time_in_which_the_others_communicate(narrow: Design) -> None:
    """Computation takes the time t of a call alone, of which a share x is on the links: with duty d of both jobs a call
    takes t (1 + d x), and d = (1 + d x) / (2 + d x)."""
    alone = simulate_job(A, narrow)
    alone_s, (contention,) = alone.step.step_s, alone.contentions
    a, b = simulate_jobs([ring(job, f"1-{job}", f"2-{job}", ms=1e3 * alone_s) for job in ("1", "2")], narrow)
    on_links = contention.slowest_s / alone_s
    duty = (on_links - 2 + ((2 - on_links) ** 2 + 4 * on_links) ** 0.5) / (2 * on_links)
    assert a.expected.step_s == b.expected.step_s == pytest.approx(alone_s * (2 + duty * on_links), rel=1e-3)
    assert a.calls[0].duty == pytest.approx(duty, rel=1e-3)
    assert a.worst.step_s == pytest.approx(alone_s * (2 + on_links), rel=1e-3)


def test_steps_that_do_not_settle_say_between_what_they_vary(narrow: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    """In two turns: with the duty of a job alone, and with that of the step that follows from it."""
    alone_s = simulate_job(A, narrow).step.step_s
    jobs = [*(ring(job, f"1-{job}", f"2-{job}", ms=1e3 * alone_s) for job in ("1", "2")), INSIDE]
    assert [job.varying for job in simulate_jobs(jobs, narrow)] == [None] * 3
    monkeypatch.setattr(several_jobs, "MOST_TURNS", 2)
    first, second, inside = simulate_jobs(jobs, narrow)
    assert inside.varying is None
    assert first.varying == second.varying
    varying, (call,) = first.varying, first.calls
    assert varying is not None
    assert (varying.turns, varying.group, varying.op) == (2, "rail", "allreduce")
    assert varying.least_s < varying.most_s == first.expected.step_s
    assert varying.least_call_s < varying.most_call_s == call.expected_s
    duty = first.alone.contentions[0].slowest_s / first.alone.step.step_s
    slowed = call.alone_s * (1 + duty)
    assert varying.least_call_s == pytest.approx(slowed, rel=0.02)
    monkeypatch.setattr(several_jobs, "LAST_TURNS", 1)
    assert simulate_jobs(jobs, narrow)[0].varying is None, "the last turn alone"


def test_a_job_that_never_communicates_slows_nobody_down(narrow: Design) -> None:
    silent = Job.model_validate(
        {"version": 1, "job": "b", "hosts": ["pod1-seg1-host2"], "phases": [{"compute": {"ms": 1}}]}
    )
    a, b = simulate_jobs([A, silent], narrow)
    assert (a.worst.step_s, b.worst.step_s) == (a.alone.step.step_s, 0.001)


def test_a_fault_in_the_segment_of_a_job_changes_only_what_shares_links_with_it(narrow: Design) -> None:
    slow = faults(["slow-host=pod1-seg1-host3:100"], narrow.topology)
    healthy, faulty = (simulate_jobs([A, B, INSIDE], narrow, change=change) for change in (None, slow))
    assert [job.worst for job in faulty[:2]] == [job.worst for job in healthy[:2]]
    assert faulty[2].calls[0].worst_s == pytest.approx(4 * healthy[2].calls[0].worst_s, rel=2e-3)
    half = faults([f"slow-port={UPLINK.replace(' ', ':')}:200"], narrow.topology)
    faulty = simulate_jobs([A, B, INSIDE], narrow, change=half)
    assert faulty[0].calls[0].worst_s == pytest.approx(2 * healthy[0].calls[0].worst_s, rel=2e-3)
    assert faulty[2].worst == healthy[2].worst


def test_jobs_in_several_groups_take_turns_of_their_operations(narrow: Design) -> None:
    """A job is at worst beside the heavier operation of another one, and in the mean beside both in turn."""
    phases = [
        {"collective": {"op": "alltoall", "bytes": "1GB", "group": "all"}},
        {"collective": {"op": "allreduce", "algorithm": "ring", "bytes": "1GB"}},
    ]
    hosts = ["pod1-seg1-host2", "pod1-seg2-host2"]
    mixed = Job.model_validate({"version": 1, "job": "mixed", "hosts": hosts, "phases": phases})
    a, both = simulate_jobs([A, mixed], narrow)
    assert a.calls[0].alone_s < a.calls[0].expected_s <= a.calls[0].worst_s
    assert sum(call.duty for call in both.calls) == pytest.approx(1.0, abs=0.05)
    assert all(call.beside == "a" and call.worst_s > call.alone_s for call in both.calls)


def test_states_of_two_jobs_are_all_of_their_combinations() -> None:
    first, second = (0, ("rail", "allreduce", "ring", 0)), (1, ("all", "alltoall", "direct", 0))
    shares = {active: share for share, active in _states([[(first, 0.5)], [(second, 0.25)]])}
    assert shares == {
        frozenset(): 0.375,
        frozenset({first}): 0.375,
        frozenset({second}): 0.125,
        frozenset({first, second}): 0.125,
    }


def test_of_too_many_states_some_are_drawn_by_their_probabilities() -> None:
    choices = [[((job, ("rail", "allreduce", "ring", 0)), 0.5)] for job in range(8)]
    states = list(_states(choices))
    assert len(states) == MOST_STATES
    assert sum(share for share, _ in states) == pytest.approx(1.0)
    assert sum(share * len(active) for share, active in states) == pytest.approx(4.0, abs=0.6)
    assert list(_states(choices)) == states


def test_only_flows_that_share_a_link_are_joined_also_over_others() -> None:
    flows = EndlessFlows.of(RouteLinks.single(np.array([[1, 2, -1], [2, 3, -1], [4, 5, 6], [1, 2, -1]])))
    assert sorted(flows.alike.tolist()) == [1, 1, 2]
    mask = np.zeros(8, np.bool_)
    mask[1] = True
    joined = flows.joined_to(mask)
    assert joined is not None
    assert (joined.crossing(2), joined.crossing(3), joined.crossing(4)) == (3, 1, 0)
    assert np.flatnonzero(mask).tolist() == [1], "what is given is not changed"
    mask[:] = False
    mask[4] = True
    alone = flows.joined_to(mask)
    assert alone is not None
    assert (alone.crossing(5), alone.crossing(2)) == (1, 0)
    mask[:] = False
    mask[7] = True
    assert flows.joined_to(mask) is None


def test_a_flow_beside_an_endless_one_has_its_fair_rate_by_the_shares_of_packets_that_take_the_link() -> None:
    """Half of the packets of a flow, and all of an endless one on a link of 12 B/s: each sends 8 B/s."""
    none = np.zeros(0, np.int64)
    flows = FluidFlows(
        paths=np.array([[0, 1]]),
        shares=np.array([[0.5, 0.5]]),
        route=np.array([0]),
        alike=np.array([1]),
        payload_bytes=np.array([80.0]),
        latency_s=np.array([0.0]),
        earlier=none,
        later=none,
    )
    endless = EndlessFlows.of(RouteLinks.single(np.array([[0, 2, 3]])))
    assert fluid_ends(endless.beside(flows), np.full(4, 12.0)).tolist() == pytest.approx([10.0, np.inf])


@pytest.mark.parametrize(
    ("second", "message"),
    [
        (
            ring("b", "1-1", "2-2"),
            "jobs a and b: both run on pod1-seg1-host1. Use hosts: [pod1-seg1-host2, pod1-seg1-host3] in job b.",
        ),
        (ring("a", "1-2", "2-2"), "job a: two jobs have this name. Rename one of them."),
        (
            Job.model_validate({"version": 1, "job": "b", "phases": [{"compute": {"ms": 1}}]}),
            "jobs a and b: both run on pod1-seg1-host1 and 1 host more. State hosts in both jobs: the fabric has 8 "
            "hosts, and each has one job.",
        ),
    ],
)
def test_jobs_on_the_same_hosts_are_refused_with_both_names_and_a_host(
    narrow: Design, second: Job, message: str
) -> None:
    with pytest.raises(RailfabError) as raised:
        simulate_jobs([A, second], narrow)
    assert str(raised.value) == message


def test_the_hosts_of_the_remedy_are_free(narrow: Design) -> None:
    hosts = ["pod1-seg1-host2", "pod1-seg1-host3"]
    assert len(simulate_jobs([A, B.model_copy(update={"hosts": tuple(hosts)})], narrow)) == 2


def test_a_shared_run_says_what_it_does_not_see(narrow: Design) -> None:
    a, _ = simulate_jobs([A, INSIDE], narrow)
    assert "other jobs" not in a.expected.not_seen
    assert any("incasts, checkpoints" in text for text in a.expected.not_seen)
    assert "other jobs" in estimate(A, narrow.intent, narrow.topology).not_seen


def test_an_operation_runs_in_the_share_of_a_step_that_all_of_its_calls_take(narrow: Design) -> None:
    """Those of its own algorithm; operations that take longer than the step together share it."""
    tenant = _Tenant.alone_on(placed_job(A, narrow), narrow, routed(narrow).with_seed(1), lambda _: None)
    ((key, _),) = tenant.exchanges.items()
    step = tenant.alone.step
    (turn,) = step.collectives
    turns = replace(turn, calls=3, call_s=1.0), replace(turn, algorithm="tree", calls=5, call_s=1.0)
    assert tenant.duties(replace(step, step_s=4.0, collectives=turns)) == {key: 0.75}
    assert tenant.duties(replace(step, step_s=2.0, collectives=turns)) == {key: 1.0}


def test_as_many_states_as_are_tried_are_all_of_their_combinations() -> None:
    choices = [[((job, ("rail", "allreduce", "ring", 0)), 0.25)] for job in range(6)]
    shares = {active: share for share, active in _states(choices)}
    assert len(shares) == MOST_STATES == 64
    assert shares[frozenset()] == 0.75**6


def test_the_slowest_group_counts_beside_no_others(narrow: Design) -> None:
    port = next(name for node, name in LinkTable(narrow.topology).keys if node == "pod1-seg1-host3")
    slow = faults([f"slow-port=pod1-seg1-host3:{port}:100"], narrow.topology)
    _, inside = simulate_jobs([A, INSIDE], narrow, change=slow)
    assert inside.alone.contentions[0].median_s > 0
    assert inside.expected.step_s == inside.alone.step.step_s == inside.worst.step_s


def test_the_seed_is_that_of_the_hashes(narrow: Design) -> None:
    assert {job.alone.seed for job in simulate_jobs([A, INSIDE], narrow, seed=3)} == {3}


def test_the_operation_to_which_others_add_most_comes_first_and_the_job_with_most_flows_is_named(
    narrow: Design,
) -> None:
    exchange = {"collective": {"op": "alltoall", "bytes": "100MB", "group": "all"}}
    reduction = {"collective": {"op": "allreduce", "algorithm": "ring", "bytes": "1GB"}}
    hosts = ["pod1-seg1-host2", "pod1-seg2-host2"]
    orders = [
        Job.model_validate({"version": 1, "job": "mixed", "hosts": hosts, "phases": phases})
        for phases in ([exchange, reduction], [reduction, exchange])
    ]
    firsts = [simulate_jobs([A, job], narrow)[1].calls[0].op for job in orders]
    assert firsts == ["allreduce", "allreduce"]
    hosts = [f"pod1-seg{segment}-host{number}" for segment in (1, 2) for number in (2, 3)]
    wide = Job.model_validate({"version": 1, "job": "wide", "hosts": hosts, "phases": [exchange]})
    few = ring("few", "1-4", "2-4")
    alone = [simulate_jobs([A, rival], narrow)[0].calls[0].beside_flows for rival in (few, wide)]
    (call,) = simulate_jobs([A, few, wide], narrow)[0].calls
    assert alone[0] < alone[1] == call.beside_flows
    assert call.beside == "wide"


def test_a_link_that_jobs_state_to_be_slow_is_as_slow_as_the_slowest_of_them_for_all(narrow: Design) -> None:
    shape = {"layers": 2, "hidden": 1024, "heads": 8, "ffn": 4096, "vocabulary": 32000, "sequence": 512}

    def slow(name: str, factor: int, *hosts: str) -> Job:
        link = {"link": UPLINK.replace(" ", ":"), "factor": factor}
        return Job.model_validate({"version": 1, "job": name, "hosts": hosts, "model": shape, "stragglers": [link]})

    alone = simulate_job(A, narrow).contentions[0].slowest_s
    inside, outside = ("pod1-seg1-host3", "pod1-seg1-host4"), ("pod1-seg2-host3", "pod1-seg2-host4")
    for factors in ((4, 2), (2, 4)):
        a, *_ = simulate_jobs([A, slow("b", factors[0], *inside), slow("c", factors[1], *outside)], narrow)
        assert a.calls[0].alone_s == pytest.approx(4 * alone, rel=2e-3)
