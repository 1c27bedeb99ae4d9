"""Loads of links: what each flow gets, what each link carries, and on which link the slowest flow waits.

The rates are those of water filling, once more in exact numbers, on the links of a rendered fabric.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from railfab.fabric import design
from railfab.fabric.route_links import RouteLinks
from railfab.fabric.routed import RoutedFabric, routed
from railfab.forwarding import Connections
from railfab.simulate.contention import BusyLink
from railfab.simulate.endless import EndlessFlows
from railfab.simulate.link_loads import SlowestInterval, alone_bytes_per_s, busiest_of, slowest_interval
from railfab.simulate.ordered import Carriers
from railfab.workload import TransferRounds
from railfab.workload.algorithms.rounds import rows

NIC = 50_000_000_000
LINK = 20_000_000_000
"""What the links of ports and those between switches carry [bytes/s]."""
MB = 1_000_000


@pytest.fixture(scope="module")
def fabric() -> RoutedFabric:
    return routed(design(Path(__file__).parents[2] / "inventory" / "fabrics" / "pod64.yml"))


@pytest.fixture(scope="module")
def capacity(fabric: RoutedFabric) -> np.ndarray:
    between = [
        not (fabric.links.is_host(near[0]) or fabric.links.is_host(fabric.links.far_key(link)[0]))
        for link, near in enumerate(fabric.links.keys)
    ]
    return np.where(between, float(LINK), float(NIC))


@pytest.fixture(scope="module")
def connections(fabric: RoutedFabric) -> Connections:
    """One from each host of the first segment to each of the second, from port to port of the same name."""
    ports = [port for port in fabric.links.egress if fabric.links.is_host(port[0])]
    name = ports[0][1]
    near, far = ([port for port in ports if port[1] == name and f"seg{segment}" in port[0]] for segment in (1, 2))
    return Connections.of([(source, far[(at + 1) % len(far)], 0) for at, source in enumerate(near)])


def exact_rates(paths: list[list[int]], alike: list[int], capacity: np.ndarray) -> list[Fraction]:
    """Max-min fair rates of flows, each of which stands for a number of equal ones."""
    left = {link: Fraction(int(capacity[link])) for path in paths for link in path}
    rates: dict[int, Fraction] = {}
    while len(rates) < len(paths):
        waiting = [flow for flow in range(len(paths)) if flow not in rates]
        on = Counter(link for flow in waiting for link in paths[flow] for _ in range(alike[flow]))
        fair, link = min((left[link] / count, link) for link, count in on.items())
        for flow in (flow for flow in waiting if link in paths[flow]):
            rates[flow] = fair
            for crossed in paths[flow]:
                left[crossed] -= fair * alike[flow]
    return [rates[flow] for flow in range(len(paths))]


def paths_of(routes: RouteLinks) -> list[list[int]]:
    return [[link for link in links if link >= 0] for links in routes.links.tolist()]


def carried(paths: list[list[int]], alike: list[int], rates: list[Fraction], capacity: np.ndarray) -> dict[int, float]:
    """The share of its capacity that each link carries."""
    sent: Counter[int] = Counter()
    for path, count, rate in zip(paths, alike, rates, strict=True):
        sent.update(dict.fromkeys(path, count * rate))
    return {link: float(rate / int(capacity[link])) for link, rate in sent.items()}


class Rounds:
    """Transfers in two intervals: `first` of the flows in the first rounds, then the others."""

    def __init__(self, fabric: RoutedFabric, connections: Connections, capacity: np.ndarray, first: int) -> None:
        self.fabric, self.connections, self.capacity = fabric, connections, capacity
        self.routes = fabric.paths(connections)
        self.paths = paths_of(self.routes)
        count = len(connections)
        table = rows(0, np.arange(count), np.arange(count) + count, count=np.arange(1, count + 1))
        table["begin"][first:], table["times"] = 3, np.where(np.arange(count) < first, 3, 5)
        ranks = np.arange(2 * count, dtype=np.int32)[None]
        self.rounds = TransferRounds(ranks=2 * count, table=table, pieces=1, piece_bytes=MB, ranks_at=ranks)
        self.share = 1 / (1.07 + np.arange(count) % 3)
        self.spans = (range(first), 3), (range(first, count), 5)

    def slowest(
        self, slowest: set[int], endless: EndlessFlows | None = None, alike: int = 1
    ) -> tuple[np.ndarray, SlowestInterval | None]:
        count = len(self.connections)
        carriers = Carriers(
            transfer=np.arange(count),
            route=np.arange(count),
            share=self.share,
            latency_s=np.zeros(count),
            alike=np.full(count, alike),
            paths=self.routes.links,
            shares=self.routes.shares,
        )
        mask = np.isin(np.arange(count), [*slowest])
        return slowest_interval(self.rounds, carriers, self.capacity, mask, self.connections, self.fabric, endless)


@pytest.fixture(scope="module")
def many(fabric: RoutedFabric, connections: Connections) -> Connections:
    """Four connections from each source, which hashes put on different links, to targets of which some have more."""
    ends = [
        (connections[at][0], connections[at * stream % len(connections)][1])
        for at, stream in product(range(len(connections)), range(4))
    ]
    return Connections.of([(*ports, number) for number, ports in enumerate(ends)])


@pytest.fixture(scope="module")
def given(fabric: RoutedFabric, many: Connections, capacity: np.ndarray) -> Rounds:
    return Rounds(fabric, many, capacity, len(many) // 2)


def test_a_link_carries_the_most_of_its_intervals(given: Rounds) -> None:
    peak, _ = given.slowest({0})
    expected = np.zeros(len(given.capacity))
    for flows, _ in given.spans:
        paths = [given.paths[flow] for flow in flows]
        shares = carried(paths, [1] * len(paths), exact_rates(paths, [1] * len(paths), given.capacity), given.capacity)
        for link, share in shares.items():
            expected[link] = max(expected[link], share)
    assert np.allclose(peak, expected, rtol=2e-3)
    assert (expected > 0).sum() > len(given.paths)


@pytest.mark.parametrize("span", [0, 1])
def test_the_slowest_interval_is_that_in_which_the_slowest_group_spends_most_time(given: Rounds, span: int) -> None:
    """Rounds of flows of another group may take longer."""
    flows, times = given.spans[span]
    _, interval = given.slowest({*list(flows)[:3]})
    assert interval is not None
    paths = [given.paths[flow] for flow in flows]
    rates = exact_rates(paths, [1] * len(paths), given.capacity)
    assert interval.times == times
    assert interval.transfers.tolist() == list(flows)
    expected = np.zeros(len(given.paths))
    expected[list(flows)] = [float(rate) for rate in rates]
    assert np.allclose(interval.route_bytes_per_s, expected, rtol=2e-3)
    crossing = Counter(link for path in paths for link in path)
    assert interval.crossing.tolist() == [crossing[link] for link in range(len(given.capacity))]
    shares = carried(paths, [1] * len(paths), rates, given.capacity)
    assert np.flatnonzero(interval.full).tolist() == sorted(link for link, share in shares.items() if share > 0.999)


def expected_busiest(given: Rounds, flows: list[int], payload: Mapping[int, float], alike: int = 1) -> BusyLink | None:
    """The full link between switches that most flows cross, on the path of the flow with payload that ends last."""
    paths = [given.paths[flow] for flow in flows]
    rates = exact_rates(paths, [alike] * len(paths), given.capacity)
    shares = carried(paths, [alike] * len(paths), rates, given.capacity)
    crossing = Counter(link for path in paths for link in path for _ in range(alike))
    late = max(payload, key=lambda flow: payload[flow] / rates[flows.index(flow)])
    path = given.paths[late]
    full = [link for link in path[1:-1] if shares[link] > 0.999]
    if not full:
        return None
    link = max(full, key=crossing.__getitem__)
    siblings = given.fabric.choices(link, given.connections[late][1])
    ends = min(given.capacity[end] / crossing[end] for end in (path[0], path[-1]))
    return BusyLink(
        link=link,
        flows=crossing[link],
        fair_flows=sum(crossing[sibling] for sibling in siblings) / len(siblings),
        share=float(rates[flows.index(late)]) / ends,
    )


def same(busiest: BusyLink | None, expected: BusyLink | None) -> bool:
    if busiest is None or expected is None:
        return busiest is expected
    exact = (busiest.link, busiest.flows, busiest.fair_flows) == (expected.link, expected.flows, expected.fair_flows)
    return exact and busiest.share == pytest.approx(expected.share, rel=2e-3)


@pytest.mark.parametrize("alike", [1, 3])
def test_the_busiest_link_is_on_the_path_of_the_flow_that_ends_last(given: Rounds, alike: int) -> None:
    expected, busy = [], []
    for flows, _ in given.spans:
        for flow in list(flows)[:-5]:
            group = {flow, flow + 2, flow + 5}
            _, interval = given.slowest(group, alike=alike)
            assert interval is not None
            payload = {member: (member + 1) * given.share[member] for member in group}
            expected.append(expected_busiest(given, [*flows], payload, alike))
            busy.append(interval.busiest)
    assert all(map(same, busy, expected))
    assert len({link.link for link in busy if link is not None}) > 1


def test_of_two_intervals_that_is_slowest_which_takes_longer_with_all_its_rounds(given: Rounds) -> None:
    (first, often), (second, oftener) = given.spans
    every = [*first, *second]
    seconds = {}
    for flows, times in given.spans:
        paths = [given.paths[flow] for flow in flows]
        rates = exact_rates(paths, [1] * len(paths), given.capacity)
        for flow, rate in zip(flows, rates, strict=True):
            seconds[flow] = (flow + 1) * given.share[flow] * times / float(rate)
    chosen = []
    for group in zip(every, every[len(first) :], strict=False):
        _, interval = given.slowest({*group})
        assert interval is not None
        late = max(group, key=seconds.__getitem__)
        assert interval.times == (often if late in first else oftener)
        chosen.append(interval.times)
    assert {*chosen} == {often, oftener}


def test_a_flow_that_only_its_nic_limits_waits_on_no_link(fabric: RoutedFabric, connections: Connections) -> None:
    capacity = np.full(fabric.links_count, float(NIC))
    alone = Rounds(fabric, Connections.of([connections[0]]), capacity, 1)
    peak, interval = alone.slowest({0})
    assert interval is not None
    path = alone.paths[0]
    assert interval.busiest is not None  # all links of its path are full
    capacity[path[1:-1]] *= 2
    peak, interval = Rounds(fabric, Connections.of([connections[0]]), capacity, 1).slowest({0})
    assert interval is not None
    assert interval.busiest is None
    assert peak[path].tolist() == pytest.approx([1.0, *[0.5] * (len(path) - 2), 1.0])


def test_flows_of_another_job_take_their_share_and_are_counted_on_their_links(given: Rounds) -> None:
    endless = EndlessFlows.of(given.routes.only(np.array([0, 0, 1])))
    peak, interval = given.slowest({0}, endless)
    assert interval is not None
    flows, _ = given.spans[0]
    paths = [*(given.paths[flow] for flow in flows), given.paths[0], given.paths[0], given.paths[1]]
    rates = exact_rates(paths, [1] * len(paths), given.capacity)
    assert np.allclose(interval.route_bytes_per_s[list(flows)], [float(rate) for rate in rates[:-3]], rtol=2e-3)
    crossing = Counter(link for path in paths for link in path)
    assert interval.crossing.tolist() == [crossing[link] for link in range(len(given.capacity))]
    assert (peak <= 1 + 2e-3).all()


def test_a_group_without_transfers_has_no_slowest_interval(given: Rounds) -> None:
    _, interval = given.slowest(set())
    assert interval is None


def test_the_last_of_flows_with_different_payload_decides_on_which_link_they_wait(
    given: Rounds, fabric: RoutedFabric, many: Connections
) -> None:
    everything = [*range(len(many))]
    payload = np.arange(1.0, len(many) + 1) * MB
    for late in product(everything[::5], everything[::3]):
        some = np.where(np.isin(everything, late), payload, 0.0)
        busiest = busiest_of(given.routes, given.capacity, some, many, fabric)
        assert same(busiest, expected_busiest(given, everything, {flow: payload[flow] for flow in late}))


def test_a_link_that_some_packets_take_carries_these(given: Rounds) -> None:
    """Two flows, each on a link of its own, whose packets take one of two links in turn; they are scale-up flows,
    which have no connection."""
    table = rows(0, np.arange(2), np.arange(2) + 2)
    ranks = np.arange(4, dtype=np.int32)[None]
    carriers = Carriers(
        transfer=np.arange(2),
        route=np.arange(2),
        share=np.ones(2),
        latency_s=np.zeros(2),
        alike=np.ones(2, np.int64),
        paths=np.array([[0, 2, 3], [1, 2, 3]]),
        shares=np.array([[1.0, 0.5, 0.5], [1.0, 0.5, 0.5]]),
    )
    peak, interval = slowest_interval(
        TransferRounds(ranks=4, table=table, pieces=1, piece_bytes=MB, ranks_at=ranks),
        carriers,
        np.array([40.0, 40.0, 10.0, 20.0]),
        np.ones(2, np.bool_),
        Connections.of([]),
        given.fabric,
    )
    assert peak.tolist() == pytest.approx([0.25, 0.25, 1.0, 0.5], rel=2e-3)
    assert interval is not None
    assert interval.route_bytes_per_s.tolist() == pytest.approx([10.0, 10.0], rel=2e-3)
    assert interval.crossing.tolist() == [1, 1, 2, 2]
    assert interval.full.tolist() == [False, False, True, False]
    assert interval.busiest is None


def test_a_flow_alone_has_the_least_of_its_links_by_the_share_of_its_packets() -> None:
    capacity = np.array([40.0, 10.0, 30.0, 1.0])
    paths = np.array([[0, 2, -1], [0, 1, 2], [0, 0, -1]])
    shares = np.array([[1.0, 1.0, 9.0], [1.0, 0.25, 0.75], [1.0, 2.0, 1.0]])
    assert alone_bytes_per_s(paths, shares, capacity).tolist() == [30.0, 40.0, 20.0]
