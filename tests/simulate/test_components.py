"""Components and their canonical form: equal forms for equal components, whatever their parts are called."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from tests.sim.fabrics import leaf_spine, lossless, marking

from railfab.sim import Network
from railfab.sim.network import LINK_AXES, NODE_AXES, part_of
from railfab.simulate import canonical as canonical_module
from railfab.simulate.canonical import canonical, numbered
from railfab.simulate.components import Component, component_of, connected, meeting_links
from railfab.simulate.network_colours import NetworkColours
from railfab.simulate.ordered import Carriers
from railfab.workload import RanksByHost, transfer_rounds

HOSTS, LEAVES, SPINES = 4, 4, 2
FIRST_UPLINK = 2 * HOSTS * LEAVES


@pytest.fixture
def network() -> Network:
    return marking(lossless(leaf_spine(LEAVES, HOSTS, SPINES)), 20_000, 80_000, 0.2)


def path(source: int, target: int, spine: int) -> list[int]:
    """Links from a host to one of another leaf."""
    up = FIRST_UPLINK + 2 * (SPINES * (source // HOSTS) + spine)
    down = FIRST_UPLINK + 2 * (SPINES * (target // HOSTS) + spine) + 1
    return [2 * source, up, down, 2 * target + 1]


def component(ends: list[tuple[int, int, int]], pairs: list[tuple[int, int]], sizes: list[int]) -> Component:
    waits = np.array(pairs, np.int64).reshape(-1, 2)
    return Component(
        payload_bytes=np.array(sizes),
        latency_ns=np.full(len(ends), 8800),
        paths=np.array([path(*row) for row in ends]),
        shares=np.ones((len(ends), 4)),
        earlier=waits[:, 0],
        later=waits[:, 1],
        carrier=np.arange(len(ends)),
    )


CROSSING = component([(0, 4, 0), (1, 8, 0), (2, 5, 1), (3, 12, 0), (9, 6, 0)], [(0, 2), (1, 4)], [10, 10, 10, 20, 10])
RING = component(
    [(0, 4, 0), (4, 8, 0), (8, 12, 0), (12, 0, 0)] * 2, [(number, 4 + number) for number in range(4)], [10] * 8
)


def relabelled(part: Component, network: Network, seed: int) -> tuple[Component, Network]:
    """The same with other numbers of flows, cables, and nodes."""
    random = np.random.default_rng(seed)
    cable, flow = random.permutation(network.links // 2), random.permutation(len(part.paths))
    links = np.column_stack((2 * cable, 2 * cable + 1)).ravel()
    nodes = random.permutation(network.nodes)
    number = np.empty(network.links, np.int64)
    number[links] = np.arange(network.links)
    place = np.empty(len(flow), np.int64)
    place[flow] = np.arange(len(flow))
    moved = replace(
        part,
        payload_bytes=part.payload_bytes[flow],
        latency_ns=part.latency_ns[flow],
        paths=number[part.paths[flow]],
        earlier=place[part.earlier],
        later=place[part.later],
    )
    return moved, part_of(network, links, nodes)


def key(part: Component, network: Network) -> str:
    return canonical(part, NetworkColours.of(network)).key


@pytest.mark.parametrize("part", [CROSSING, RING], ids=["crossing", "ring"])
@pytest.mark.parametrize("seed", range(5))
def test_names_of_hosts_switches_cables_and_flows_make_no_difference(
    part: Component, network: Network, seed: int
) -> None:
    assert key(part, network) == key(*relabelled(part, network, seed))


def test_another_rail_or_pod_has_the_same_form(network: Network) -> None:
    """The same flows between other leaves, over the other spine."""
    ends = [(4, 8, 1), (5, 12, 1), (6, 9, 0), (7, 0, 1), (13, 10, 1)]
    moved = component(ends, [(0, 2), (1, 4)], [10, 10, 10, 20, 10])
    assert key(moved, network) == key(CROSSING, network)


@pytest.mark.parametrize(
    "change",
    [
        lambda part: replace(part, payload_bytes=part.payload_bytes + np.arange(5)),
        lambda part: replace(part, latency_ns=part.latency_ns + 1),
        lambda part: replace(part, earlier=part.later, later=part.earlier),
        lambda part: replace(part, paths=np.array([path(0, 4, 1), *part.paths.tolist()[1:]])),
    ],
    ids=["payload", "latency", "order", "path"],
)
def test_what_flows_are_makes_a_difference(network: Network, change: Callable[[Component], Component]) -> None:
    assert key(change(CROSSING), network) != key(CROSSING, network)


@pytest.mark.parametrize(
    "name", [*LINK_AXES, "shared_bytes", "rx_gbps", "rx_buffer_bytes", "balancing", "flowlet_gap_ns"]
)
def test_each_property_of_a_link_or_node_in_use_makes_a_difference_and_of_others_none(
    network: Network, name: str
) -> None:
    used = np.unique(CROSSING.paths)[2]
    unused = 2 * 15
    places = (used, unused) if name in LINK_AXES else (network.far[used], network.near[unused])
    keys = []
    for place in places:
        values = getattr(network, name).copy()
        values[place] = ~values[place] if values.dtype == bool else 7
        keys.append(key(CROSSING, replace(network, **{name: values})))
    assert keys[0] != key(CROSSING, network) == keys[1]


def test_a_flow_alone_has_another_key_with_another_latency(network: Network) -> None:
    alone = component([(0, 4, 0)], [], [10])
    later = replace(alone, latency_ns=alone.latency_ns + 1)
    assert key(later, network) != key(alone, network)


def numbered_key(part: Component, network: Network) -> str:
    """Of the form whose flows are in the order given, which colours do not decide."""
    return numbered(part, NetworkColours.of(network), np.arange(len(part.paths))).key


def test_flows_that_wait_have_another_key_than_those_that_begin_at_once(network: Network) -> None:
    ends = [(0, 4, 0), (1, 5, 0)]
    waiting, at_once = (component(ends, pairs, [10, 10]) for pairs in ([(0, 1)], []))
    assert numbered_key(waiting, network) != numbered_key(at_once, network)


def test_links_of_one_switch_have_another_key_than_those_of_two(network: Network) -> None:
    """Between hosts of one leaf, or of two, of which one waits: what is on a switch shares its buffer."""
    keys = set()
    for second in (2, HOSTS):
        pairs = np.array([[0, 2 * 1 + 1], [2 * second, 2 * (second + 1) + 1]])
        part = replace(component([(0, 4, 0)] * 2, [(0, 1)], [10, 10]), paths=pairs, shares=np.ones((2, 2)))
        keys.add(numbered_key(part, network))
    assert len(keys) == 2


@pytest.mark.parametrize("name", ["shared_bytes", "rx_gbps", "balancing", "rate_gbps", "kmin_bytes"])
def test_a_flow_alone_has_another_key_where_its_links_or_nodes_differ(network: Network, name: str) -> None:
    """The order of flows, which colours decide, cannot tell them apart."""
    alone = component([(0, 4, 0)], [], [10])
    values = getattr(network, name).copy()
    values[:] = 7
    assert key(alone, replace(network, **{name: values})) != key(alone, network)


def test_what_switches_hash_makes_no_difference_as_links_are_given(network: Network) -> None:
    for name in ("hash_fields", "hash_seed"):
        assert name in NODE_AXES
        assert key(CROSSING, replace(network, **{name: getattr(network, name) + 1})) == key(CROSSING, network)


def test_two_short_circles_are_not_one_long_one(network: Network) -> None:
    """Each flow shares both its links between switches with one flow, so that colours alone do not tell them apart."""
    wide = lossless(leaf_spine(6, 2, 1))

    def circle(leaves: list[int]) -> list[list[int]]:
        ends = zip(leaves, [*leaves[1:], leaves[0]], strict=True)
        return [[4 * a, 24 + 2 * a, 24 + 2 * b + 1, 4 * b + 1] for a, b in ends]

    def made(paths: list[list[int]]) -> Component:
        none = np.zeros(0, np.int64)
        sizes, latency = np.full(len(paths), 10), np.full(len(paths), 0)
        return Component(
            payload_bytes=sizes,
            latency_ns=latency,
            paths=np.array(paths),
            shares=np.ones((len(paths), 4)),
            earlier=none,
            later=none,
            carrier=np.arange(len(paths)),
        )

    assert key(made(circle([0, 1, 2]) + circle([3, 4, 5])), wide) != key(made(circle([0, 1, 2, 3, 4, 5])), wide)


@pytest.mark.parametrize("seed", range(3))
def test_connected_members_are_those_that_a_search_reaches(seed: int) -> None:
    random = np.random.default_rng(seed)
    member, shared = random.integers(0, 60, 80), random.integers(0, 40, 80)
    numbers = connected(member, shared, 60)
    for start in range(60):
        reached, before = {start}, set()
        while reached != before:
            before = reached
            keys = set(shared[np.isin(member, list(reached))].tolist())
            reached = before | set(member[np.isin(shared, list(keys))].tolist())
        assert reached == set(np.flatnonzero(numbers == numbers[start]).tolist())


def test_flows_that_wait_for_each_other_are_one_component() -> None:
    """A ring has one, as each rank waits for what it receives; ranks that send once do not wait."""
    ring = transfer_rounds("allgather", "ring", RanksByHost((1,) * 4), 4096)
    once = transfer_rounds("sendrecv", "direct", RanksByHost((1,) * 4), 4096)
    for rounds, components in ((ring, 1), (once, 4)):
        count = len(rounds.table)
        carriers = Carriers(
            transfer=np.arange(count),
            route=np.arange(count),
            share=np.ones(count),
            latency_s=np.zeros(count),
            alike=np.ones(count, np.int64),
            paths=np.arange(count)[:, None],
            shares=np.ones((count, 1)),
        )
        assert int(component_of(rounds, carriers, carriers.paths).max()) + 1 == components


def met(paths: list[list[int]], peak: float = 1.0, *, slow: tuple[int, ...] = ()) -> set[int]:
    """The links on which flows of these paths meet, of links of which some carry a tenth."""
    capacity = np.ones(40)
    capacity[list(slow)] = 0.1
    return set(np.flatnonzero(meeting_links(np.array(paths), capacity, np.full(40, peak))).tolist())


def test_flows_of_one_nic_meet_there_and_those_of_two_where_they_can_send_more_than_a_link_carries() -> None:
    assert met([[0, 10, 20, -1], [0, 11, 21, -1], [2, 11, 22, -1]]) == {0, 2, 11}
    assert met([[0, 10, 20, -1], [0, 11, 21, -1], [2, 12, 22, -1]]) == {0, 2}
    assert met([[0, 10, 20, -1], [2, 12, 22, -1]], slow=(20,)) == {0, 2, 10, 20}


def test_links_before_one_that_can_congest_may_be_stopped_by_it() -> None:
    """Flow 2 > 10 > 22 waits when 20 stops link 10, though all of its links have room."""
    assert met([[0, 10, 20], [2, 10, 22], [4, 14, 20]], slow=()) >= {0, 2, 4, 10, 14, 20}
    wide = met([[0, 10, 20, 30], [2, 11, 20, 31], [2, 11, 21, 32]])
    assert wide == {0, 2, 10, 11, 20}


def test_flows_that_fill_a_link_by_less_than_half_do_not_meet_there() -> None:
    assert met([[0, 10, 20], [2, 10, 22]], peak=0.4) == {0, 2}
    assert met([[0, 10, 20], [2, 10, 22]], peak=0.6) == {0, 2, 10}


def test_copies_of_links_join_the_same_switches_and_are_like_them(network: Network) -> None:
    colours = NetworkColours.of(network)
    paths = np.array([path(0, 4, 0), path(1, 5, 0), [0, 3, -1, -1]])
    copied = np.array([[False, True, True, False], [False, True, False, False], [False] * 4])
    laid, over = colours.with_copies(paths, copied)
    assert np.array_equal(laid.link_of[over[over >= 0]], paths[paths >= 0])
    assert len(set(over[copied].tolist())) == 3
    for row, before in zip(over.tolist(), paths.tolist(), strict=True):
        links = [link for link in row if link >= 0]
        assert [laid.far[link] for link in links[:-1]] == [laid.near[link] for link in links[1:]]
        assert [laid.far[link ^ 1] for link in links] == [laid.near[link] for link in links]
        ends = [before[0], [link for link in before if link >= 0][-1]]
        assert (laid.near[links[0]], laid.far[links[-1]]) == (colours.near[ends[0]], colours.far[ends[1]])
    assert np.array_equal(laid.links, colours.links[laid.link_of])
    assert np.array_equal(laid.nodes, colours.nodes[laid.node_of])


def test_a_form_whose_colours_were_not_refined_is_one_of_the_same_flows(
    network: Network, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(canonical_module, "MOST_STEPS", 0)
    form = canonical(RING, NetworkColours.of(network))
    assert np.array_equal(form.links[form.paths], RING.paths[form.order])
    assert np.array_equal(form.order[form.later], form.order[form.earlier] + 4)
