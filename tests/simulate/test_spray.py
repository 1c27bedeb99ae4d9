"""Switches that choose for each packet or burst: candidate links and their shares, rates, components, NICs that take
packets in any order or not, and what a key of the memo contains."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import yaml
from tests.sim.fabrics import leaf_spine, lossless, routes

from railfab.device import BalancingMode, LoadBalancing
from railfab.fabric import Design, design, route_links
from railfab.fabric.route_links import RouteLinks, candidate_links
from railfab.fabric.routed import routed
from railfab.intent import Job
from railfab.sim import Balancing, Network
from railfab.simulate import Contention, packets, simulate_job
from railfab.simulate import job as simulated_job
from railfab.simulate.canonical import CanonicalForm, canonical
from railfab.simulate.components import Component
from railfab.simulate.memo import Memo
from railfab.simulate.named_faults import faults
from railfab.simulate.network_colours import NetworkColours
from railfab.simulate.packet_run import PacketSettings, run_packets
from railfab.workload.algorithms import TooManyTransfers

INVENTORY = Path(__file__).parents[2] / "inventory" / "fabrics"
HOSTS, SPINES = 4, 3
FIRST_UPLINK = 2 * 2 * HOSTS
MakeDesign = Callable[..., Design]


def exchange_of(size: str) -> Job:
    collective = {"op": "alltoall", "bytes": size, "group": "all"}
    return Job.model_validate({"version": 1, "job": "made", "phases": [{"collective": collective}]})


EXCHANGE = exchange_of("2MB")


def balanced(balancing: Balancing = Balancing.SPRAY) -> Network:
    network = lossless(leaf_spine(2, HOSTS, SPINES))
    return replace(network, balancing=np.where(network.is_switch, int(balancing), 0))


def candidates(network: Network, ends: list[tuple[int, int]]) -> tuple[RouteLinks, list[int]]:
    pairs = np.array(ends)
    links, lost = candidate_links(network, routes(network), 2 * pairs[:, 0], pairs[:, 1])
    return links, lost.tolist()


def shares_of(links: RouteLinks, route: int) -> dict[int, float]:
    return {link: share for link, share in zip(links.links[route], links.shares[route], strict=True) if link >= 0}


# Candidate links


def test_packets_are_divided_evenly_over_a_group_and_come_together_at_their_leaf() -> None:
    links, lost = candidates(balanced(), [(1, 6), (2, 3)])
    up = [FIRST_UPLINK + 2 * spine for spine in range(SPINES)]
    down = [link + 2 * SPINES + 1 for link in up]
    third = pytest.approx(1 / SPINES)
    assert shares_of(links, 0) == {2: 1.0, **dict.fromkeys(up + down, third), 13: 1.0}
    assert shares_of(links, 1) == {4: 1.0, 7: 1.0}
    assert lost == []


def test_the_links_of_both_ends_are_first_and_last() -> None:
    links, _ = candidates(balanced(), [(1, 6)])
    assert (links.links[0, 0], links.links[0, -1]) == (2, 13)


@pytest.mark.parametrize(("mode", "expected"), [(Balancing.SPRAY, 1 / 3), (Balancing.ADAPTIVE, 1 / 9)])
def test_adaptive_switches_use_a_slow_link_less(mode: Balancing, expected: float) -> None:
    network = balanced(mode)
    rate_gbps = network.rate_gbps.copy()
    rate_gbps[FIRST_UPLINK] /= 4
    links, _ = candidates(replace(network, rate_gbps=rate_gbps), [(0, 4)])
    assert shares_of(links, 0)[FIRST_UPLINK] == pytest.approx(expected)


def test_a_switch_without_a_route_loses_packets_of_those_that_may_pass_it() -> None:
    network = balanced()
    routing = routes(network)
    group = routing.group.copy()
    group[routing.row[-1], routing.destination[6]] = -1
    ends = np.array([(1, 6), (1, 5)])
    _, lost = candidate_links(network, replace(routing, group=group), 2 * ends[:, 0], ends[:, 1])
    assert lost.tolist() == [0]


def test_more_candidates_than_a_process_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(route_links, "MOST_CANDIDATES", 20)
    assert candidates(balanced(), [(0, 4), (0, 5)])[0].links.shape == (2, 8)
    with pytest.raises(TooManyTransfers, match="more than 20 links"):
        candidates(balanced(), [(0, 4), (0, 5), (0, 6)])


# Packets of components


def component(ends: list[tuple[int, int]], payload_bytes: int, network: Network) -> Component:
    links, _ = candidates(network, ends)
    none = np.zeros(0, np.int64)
    return Component(
        payload_bytes=np.full(len(ends), payload_bytes),
        latency_ns=np.zeros(len(ends), np.int64),
        paths=links.links,
        shares=links.shares,
        earlier=none,
        later=none,
        carrier=np.arange(len(ends)),
    )


def spread(ends: list[tuple[int, int]], payload_bytes: int, network: Network) -> CanonicalForm:
    return canonical(component(ends, payload_bytes, network), NetworkColours.of(network))


ACROSS = [(host, HOSTS + (host + 1) % HOSTS) for host in range(SPINES)]


def test_packets_times_links_count_the_links_that_a_packet_takes() -> None:
    part = component([(0, 4), (0, 1)], 5000, balanced())
    assert part.packet_hops(4096) == 2 * (4 + 2)
    assert (part.is_balanced, component([(0, 1)], 1, balanced()).is_balanced) == (True, False)


def test_sprayed_packets_use_all_links_and_arrive_at_line_rate() -> None:
    """Three flows over three spines, as fast as the ports of their NICs."""
    outcome = run_packets(spread(ACROSS, 4_000_000, balanced()), balanced(), 1e-3, PacketSettings(reorders=True))
    alone_ns = 4_000_000 * (4178 / 4096) / 12.5
    assert alone_ns < outcome.ends_ns.min()
    assert outcome.ends_ns.max() < 1.1 * alone_ns
    assert outcome.dropped == 0


def test_nics_that_take_packets_in_order_only_make_sprayed_flows_late() -> None:
    form = spread(ACROSS, 1_000_000, balanced())
    any_order, in_order = (run_packets(form, balanced(), 1e-3, PacketSettings(reorders=on)) for on in (True, False))
    assert in_order.ends_ns.max() > 2 * any_order.ends_ns.max()


def test_adaptive_switches_keep_flows_apart_better_than_chance() -> None:
    ends = {}
    for mode in (Balancing.ADAPTIVE, Balancing.SPRAY):
        form = spread(ACROSS, 2_000_000, balanced(mode))
        ends[mode] = run_packets(form, balanced(mode), 1e-3, PacketSettings(reorders=True)).ends_ns.max()
    assert ends[Balancing.ADAPTIVE] < ends[Balancing.SPRAY]


def test_a_flowlet_keeps_its_link_without_a_pause_and_seeds_draw_others() -> None:
    """In order, so that nothing is sent again; whether two flows meet depends on the draw."""
    network = balanced(Balancing.FLOWLET)
    form = spread(ACROSS, 3_000_000, network)
    ends = [run_packets(form, network, 1e-3, PacketSettings(seed=seed)).ends_ns.max() for seed in range(1, 7)]
    alone_ns = 3_000_000 * (4178 / 4096) / 12.5
    assert min(ends) < 1.1 * alone_ns
    assert max(ends) > 1.8 * alone_ns


# Keys


def test_a_key_has_the_recovery_of_nics_and_the_seed_only_where_switches_choose() -> None:
    chosen = spread(ACROSS, 1000, balanced())
    given = spread([(0, 1), (2, 3)], 1000, balanced())
    assert (chosen.is_balanced, given.is_balanced) == (True, False)
    keys = {
        PacketSettings(reorders=reorders, seed=seed).key(form)
        for form in (chosen, given)
        for reorders in (True, False)
        for seed in (1, 2)
    }
    assert len(keys) == 4 + 2


@pytest.mark.parametrize("mode", [Balancing.ADAPTIVE, Balancing.FLOWLET, Balancing.FLOW])
def test_a_form_has_the_mode_of_switches(mode: Balancing) -> None:
    assert spread(ACROSS, 1000, balanced(mode)).key != spread(ACROSS, 1000, balanced()).key


# Intents


@pytest.fixture
def made(tmp_path: Path) -> MakeDesign:
    """A design of 64 GPUs with a mode of ECMP."""

    def make(platform: str, ecmp: str, *, reorder: bool = False) -> Design:
        document = yaml.safe_load((INVENTORY / f"pod64-{platform}.yml").read_text())
        document["profile"]["ecmp"], document["hosts"]["reorder"] = ecmp, reorder
        (path := tmp_path / "made.yml").write_text(yaml.safe_dump(document))
        return design(path)

    return make


def exchanged(fabric: Design, *texts: str, memo: Memo | None = None, job: Job = EXCHANGE) -> Contention:
    change = faults(texts, fabric.topology)
    (held,) = simulate_job(job, fabric, change=change, packets=memo).contentions
    return held


def test_sprayed_flows_share_what_is_left_of_the_uplinks_and_hashed_ones_collide(made: MakeDesign) -> None:
    """At max-min fair rates: 4 of 7 bytes cross the spines, half of which are left: 32 ports of 100G, and 4 of 400G."""
    spines = [f"switch=pod1-spine{number}" for number in (1, 2)]
    sprayed, hashed = (
        exchanged(made("nxos", ecmp, reorder=True), *spines, job=exchange_of("64MB")) for ecmp in ("packet", "flow")
    )
    assert sprayed.slowest_s / sprayed.ideal_s == pytest.approx(32 / 16 * 4 / 7, rel=0.01)
    assert hashed.slowest_s > 1.02 * sprayed.slowest_s
    assert sprayed.busiest is not None
    assert (sprayed.busiest.reason, sprayed.busiest.flows) == ("the links are too few", sprayed.busiest.fair_flows)


@pytest.mark.parametrize(
    ("platform", "ecmp", "mode"),
    [
        ("nxos", "packet", Balancing.SPRAY),
        ("sonic", "packet", Balancing.ADAPTIVE),
        ("junos", "adaptive", Balancing.ADAPTIVE),
        ("junos", "flowlet", Balancing.FLOWLET),
    ],
)
def test_packets_are_simulated_with_the_mode_that_a_platform_has(
    made: MakeDesign, platform: str, ecmp: str, mode: Balancing
) -> None:
    fabric = made(platform, ecmp, reorder=ecmp != "flowlet")
    assert routed(fabric).balancing == {mode}
    held = exchanged(fabric, memo=Memo(None))
    assert (held.tier, held.why) == ("packets", "")
    assert held.sample is not None
    assert held.sample.dropped == 0
    assert 1 < held.slowest_s / held.ideal_s < 1.5


def test_components_of_sprayed_flows_are_within_3_percent_of_all_packets(
    made: MakeDesign, monkeypatch: pytest.MonkeyPatch
) -> None:
    fabric = made("nxos", "packet", reorder=True)
    quick = exchanged(fabric, memo=Memo(None))
    monkeypatch.setattr(simulated_job, "PacketTier", partial(packets.PacketTier, whole=True))
    assert quick.slowest_s == pytest.approx(exchanged(fabric, memo=Memo(None)).slowest_s, rel=0.03)


def test_switches_of_both_kinds_leave_an_operation_at_max_min_with_the_reason(made: MakeDesign) -> None:
    fabric = made("nxos", "flow")
    hashing = routed(fabric)
    spraying = {name: LoadBalancing(mode=BalancingMode.PACKET) for name in hashing.state.configs if "leaf" in name}
    mixed = replace(hashing, state=replace(hashing.state, balancing=spraying))
    (held,) = simulate_job(EXCHANGE, fabric, fabric=mixed, packets=Memo(None)).contentions
    assert (held.tier, held.sample) == ("max-min", None)
    assert held.why == "some switches choose links for each flow, and others for each packet or burst"
