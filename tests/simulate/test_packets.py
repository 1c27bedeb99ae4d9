"""The packet tier: the closed form where nothing is in the way, components and a memo that change nothing, thresholds
of the intent that do, and runs that cannot end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from tests.sim.fabrics import lossless, network_of

from railfab.errors import RailfabError
from railfab.fabric import Design, design
from railfab.intent import Job
from railfab.simulate import Contention, FabricEstimate, packet_run, packets, simulate_job
from railfab.simulate import job as simulated_job
from railfab.simulate.canonical import canonical
from railfab.simulate.components import Component
from railfab.simulate.memo import Memo
from railfab.simulate.named_faults import faults
from railfab.simulate.network_colours import NetworkColours
from railfab.simulate.packet_run import PacketOutcome, PacketSettings, UnfinishedRun, run_packets
from railfab.workload import estimate

POD64 = Path(__file__).parents[2] / "inventory" / "fabrics" / "pod64.yml"
SPINES = [f"switch=pod1-spine{number}" for number in range(1, 4)]
MakeDesign = Callable[..., Design]


@pytest.fixture(scope="module")
def pod64() -> Design:
    return design(POD64)


@pytest.fixture
def made(tmp_path: Path) -> MakeDesign:
    """A design with other values of keys of its profile."""

    def make(base: Path = POD64, **profile: Any) -> Design:
        document = yaml.safe_load(base.read_text())
        document["profile"] |= profile
        (path := tmp_path / "made.yml").write_text(yaml.safe_dump(document))
        return design(path)

    return make


def job(collective: dict[str, object], hosts: list[str] | str = "all") -> Job:
    document = {"version": 1, "job": "made", "hosts": hosts, "phases": [{"collective": collective}]}
    return Job.model_validate(document)


RING = job({"op": "allreduce", "algorithm": "ring", "bytes": "64MB"})
EXCHANGE = job({"op": "alltoall", "bytes": "8MB", "group": "all"})


def run(fabric: Design, asked: Job, *texts: str, seed: int = 1, memo: Memo | None = None) -> FabricEstimate:
    change = faults(texts, fabric.topology)
    return simulate_job(asked, fabric, seed=seed, change=change, packets=memo or Memo(None))


def contention(result: FabricEstimate) -> Contention:
    (held,) = result.contentions
    return held


def test_a_ring_in_nobodys_way_takes_the_closed_form_in_packets(pod64: Design) -> None:
    """With headers; the latency of a step is NCCL's, which contains the network's."""
    result = run(pod64, RING)
    closed = estimate(RING, pod64.intent, pod64.topology)
    assert result.step.step_s == pytest.approx(closed.step_s, rel=0.01)
    assert result.step.tier == "packets"
    assert "queues, ECN and PFC thresholds" not in result.step.not_seen
    sample = contention(result).sample
    assert sample is not None
    assert (sample.components, sample.kinds, sample.dropped) == (8, 1, 0)


def test_a_full_memo_gives_what_an_empty_one_does(pod64: Design, tmp_path: Path) -> None:
    empty = Memo(tmp_path, "v1")
    first = run(pod64, EXCHANGE, *SPINES, memo=empty)
    full = Memo(tmp_path, "v1")
    assert run(pod64, EXCHANGE, *SPINES, memo=full) == first
    assert empty.misses > 0
    assert full.misses == 0


def test_a_fault_elsewhere_leaves_components_in_the_memo(pod64: Design, tmp_path: Path) -> None:
    """A host that is slow concerns the component of each of its rails, and no other ring."""
    asked = job({"op": "allreduce", "algorithm": "ring", "bytes": "8MB"}, ["pod1-seg1-host1", "pod1-seg1-host2"])
    healthy, slow = Memo(tmp_path, "v1"), Memo(tmp_path, "v1")
    first = run(pod64, asked, memo=healthy)
    assert run(pod64, asked, "slow-host=pod1-seg2-host1:25", memo=slow) == first
    assert slow.misses == 0
    assert run(pod64, asked, "slow-host=pod1-seg1-host1:25", memo=slow) != first
    assert slow.misses > 0


def test_components_and_memo_are_within_3_percent_of_all_packets(
    pod64: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = contention(run(pod64, EXCHANGE, *SPINES))
    monkeypatch.setattr(simulated_job, "PacketTier", partial(packets.PacketTier, whole=True))
    whole = contention(run(pod64, EXCHANGE, *SPINES))
    assert quick.slowest_s == pytest.approx(whole.slowest_s, rel=0.03)


def test_a_low_threshold_of_marks_changes_a_step_in_packets_and_not_at_max_min_fair_rates(
    pod64: Design, made: MakeDesign
) -> None:
    ramps = {rate: {"kmin_bytes": "5kB", "kmax_bytes": "20kB", "pmax_percent": 100} for rate in (100, 400)}
    low = made(lossless={"dscp": 26, "priority": 3, "cnp_dscp": 48, "ecn": ramps})
    before, after = (contention(run(fabric, EXCHANGE, *SPINES)) for fabric in (pod64, low))
    assert before.sample is not None
    assert after.sample is not None
    assert after.sample.marked > 1.5 * before.sample.marked
    assert abs(after.slowest_s / before.slowest_s - 1) > 0.005
    fair = [
        contention(simulate_job(EXCHANGE, fabric, change=faults(SPINES, fabric.topology))).slowest_s
        for fabric in (pod64, low)
    ]
    assert fair[0] == fair[1]


def test_without_pfc_packets_are_lost_and_the_step_is_longer(pod64: Design, made: MakeDesign) -> None:
    lossy = made(lossless={"dscp": 26, "priority": 3, "cnp_dscp": 48, "pfc": False, "ecn": False})
    before, after = (contention(run(fabric, EXCHANGE, *SPINES)) for fabric in (pod64, lossy))
    assert before.sample is not None
    assert after.sample is not None
    assert before.sample.dropped == 0
    assert after.sample.dropped > 0
    assert after.slowest_s != before.slowest_s


def test_more_packets_than_are_followed_leave_an_operation_at_max_min_with_the_reason(
    pod64: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packets, "MOST_HOPS", 1000)
    held = contention(run(pod64, EXCHANGE))
    assert held.tier == "max-min"
    assert "packets times links" in held.why


def test_a_long_transfer_is_continued_at_the_rates_of_its_beginning(
    pod64: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = contention(run(pod64, RING))
    monkeypatch.setattr(packets, "MOST_HOPS", 30_000)
    assert contention(run(pod64, RING)).slowest_s == pytest.approx(whole.slowest_s, rel=0.01)


def test_rounds_beyond_the_first_are_counted_from_these(pod64: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = contention(run(pod64, RING))
    monkeypatch.setattr(packets, "WHOLE_HOPS", 1000)
    assert contention(run(pod64, RING)).slowest_s == pytest.approx(whole.slowest_s, rel=0.01)


def test_sampling_says_how_components_spread_and_is_near_to_all_of_them(
    pod64: Design, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a pipeline over one spine: whose flows meet is drawn by hashes. Those that may be late are simulated."""
    shape = {"layers": 4, "hidden": 2048, "heads": 16, "ffn": 4096, "vocabulary": 32000, "sequence": 256}
    parallelism = {"tp": 1, "pp": 2}
    document = {"version": 1, "job": "made", "model": shape, "parallelism": parallelism}
    asked = Job.model_validate(document)
    whole = run(pod64, asked, *SPINES).contentions[0]
    for name, value in (("TOTAL_HOPS", 0), ("STANDARD_ERROR", 1.0), ("LEAST_SAMPLE", 2)):
        monkeypatch.setattr(packets, name, value)
    monkeypatch.setattr(packets, "DEVIATIONS", 1e6)
    late = run(pod64, asked, *SPINES).contentions[0]
    assert late.sample is not None
    assert (late.slowest_s, late.sample.simulated) == (whole.slowest_s, 4)
    monkeypatch.setattr(packets, "DEVIATIONS", 0.0)
    held = run(pod64, asked, *SPINES).contentions[0]
    assert whole.sample is not None
    assert held.sample is not None
    assert (whole.group, whole.sample.components, whole.sample.simulated) == ("pp", 4, 4)
    assert (whole.sample.standard_error, held.sample.simulated) == (0.0, 2)
    assert held.sample.least_ratio < held.sample.ratio < held.sample.most_ratio
    assert held.sample.standard_error > 0
    assert held.slowest_s == pytest.approx(whole.slowest_s, rel=0.2)


def circle() -> tuple[Component, NetworkColours, Any]:
    """Three switches in a circle, a host at each; each flow goes two switches further."""
    cables = [(0, 3), (1, 4), (2, 5), (3, 4), (4, 5), (5, 3)]
    network = lossless(network_of(cables, [False] * 3 + [True] * 3), xoff_bytes=30_000.0)
    paths = [[2 * at, 6 + 2 * at, 6 + 2 * ((at + 1) % 3), 2 * ((at + 2) % 3) + 1] for at in range(3)]
    none = np.zeros(0, np.int64)
    sizes = np.full(3, 20_000_000)
    part = Component(
        payload_bytes=sizes,
        latency_ns=np.zeros(3, np.int64),
        paths=np.array(paths),
        shares=np.ones((3, 4)),
        earlier=none,
        later=none,
        carrier=np.arange(3),
    )
    return part, NetworkColours.of(network), network


def test_packets_that_wait_for_each_other_in_a_circle_end_a_run_and_are_named() -> None:
    part, colours, network = circle()
    with pytest.raises(UnfinishedRun, match="deadlock of PFC") as raised:
        run_packets(canonical(part, colours), network, 1e-3, PacketSettings())
    assert sorted(raised.value.links) == [6, 8, 10]


def test_a_run_that_never_ends_says_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """A queue that takes no packet."""
    part, _, network = circle()
    limit = network.limit_bytes.copy()
    limit[6] = 1.0
    closed = replace(network, limit_bytes=limit)
    monkeypatch.setattr(packet_run, "LONGEST_NS", 1e9)
    with pytest.raises(UnfinishedRun, match=r"2 of 3 flows had not ended after \d+\.\d\d s, with [\d,]+ packets lost"):
        run_packets(canonical(part, NetworkColours.of(closed)), closed, 1e-3, PacketSettings())


def test_a_command_names_the_ports_that_wait(pod64: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    def stuck(*_: object) -> None:
        raise UnfinishedRun("packets wait for each other in a circle (a deadlock of PFC)", (0, 2))

    monkeypatch.setattr(packets, "run_packets", stuck)
    with pytest.raises(RailfabError, match=r"> .*, .* > .*: packets wait .*Look at PFC and the routes there, or use"):
        run(pod64, RING)


def test_groups_continue_at_the_pace_of_their_last_carriers() -> None:
    """Of two carriers of a rank the first one may be early in one round and late in another."""
    time = packets._ComponentTime(
        key="",
        seconds=np.array([3.9, 4.0, 5.0]),
        early_s=np.array([1.5, 2.0, 2.0]),
        later_rounds=10.0,
        outcome=PacketOutcome(ends_ns=np.zeros(0), marked=0, pauses=0, dropped=0),
    )
    assert time.group_seconds(np.array([0, 0, 1])).tolist() == [24.0, 35.0]


def phases(collective: dict[str, object], *sizes: str) -> Job:
    calls = [{"collective": {**collective, "bytes": size}} for size in sizes]
    return Job.model_validate({"version": 1, "job": "made", "phases": calls})


def test_near_sizes_are_simulated_once_where_packets_are_in_nobodys_way(pod64: Design) -> None:
    ring = {"op": "allreduce", "algorithm": "ring"}
    result = run(pod64, phases(ring, "16MB", "17MB", "20MB"))
    assert [held.size_bytes for held in result.contentions] == [16_000_000, 20_000_000]
    (near,) = (turn.call_s for turn in result.step.collectives if turn.size_bytes == 17_000_000)
    assert near == pytest.approx(run(pod64, phases(ring, "17MB")).step.collectives[0].call_s, rel=0.01)


def test_near_sizes_whose_packets_meet_queues_are_simulated_each(pod64: Design) -> None:
    """They may take another course."""
    result = run(pod64, phases({"op": "alltoall", "group": "all"}, "2MB", "2.1MB"), *SPINES)
    assert [held.size_bytes for held in result.contentions] == [2_000_000, 2_100_000]
