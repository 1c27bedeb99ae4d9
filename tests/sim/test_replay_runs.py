"""Replays against the reference and against their own laws, saved runs, and the explanations of them."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.sim.scenario_folders import leaf_spine, ring, star

from railfab.errors import RailfabError
from railfab.sim.replay.results import COLUMNS, mean
from railfab.sim.replay.run import Run, run
from railfab.sim.replay.saved import SavedPause, SavedRun, read_run, save
from railfab.sim.replay.scenario import load
from railfab.sim.replay.storm import Branch, storms
from railfab.sim.replay.why import explain

SCENARIOS = Path(__file__).parents[1] / "reference" / "simulator" / "scenarios"


def rows(name: str, file: str) -> list[dict[str, str]]:
    with (SCENARIOS / name / file).open(newline="") as lines:
        return list(csv.DictReader(lines))


def saved(scenario: Path, folder: Path) -> SavedRun:
    done = run(load(scenario), seed=1, record=True)
    save(done, [done.result], folder)
    return read_run(folder)


def test_two_senders_with_pfc_only_agree_with_the_reference() -> None:
    (reference,) = rows("incast2_pfconly", "seeds.csv")
    result = run(load(SCENARIOS / "incast2_pfconly"), seed=1).result
    for column in ("jct_ns", "fct_mean_ns", "fct_p99_ns", "paused_ns", "q_max_bytes"):
        assert getattr(result, column) == pytest.approx(float(reference[column]), rel=1e-3), column
    assert (result.pause_rx, result.ecn_marked, result.drops) == (258, 0, 0)


@pytest.mark.parametrize("name", [path.name for path in sorted(SCENARIOS.iterdir())])
def test_columns_are_defined_as_in_the_reference(name: str) -> None:
    """From the reference's own flows and ports of seed 1: what `SeedResult` says of each column."""
    seed = rows(name, "seeds.csv")[0]
    flows, ports = rows(name, "flows.csv"), rows(name, "ports.csv")
    fct = np.sort([float(flow["fct_ns"]) for flow in flows])
    assert float(seed["jct_ns"]) == max(float(flow["actual_start_ns"]) + float(flow["fct_ns"]) for flow in flows)
    assert float(seed["fct_p99_ns"]) == fct[min(len(fct) - 1, len(fct) * 99 // 100)]
    for column, of in (("ecn_marked", "ecn_marked"), ("pause_rx", "pause_rx"), ("paused_ns", "paused_ns")):
        assert int(seed[column]) == sum(int(port[of]) for port in ports)
    assert int(seed["q_max_bytes"]) == max(int(port["q_max_bytes"]) for port in ports if port["is_switch"] == "1")
    assert len(load(SCENARIOS / name).flows) == len(flows)


@pytest.mark.parametrize("name", ["ls16_poisson_mix", "ls16_ring_ar", "ls64_perm_ecmp"])
def test_every_port_sends_exactly_the_packets_of_the_reference(name: str) -> None:
    """Flows and acknowledgements take the reference's paths: the same hash, seeds, ports and order of next hops."""
    scenario = load(SCENARIOS / name)
    counters = run(scenario, seed=1).engine.counters()
    packets = (counters.sent_packets.sum(axis=1) + counters.ack_packets).tolist()
    reference = {(int(port["node"]), int(port["port"])): int(port["tx_pkts"]) for port in rows(name, "ports.csv")}
    assert dict(zip(scenario.ports, packets, strict=True)) == reference


def test_p99_is_an_element_of_the_sorted_completion_times(tmp_path: Path) -> None:
    done = run(load(star(tmp_path / "star", senders=8, cc=1, ecn=1)), seed=1)
    flows = done.engine.flows()
    assert done.result.fct_p99_ns == (flows.finish_ns - flows.start_ns).max()
    assert done.result.jct_ns == flows.finish_ns.max()


def test_the_mean_is_over_the_seeds_and_the_seeds_differ(tmp_path: Path) -> None:
    scenario = load(star(tmp_path / "star", senders=4, size=3_000_000, cc=1, ecn=1))
    results = [run(scenario, seed=seed).result for seed in (1, 2, 3)]
    assert len({result.ecn_marked for result in results}) > 1
    for column in COLUMNS:
        assert mean(results)[column] == pytest.approx(np.mean([getattr(result, column) for result in results]))


def test_recording_changes_no_result(tmp_path: Path) -> None:
    scenario = load(star(tmp_path / "star", senders=4, size=2_000_000, cc=1, ecn=1, buffer=1_000_000))
    plain, recorded = run(scenario, seed=3), run(scenario, seed=3, record=True)
    assert plain.result == recorded.result
    assert plain.result.pause_rx > 0
    assert plain.result.ecn_marked > 0
    assert (plain.engine.flows().finish_ns == recorded.engine.flows().finish_ns).all()


def test_samples_end_with_all_that_was_sent_and_stay_few(tmp_path: Path) -> None:
    done = run(load(star(tmp_path / "star", senders=2, rate_gbps=10, size=4_000_000)), seed=1, record=True)
    assert done.samples is not None
    times, sent = done.samples.times_ns, done.samples.sent_bytes
    assert np.ptp(np.diff(times)[:-1]) < 1e-3
    assert np.diff(times)[-1] > 0
    assert 512 <= len(times) <= 1026
    assert (np.diff(sent, axis=0) >= 0).all()
    assert sent[-1].tolist() == done.engine.counters().sent_bytes.sum(axis=1).tolist()
    assert 0.95 < done.samples.depth_bytes.max() / done.result.q_max_bytes <= 1.0


def test_a_deadlock_names_its_ports_and_ends_the_run_at_once(tmp_path: Path) -> None:
    done = run(load(ring(tmp_path / "ring", buffer=200_000, stop=1e15)), seed=1)
    assert done.stuck == (
        "5 of 5 flows are not done (0, 1, 2, 3, 4): PFC deadlock before 0.060 ms, "
        "each port waits for the next: 5:2 > 6:3 > 7:3 > 8:3 > 9:3 > 5:2"
    )
    assert done.result.jct_ns is None


def test_a_deadlock_is_named_although_other_flows_still_send_when_the_scenario_stops(tmp_path: Path) -> None:
    folder = ring(tmp_path / "ring", buffer=200_000, stop=2e6)
    (folder / "scenario.json").write_text((folder / "scenario.json").read_text().replace('"nodes": 10', '"nodes": 12'))
    with (folder / "links.csv").open("a") as links, (folder / "flows.csv").open("a") as flows:
        links.write("10,1,11,1,100000000000,1000\n")
        flows.write("5,10,11,100000000,1000,-1,0\n")
    done = run(load(folder), seed=1)
    assert done.stuck == (
        "6 of 6 flows are not done (0, 1, 2, 3, 4, 5): PFC deadlock before 2.000 ms, "
        "each port waits for the next: 5:2 > 6:3 > 7:3 > 8:3 > 9:3 > 5:2"
    )


def test_a_storm_that_the_stop_time_cuts_off_is_no_deadlock() -> None:
    """Ports wait for each other in a tree, and all move again."""
    scenario = load(SCENARIOS / "ls16_victim_pfconly")
    short = replace(scenario, parameters=replace(scenario.parameters, stop_ns=1_500_000.0))
    assert run(short, seed=1).stuck.endswith("at 1.5 ms, where the scenario stops")


def test_the_same_ring_with_more_buffer_is_done(tmp_path: Path) -> None:
    done = run(load(ring(tmp_path / "ring", buffer=500_000_000, size=2_000_000)), seed=1)
    assert not done.stuck
    assert done.result.pause_rx == 0


def test_flows_that_the_stop_time_cuts_off_are_named(tmp_path: Path) -> None:
    done = run(load(star(tmp_path / "star", senders=12, stop=100_000)), seed=1)
    assert done.stuck == (
        "12 of 12 flows are not done (0, 1, 2, 3, 4, 5, 6, 7 and 4 more) at 0.1 ms, where the scenario stops"
    )


def test_without_pfc_packets_are_dropped_and_sent_again(tmp_path: Path) -> None:
    done = run(load(star(tmp_path / "star", senders=8, size=3_000_000, pfc=0, cc=1, ecn=1, buffer=500_000)), seed=1)
    assert not done.stuck
    assert done.result.drops > 0
    assert done.result.pause_rx == 0
    assert done.engine.flows().retransmitted_packets.sum() >= done.result.drops


@pytest.mark.parametrize(("rate_gbps", "payload"), [(10, 9000), (10, 256), (400, 4096), (1600, 1000), (1600, 4096)])
def test_a_link_is_used_fully_at_every_rate_and_payload(tmp_path: Path, rate_gbps: float, payload: int) -> None:
    """PFC only: the receiver's link carries all octets, at packet times of whole ns, without a gap."""
    size = 4000 * payload
    folder = star(tmp_path / "star", senders=4, rate_gbps=rate_gbps, payload=payload, size=size, stop=1e9)
    result = run(load(folder), seed=1).result
    packet_ns = int((payload + 48) * 8 / rate_gbps)
    assert result.jct_ns == pytest.approx(4 * 4000 * packet_ns, rel=0.01, abs=6000)
    assert result.drops == 0


def test_flows_of_one_pair_have_source_ports_of_their_own(tmp_path: Path) -> None:
    flows = [f"{number},0,2,100000,0,-1,0" for number in range(16)]
    scenario = load(leaf_spine(tmp_path / "fabric", leaves=2, hosts_per_leaf=2, spines=4, flows=flows))
    assert len({flow.entropy for flow in scenario.flows}) == 16
    done = run(scenario, seed=1)
    assert len({path[1] for path in done.engine.paths()}) == 4


@pytest.fixture(scope="module")
def storm(tmp_path_factory: pytest.TempPathFactory) -> tuple[Run, SavedRun]:
    done = run(load(SCENARIOS / "ls16_victim_pfconly"), seed=1, record=True)
    folder = tmp_path_factory.mktemp("storm") / "saved"
    save(done, [done.result], folder)
    return done, read_run(folder)


def test_pause_frames_are_logged_like_those_of_the_reference(tmp_path: Path) -> None:
    """The first XOFFs and XONs of incast2_pfconly: times and ports of the reference's own log."""
    pauses = saved(SCENARIOS / "incast2_pfconly", tmp_path / "run").pauses
    first = [(pause.arrival_ns, (pause.peer, pause.peer_port), pause.kind) for pause in pauses[:4]]
    expected = [(256319, (2, 1), "xoff"), (256402, (1, 1), "xoff"), (260801, (2, 1), "xon"), (260884, (1, 1), "xon")]
    assert [(port, kind) for _, port, kind in first] == [(port, kind) for _, port, kind in expected]
    assert [time for time, _, _ in first] == pytest.approx([time for time, _, _ in expected], abs=200)


def test_every_xoff_of_a_saved_run_was_counted_where_it_was_sent(storm: tuple[Run, SavedRun]) -> None:
    _, found = storm
    sent = {(port.node, port.port): port.xoff_sent for port in found.ports}
    logged = dict.fromkeys(sent, 0)
    for pause in found.pauses:
        logged[pause.node, pause.port] += pause.kind == "xoff"
    assert logged == sent
    assert sum(sent.values()) == storm[0].result.pause_rx
    assert found.pauses_missed == 0


def test_the_root_of_a_storm_is_the_port_of_the_incast(storm: tuple[Run, SavedRun]) -> None:
    """12 hosts send to host 0: the queue of 16:1 pauses the spines, these the leaves, these the hosts."""
    trees = storms(storm[1])
    first = trees[0]
    assert first.port == (16, 1)
    assert set(first.branches) == {(20, 1), (21, 1), (22, 1)}
    assert all(leaf[0] in (17, 18, 19) for spine in first.branches.values() for leaf in spine.branches)
    hosts = {host for spine in first.ordered for leaf in spine.ordered for host in leaf.branches}
    assert hosts == {(host, 1) for host in range(4, 16)}
    assert first.paused_ns > 0.9 * sum(tree.paused_ns for tree in trees)


def test_no_port_is_twice_on_a_branch_where_pauses_go_round() -> None:
    """The queue of 1:2 pauses 2:1, whose queue pauses 1:2."""

    def pause(sent_ns: float, node: int, port: int, peer: tuple[int, int], cause_port: int) -> SavedPause:
        return SavedPause(sent_ns, sent_ns + 10, "xoff", node, port, *peer, 100, 0, 100.0, cause_port, 100, sent_ns)

    pauses = (pause(100.0, 1, 1, (2, 1), cause_port=2), pause(200.0, 2, 2, (1, 2), cause_port=1))
    found = SavedRun("round", 1, 1_000.0, "", ecn=False, pfc=True, pauses_missed=0, ports=(), flows=(), pauses=pauses)
    (tree,) = storms(found)
    assert (tree.port, tree.xoffs, list(tree.ports())) == ((1, 2), 2, [(1, 2), (2, 1)])


def test_each_pause_is_in_one_tree_once(storm: tuple[Run, SavedRun]) -> None:
    done, found = storm

    def xoffs(branch: Branch) -> int:
        return branch.xoffs + sum(xoffs(other) for other in branch.branches.values())

    trees = storms(found)
    assert sum(tree.xoffs for tree in trees) == done.result.pause_rx
    assert all(tree.xoffs == sum(xoffs(branch) for branch in tree.branches.values()) for tree in trees)
    assert sum(tree.paused_ns for tree in trees) == pytest.approx(done.result.paused_ns, rel=1e-3)


def test_why_names_senders_by_their_octets_and_where_they_came_in(storm: tuple[Run, SavedRun]) -> None:
    explanation = explain(storm[1], "16:1")
    assert [(sender.src, sender.sent_bytes) for sender in explanation.senders] == [
        (host, 4_192_000) for host in range(4, 16)
    ]
    assert {sender.entered_by for sender in explanation.senders} == {"16:5", "16:6", "16:7"}
    assert sum(sender.sent_bytes for sender in explanation.senders) == explanation.port.sent_bytes
    assert not explanation.ecn.acted
    assert explanation.ecn.reason == "ECN is off in this scenario (ecn 0)"
    assert [feeder.acted for feeder in explanation.feeders] == [True, True, True]


def test_why_names_who_paused_a_victim(storm: tuple[Run, SavedRun]) -> None:
    explanation = explain(storm[1], "5:1")
    assert [one.port for one in explanation.paused_by] == ["17:5"]
    assert explanation.paused.startswith("paused by 17:2 with ")
    assert explanation.trees[0].port == (16, 1)


def test_why_measures_the_distance_to_thresholds_that_were_not_reached(tmp_path: Path) -> None:
    """Two senders at line rate: half of their octets wait in the end, and each ingress holds half of these."""
    found = saved(star(tmp_path / "star", senders=2, size=200_000, ecn=1, kmin=300, kmax=600), tmp_path / "run")
    out, into = explain(found, "3:1"), explain(found, "3:2")
    peak = out.ecn.peak_bytes
    assert peak == pytest.approx(209_600, rel=0.02)
    assert out.ecn.to_kmin_bytes == 300_000 - peak
    assert out.ecn.reason == (
        f"no packet marked: the queue was at most {peak:,} bytes long, {300_000 - peak:,} bytes "
        f"({(300_000 - peak) / 3000:.0f} %) below kmin (300,000)"
    )
    held = into.pfc.held_peak_bytes
    assert held == pytest.approx(peak / 2, rel=0.05)
    assert into.pfc.threshold_bytes == pytest.approx(0.125 * (4_000_000 - peak), rel=0.01)
    assert into.pfc.to_xoff_bytes == pytest.approx(into.pfc.threshold_bytes - held)
    assert into.pfc.reason.startswith(f"no XOFF: at most {held:,} bytes held, ")
    assert [feeder.port for feeder in out.feeders] in (["3:2", "3:3"], ["3:3", "3:2"])
    assert not out.trees


def test_why_says_that_marks_were_made_or_pfc_was_off(tmp_path: Path) -> None:
    folder = star(tmp_path / "star", senders=4, size=1_000_000, cc=1, ecn=1, pfc=0)
    found = saved(folder, tmp_path / "run")
    explanation = explain(found, "5:1")
    assert explanation.ecn.acted
    assert explanation.ecn.reason.startswith(
        f"{explanation.ecn.marked_packets:,} of 4,000 packets marked: the queue was"
    )
    assert explain(found, "5:2").pfc.reason == "PFC is off in this scenario (pfc 0)"
    assert explain(found, "1:1").ecn.reason == "a host marks no packets"
    assert explain(found, "1:1").pfc.reason == "a host sends no XOFF"


@pytest.mark.parametrize(
    ("port", "line"),
    [
        ("5", "5: is not the name of a port. Name it as NODE:PORT, for example 3:1."),
        ("5:9", "5:9: node 5 has no port 9. Its ports: 5:1, 5:2, 5:3."),
        ("7:1", "7:1: there is no node 7 with links. See the ports of star in links.csv."),
    ],
)
def test_a_port_that_is_not_there_is_one_line(tmp_path: Path, port: str, line: str) -> None:
    folder = star(tmp_path / "star", senders=2, size=10_000)
    text = (folder / "scenario.json").read_text().replace('"nodes": 4', '"nodes": 6').replace("  3\n", "  5\n")
    (folder / "scenario.json").write_text(text)
    (folder / "links.csv").write_text((folder / "links.csv").read_text().replace(",3,", ",5,"))
    found = saved(folder, tmp_path / "run")
    with pytest.raises(RailfabError) as raised:
        explain(found, port)
    assert str(raised.value) == line


def test_a_saved_run_is_written_whole_with_its_scenario(tmp_path: Path) -> None:
    folder = star(tmp_path / "star", senders=2, size=100_000)
    saved(folder, tmp_path / "run")
    names = ["flows.csv", "pauses.csv", "ports.csv", "run.json", "samples.npz", "scenario"]
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == names
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run", "star"]
    for name in ("scenario.json", "links.csv", "flows.csv"):
        assert (tmp_path / "run" / "scenario" / name).read_bytes() == (folder / name).read_bytes()
    document = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (document["format"], document["version"]) == ("railfab-sim-run", 1)
    with np.load(tmp_path / "run" / "samples.npz") as samples:
        assert samples["depth_bytes"].shape == samples["sent_bytes"].shape == (len(samples["times_ns"]), 6)


def test_what_is_no_saved_run_or_a_damaged_one_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(RailfabError, match=r"is not a saved run: it has no run\.json"):
        read_run(tmp_path)
    folder = star(tmp_path / "star", senders=2, size=10_000)
    saved(folder, tmp_path / "run")
    path = tmp_path / "run" / "ports.csv"
    whole = path.read_text()
    for damaged, problem in (
        (whole.replace(",100.0,", ",fast,", 1), "is damaged (could not convert string to float: 'fast')"),
        (whole[:-30], "line 7: has 20 cells, and the first line has 26"),
        ("", "line 1: has no column node"),
    ):
        path.write_text(damaged)
        with pytest.raises(RailfabError) as raised:
            read_run(tmp_path / "run")
        assert problem in str(raised.value)
        assert raised.value.remedy == "Save the run again with `railfab sim replay --save`"
    path.unlink()
    with pytest.raises(RailfabError, match=r"ports\.csv: does not exist\. Save the run again"):
        read_run(tmp_path / "run")
    document = tmp_path / "run" / "run.json"
    document.write_text(document.read_text().replace('"version": 1', '"version": 2'))
    with pytest.raises(RailfabError, match="is not of format railfab-sim-run, version 1"):
        read_run(tmp_path / "run")


def test_an_empty_directory_is_filled_and_stays_the_same_one(tmp_path: Path) -> None:
    """It may be a mount point, which no other directory can take the place of."""
    folder = tmp_path / "run"
    folder.mkdir()
    before = folder.stat().st_ino
    saved(star(tmp_path / "star", senders=2, size=10_000), folder)
    assert folder.stat().st_ino == before


def test_a_run_that_cannot_be_saved_leaves_nothing(tmp_path: Path) -> None:
    folder = star(tmp_path / "star", senders=2, size=10_000)
    done = run(load(folder), seed=1, record=True)
    (folder / "links.csv").unlink()
    (tmp_path / "empty").mkdir()
    for place in ("empty", "new"):
        with pytest.raises(FileNotFoundError):
            save(done, [done.result], tmp_path / place)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["empty", "star"]
    assert not any((tmp_path / "empty").iterdir())


def test_a_directory_that_is_not_empty_is_not_overwritten(tmp_path: Path) -> None:
    done = run(load(star(tmp_path / "star", senders=2, size=10_000)), seed=1, record=True)
    with pytest.raises(RailfabError, match="exists and is not an empty directory"):
        save(done, [done.result], tmp_path / "star")
