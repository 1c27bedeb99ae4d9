"""Mistakes in a scenario folder: one line each, with the file, the line and the column or key, and what to do."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tests.sim.scenario_folders import leaf_spine, ring, star, write_scenario

from railfab.errors import RailfabError, each
from railfab.sim import Dcqcn
from railfab.sim.replay.scenario import PRIORITY, Scenario, load

SCENARIOS = Path(__file__).parents[1] / "reference" / "simulator" / "scenarios"


def lines_of(folder: Path) -> list[str]:
    with pytest.raises(RailfabError) as raised:
        load(folder)
    return [str(error).replace(f"{folder}/", "") for error in each(raised.value)]


def in_file(name: str, old: str, new: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        text = (folder / name).read_text()
        assert old in text
        (folder / name).write_text(text.replace(old, new, 1))

    return change


def removed(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def without_key(name: str) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        document = json.loads((folder / "scenario.json").read_text())
        document["params"].pop(name, None) if name in document["params"] else document.pop(name)
        (folder / "scenario.json").write_text(json.dumps(document))

    return change


FIRST_FLOW = "0,1,0,1000000,1000,-1,0"
FIRST_LINK = "0,1,3,1,100000000000,1000"
MISTAKES = {
    "no file": (
        removed("links.csv"),
        "links.csv: does not exist. A scenario has scenario.json, links.csv and flows.csv.",
    ),
    "no JSON": (
        in_file("scenario.json", '"params"', "params"),
        "scenario.json, line 3, column 2: is not JSON (expecting property name enclosed in double quotes). "
        "Correct the file.",
    ),
    "no object": (in_file("scenario.json", '"params": {', '"params": 3, "other": {'), "scenario.json, key params"),
    "one key twice": (
        in_file("scenario.json", '"kmin": 100', '"kmin": 100, "kmin": 200'),
        "scenario.json: has key kmin more than once in one object. Remove all but one.",
    ),
    "too long a number": (
        in_file("scenario.json", '"buffer": 4000000', f'"buffer": {"9" * 5000}'),
        "scenario.json: has a number with too many digits. Correct the file.",
    ),
    "number as text": (
        in_file("scenario.json", '"payload": 1000', '"payload": "1000"'),
        'scenario.json, params, key payload: "1000" is not a whole number from 1 to 65,535. Correct the value.',
    ),
    "no key": (without_key("buffer"), "scenario.json, params: has no key buffer. Add buffer, a number above 0."),
    "no nodes": (
        without_key("nodes"),
        "scenario.json: has no key nodes. Add nodes, a whole number from 1 to 65,536.",
    ),
    "payload 0": (
        in_file("scenario.json", '"payload": 1000', '"payload": 0'),
        "scenario.json, params, key payload: 0 is not a whole number from 1 to 65,535. Correct the value.",
    ),
    "NaN in JSON": (
        in_file("scenario.json", '"alpha": 0.125', '"alpha": NaN'),
        "scenario.json, params, key alpha: NaN is not a number above 0. Correct the value.",
    ),
    "not a switch": (
        in_file("scenario.json", "  3\n ]", "  4\n ]"),
        "scenario.json, key switches: 4 is not a node. Nodes have numbers from 0 to 3.",
    ),
    "no column": (
        in_file("links.csv", "rate_bps", "rate"),
        "links.csv, line 1: has no column rate_bps. Begin the file with the line a,a_port,b,b_port,rate_bps,delay_ns.",
    ),
    "one column twice": (
        in_file("flows.csv", "gap_ns", "gap_ns,src"),
        "flows.csv, line 1: has column src more than once. Give each column a name of its own.",
    ),
    "too few cells": (
        in_file("flows.csv", FIRST_FLOW, "0,1,0"),
        "flows.csv, line 2: has 3 cells, and the first line has 7. "
        "Give one cell for each of flow,src,dst,size_bytes,start_ns,after,gap_ns.",
    ),
    "zero rate": (
        in_file("links.csv", "100000000000", "0"),
        "links.csv, line 2, column rate_bps: 0 is not a number from 1,000,000 to 100,000,000,000,000.",
    ),
    "too fast": (
        in_file("links.csv", "100000000000", "10000000000000"),
        "links.csv, line 2, column rate_bps: a packet of 1048 bytes takes less than 1 ns at 10000 Gb/s. "
        "Give a lower rate or a larger payload.",
    ),
    "zero delay": (
        in_file("links.csv", FIRST_LINK, FIRST_LINK[:-4] + "0"),
        "links.csv, line 2, column delay_ns: 0 is not",
    ),
    "negative delay": (
        in_file("links.csv", FIRST_LINK, FIRST_LINK[:-4] + "-5"),
        "links.csv, line 2, column delay_ns: -5",
    ),
    "unequal delays": (
        lambda folder: (
            star(folder, senders=2, delay_ns=1) and in_file("links.csv", "000,1\n", "000,1000000000\n")(folder)
        ),
        "links.csv, line 2, column delay_ns: 1e+09 ns is 1000000000 times the shortest delay, 1 ns.",
    ),
    "too many routes": (
        lambda folder: write_scenario(folder, nodes=50_000, switches=range(3, 25_000), cables=[(0, 3, 1, 1)], flows=[]),
        "scenario.json: 24,997 switches with routes to 25,003 hosts are too many. Give fewer nodes.",
    ),
    "two links": (
        in_file("links.csv", "1,1,3,2", "0,2,3,2"),
        "links.csv, line 3, column a: host 0 has a second link, the first is in line 2. "
        "Give each NIC port a node of its own, or list the node in switches.",
    ),
    "one port twice": (
        in_file("links.csv", "1,1,3,2", "1,1,3,1"),
        "links.csv, line 3, column b_port: port 3:1 is in line 2 too. Give each cable ports of its own.",
    ),
    "negative size": (
        in_file("flows.csv", "1000000", "-1"),
        "flows.csv, line 2, column size_bytes: -1 is not a whole number from 1 to 1,000,000,000,000.",
    ),
    "zero size": (in_file("flows.csv", "1000000", "0"), "flows.csv, line 2, column size_bytes: 0 is not"),
    "too many packets": (
        lambda folder: star(folder, senders=2, size=3 * 10**9, payload=1) and None,
        "flows.csv, line 2, column size_bytes: 3,000,000,000 bytes are 3,000,000,000 packets, more than 2,147,483,647. "
        "Give a smaller size or a larger payload.",
    ),
    "NaN": (in_file("flows.csv", "1000000", "nan"), "flows.csv, line 2, column size_bytes: nan is not a whole number"),
    "no number": (in_file("flows.csv", "1000000", "1 MB"), "flows.csv, line 2, column size_bytes: 1 MB is not"),
    "unknown node": (
        in_file("flows.csv", "0,1,0", "0,9,0"),
        "flows.csv, line 2, column src: 9 is not a whole number from 0 to 3. Correct the value.",
    ),
    "switch as source": (in_file("flows.csv", "0,1,0", "0,3,0"), "flows.csv, line 2, column src: node 3 is a switch."),
    "to itself": (
        in_file("flows.csv", "0,1,0", "0,1,1"),
        "flows.csv, line 2, column dst: flow 0 leads from host 1 to itself. Name another host.",
    ),
    "twice": (
        in_file("flows.csv", "\n1,2,0", "\n0,2,0"),
        "flows.csv, line 3, column flow: flow 0 is in line 2 too. Give each flow a number of its own.",
    ),
    "after nothing": (
        in_file("flows.csv", "1000,-1,0", ",7,0"),
        "flows.csv, line 2, column after: flow 0 starts after flow 7, which does not exist. "
        "Name a flow of this file, or -1.",
    ),
    "no start": (
        in_file("flows.csv", "1000,-1,0", ",-1,0"),
        "flows.csv, line 2, column start_ns: empty is not a number",
    ),
    "unreachable": (
        in_file("links.csv", "0,1,3,1,100000000000,1000\n", ""),
        "flows.csv, line 2, column dst: host 0 cannot be reached from host 1 in 16 links. "
        "Add the missing links to links.csv.",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_one_line_with_place_problem_and_remedy(tmp_path: Path, mistake: str) -> None:
    folder = star(tmp_path / "star", senders=2)
    change, line = MISTAKES[mistake]
    change(folder)
    assert lines_of(folder)[0].startswith(line)


def test_files_of_other_editors_are_read(tmp_path: Path) -> None:
    """With a byte order mark, CRLF and empty lines, as spreadsheets write them."""
    plain, other = star(tmp_path / "plain", senders=2), star(tmp_path / "other", senders=2)
    for name in ("scenario.json", "links.csv", "flows.csv"):
        lines = (other / name).read_text() + "  \n\n"
        (other / name).write_bytes(lines.replace("\n", "\r\n").encode("utf-8-sig"))
    assert load(other).flows == load(plain).flows
    assert (load(other).network.rate_gbps == load(plain).network.rate_gbps).all()


def test_what_has_no_effect_is_named(tmp_path: Path) -> None:
    assert load(star(tmp_path / "plain", senders=2)).notes == ()
    folder = star(tmp_path / "star", senders=2)
    in_file("scenario.json", '"kmin": 100', '"kmin": 100, "kscal": 1, "cnp_interval": 50')(folder)
    in_file("scenario.json", '"nodes"', '"mtu": 9000, "nodes"')(folder)
    for name, column in (("links.csv", "loss"), ("flows.csv", "fct_ns"), ("flows.csv", "priority")):
        lines = (folder / name).read_text().splitlines()
        (folder / name).write_text("\n".join([f"{lines[0]},{column}", *(f"{line},0" for line in lines[1:])]))
    assert [note.replace(f"{folder}/", "") for note in load(folder).notes] == [
        "scenario.json: key mtu, params.kscal, params.cnp_interval is unknown and has no effect.",
        "links.csv: column loss is unknown and has no effect.",
        "flows.csv: column priority is unknown and has no effect.",
    ]


@pytest.mark.parametrize("name", [path.name for path in sorted(SCENARIOS.iterdir())])
def test_all_that_the_reference_says_is_known(name: str) -> None:
    assert load(SCENARIOS / name).notes == ()


def test_all_mistakes_of_a_file_are_reported_together(tmp_path: Path) -> None:
    folder = star(tmp_path / "star", senders=30, size=-3)
    lines = lines_of(folder)
    assert [line.split(":")[0] for line in lines[:20]] == [
        f"flows.csv, line {n}, column size_bytes" for n in range(2, 22)
    ]
    assert lines[20:] == [f"{folder}: has 10 more mistakes. Correct those above first."]


def test_hosts_may_be_connected_without_a_switch(tmp_path: Path) -> None:
    flows = ["0,0,1,1000,0,-1,0", "1,1,0,1000,0,-1,0"]
    write_scenario(tmp_path / "pair", nodes=4, switches=[], cables=[(0, 1, 100, 1000), (2, 3, 100, 1000)], flows=flows)
    assert len(load(tmp_path / "pair").flows) == 2
    with (tmp_path / "pair" / "flows.csv").open("a") as lines:
        lines.write("2,0,3,1000,0,-1,0\n")
    assert lines_of(tmp_path / "pair")[0].startswith(
        "flows.csv, line 4, column dst: host 3 cannot be reached from host 0"
    )


def test_a_cycle_of_flows_is_named(tmp_path: Path) -> None:
    flows = ["0,1,0,1000,1000,-1,0", "1,1,0,1000,,3,0", "2,2,0,1000,,1,0", "3,2,0,1000,,2,0", "4,1,0,1000,,3,0"]
    folder = write_scenario(
        tmp_path / "cycle", nodes=4, switches=[3], cables=[(host, 3, 100, 1000) for host in range(3)], flows=flows
    )
    assert lines_of(folder) == [
        "flows.csv, line 3, column after: flows wait for each other: 1 after 3 after 2 after 1. "
        "Let one of them start at a time (after -1)."
    ]


def test_parameters_of_what_is_off_may_be_missing(tmp_path: Path) -> None:
    folder = star(tmp_path / "star", senders=2, cc=0, ecn=0)
    for name in ("t_alpha", "t_dec", "t_inc", "g", "frt", "ai", "hai", "minrate", "kmin", "kmax", "pmax", "kscale"):
        without_key(name)(folder)
    assert load(folder).transport.dcqcn is None
    in_file("scenario.json", '"cc": 0', '"cc": 1')(folder)
    assert len(lines_of(folder)) == 8


def thresholds(scenario: Scenario) -> dict[float, float]:
    """kmin by rate of the port, of ports that mark."""
    kmin, rate = scenario.network.kmin_bytes[:, PRIORITY], scenario.network.rate_gbps
    return {float(rate[link]): float(kmin[link]) for link in np.flatnonzero(np.isfinite(kmin))}


def test_kscale_scales_thresholds_with_the_rate_of_the_port(tmp_path: Path) -> None:
    def folder(name: str, kscale: int) -> Path:
        return leaf_spine(
            tmp_path / name,
            leaves=2,
            hosts_per_leaf=2,
            spines=1,
            uplink_gbps=400,
            flows=["0,0,2,1000,0,-1,0"],
            ecn=1,
            kscale=kscale,
        )

    assert thresholds(load(folder("plain", 0))) == {100.0: 100_000.0, 400.0: 100_000.0}
    assert thresholds(load(folder("scaled", 1))) == {100.0: 400_000.0, 400.0: 1_600_000.0}


def test_each_parameter_has_its_meaning_and_unit(tmp_path: Path) -> None:
    """All values differ from those of the other scenarios, and from each other."""
    folder = star(
        tmp_path / "star",
        senders=2,
        cc=1,
        ecn=1,
        payload=4096,
        ackint=16_384,
        t_alpha=2.5,
        t_dec=7,
        t_inc=110,
        g=0.02,
        frt=3,
        ai=30,
        hai=350,
        minrate=25,
        clamp=1,
        kmin=150,
        kmax=650,
        pmax=0.3,
        buffer=9_000_000,
        alpha=0.25,
        stop=7e6,
    )
    with (folder / "flows.csv").open("a") as lines:
        lines.write("2,1,0,5000,,0,1234\n")
    scenario = load(folder)
    network, switch = scenario.network, 3
    assert scenario.transport.dcqcn == Dcqcn(
        alpha_interval_ns=2_500.0,
        cut_interval_ns=7_000.0,
        increase_interval_ns=110_000.0,
        increase_bytes=0,
        cnp_interval_ns=0.0,
        gain=0.02,
        fast_recovery_rounds=3,
        additive_gbps=0.03,
        hyper_gbps=0.35,
        minimum_gbps=0.025,
        clamp_target=True,
    )
    assert (scenario.framing.payload_bytes, scenario.framing.frame_bytes, scenario.framing.ack_every) == (4096, 4144, 4)
    out, into = 1, 0
    thresholds = (network.kmin_bytes, network.kmax_bytes, network.pmax)
    assert [values[out, PRIORITY] for values in thresholds] == [150_000.0, 650_000.0, 0.3]
    assert (network.xoff_alpha[into, PRIORITY], network.shared_bytes[switch]) == (0.25, 9_000_000.0)
    assert network.pfc_sent[into, PRIORITY]
    assert scenario.stop_ns == 7e6
    assert (scenario.flows[2].after, scenario.flows[2].gap_ns) == ((0,), 1234)
    off = load(star(tmp_path / "off", senders=2, cc=0, ecn=0, pfc=0))
    assert off.transport.dcqcn is None
    assert np.isinf(off.network.kmin_bytes).all()
    assert not off.network.pfc_sent.any()


def test_headroom_is_three_delays_and_four_packets(tmp_path: Path) -> None:
    scenario = load(star(tmp_path / "star", senders=2, rate_gbps=400, delay_ns=2000, payload=4096))
    assert scenario.network.headroom_bytes[0, PRIORITY] == 3 * 50 * 2000 + 4 * (4096 + 48)


def test_next_hops_are_in_ascending_order_of_neighbours_and_shortest(tmp_path: Path) -> None:
    scenario = load(leaf_spine(tmp_path / "fabric", leaves=3, hosts_per_leaf=2, spines=4, flows=["0,0,5,1000,0,-1,0"]))
    routing, network = scenario.routing, scenario.network

    def hops(switch: int, host: int) -> list[int]:
        group = routing.group[routing.row[switch], routing.destination[host]]
        return network.far[routing.members[routing.begin[group] : routing.begin[group + 1]]].tolist()

    assert hops(6, 5) == [9, 10, 11, 12]
    assert hops(9, 5) == [8]
    assert hops(8, 5) == [5]
    assert hops(6, 1) == [1]


def test_routes_of_a_long_ring_take_no_time(tmp_path: Path) -> None:
    """Switches that are farther apart than a packet may go need no distance."""
    switches = 2000
    cables = [(0, 2, 100.0, 1000.0), (1, 9, 100.0, 1000.0)]
    cables += [(2 + place, 2 + (place + 1) % switches, 100.0, 1000.0) for place in range(switches)]
    began = time.process_time()
    scenario = load(
        write_scenario(
            tmp_path / "ring",
            nodes=2 + switches,
            switches=range(2, 2 + switches),
            cables=cables,
            flows=["0,0,1,1000,0,-1,0"],
        )
    )
    assert time.process_time() - began < 5
    far = scenario.network.far[scenario.routing.members]
    group = scenario.routing.group[scenario.routing.row[2], scenario.routing.destination[1]]
    assert far[scenario.routing.begin[group]] == 3
    assert scenario.routing.group[scenario.routing.row[1000], scenario.routing.destination[1]] == -1


def test_a_ring_routes_the_short_way(tmp_path: Path) -> None:
    scenario = load(ring(tmp_path / "ring"))
    routing = scenario.routing
    for switch in range(5):
        row = routing.group[routing.row[5 + switch]]
        far = [int(scenario.network.far[routing.members[routing.begin[group]]]) for group in row]
        around = [(host - switch) % 5 for host in range(5)]
        assert far == [
            host if away == 0 else 5 + (switch + (1 if away < 3 else -1)) % 5
            for host, away in zip(range(5), around, strict=True)
        ]
