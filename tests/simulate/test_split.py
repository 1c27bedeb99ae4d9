"""Components of an operation: what makes two of them alike, and what their flows wait for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from tests.sim.fabrics import leaf_spine, lossless

from railfab.sim import Network
from railfab.sim.network import LINK_AXES
from railfab.simulate import components
from railfab.simulate.components import Split
from railfab.simulate.network_colours import NetworkColours
from railfab.simulate.ordered import Carriers, Floats, Numbers, ordered_flows
from railfab.workload import RanksByHost, TransferRounds, transfer_rounds

LEAVES, HOSTS, SPINES = 4, 4, 2
FIRST_UPLINK = 2 * HOSTS * LEAVES


def network() -> Network:
    return lossless(leaf_spine(LEAVES, HOSTS, SPINES))


def carriers_of(rounds: TransferRounds, hosts: list[int], spine: int = 0) -> Carriers:
    """A carrier for each transfer, over a spine. hosts: of the ranks, on different leaves."""
    count, rows = len(rounds.table), []
    for source, target in zip(rounds.table["source"].tolist(), rounds.table["target"].tolist(), strict=True):
        up = FIRST_UPLINK + 2 * (SPINES * (hosts[source] // HOSTS) + spine)
        down = FIRST_UPLINK + 2 * (SPINES * (hosts[target] // HOSTS) + spine) + 1
        rows.append([2 * hosts[source], up, down, 2 * hosts[target] + 1])
    return Carriers(
        transfer=np.arange(count),
        route=np.arange(count),
        share=np.ones(count),
        latency_s=np.full(count, 8.8e-6),
        alike=np.ones(count, np.int64),
        paths=np.array(rows),
        shares=np.ones((count, 4)),
    )


def split_of(rounds: TransferRounds, carriers: Carriers, *, whole: bool = False) -> Split:
    """Components on links of which those between switches carry half of what a NIC sends."""
    fabric = network()
    return Split(
        rounds=rounds,
        carriers=carriers,
        capacity=np.where(np.arange(fabric.links) < FIRST_UPLINK, 1.0, 0.5),
        peak=np.ones(fabric.links),
        delay_s=np.zeros(len(rounds.table)),
        network=NetworkColours.of(fabric),
        whole=whole,
    )


def ring(hosts: list[int], spine: int = 0) -> Split:
    rounds = transfer_rounds("allreduce", "ring", RanksByHost((1,) * len(hosts)), 400_000)
    return split_of(rounds, carriers_of(rounds, hosts, spine))


def one_way() -> Split:
    """A transfer from the first leaf to the second."""
    rounds = transfer_rounds("sendrecv", "direct", RanksByHost((1,) * 4), 4096)
    rounds = replace(rounds, table=rounds.table[:1])
    return split_of(rounds, carriers_of(rounds, RING))


def digest(split: Split, fabric: Network | None = None) -> bytes:
    return (split if fabric is None else replace(split, network=NetworkColours.of(fabric))).digest(0)


RING = [0, 4, 8, 12]


def with_table(split: Split, column: str, row: int, value: int) -> Split:
    table = split.rounds.table.copy()
    table[column][row] = value
    return replace(split, rounds=replace(split.rounds, table=table))


def with_carriers(split: Split, column: str, row: int, value: float) -> Split:
    values = getattr(split.carriers, column).copy()
    values[row] = value
    return replace(split, carriers=replace(split.carriers, **{column: values}))


def test_other_hosts_and_another_spine_have_the_same_digest() -> None:
    assert digest(ring(RING)) == digest(ring([1, 6, 11, 14], spine=1)) == digest(ring([12, 8, 4, 0]))


@pytest.mark.parametrize(
    "change",
    [
        lambda split: replace(split, rounds=replace(split.rounds, piece_bytes=split.rounds.piece_bytes + 1)),
        lambda split: with_table(split, "count", 2, 2),
        lambda split: with_table(split, "times", 1, 2),
        lambda split: with_table(split, "begin", 3, 1),
        lambda split: with_table(split, "channel", 3, 1),
        lambda split: with_table(split, "target", 3, 1),
        lambda split: with_carriers(split, "share", 1, 0.5),
        lambda split: with_carriers(split, "latency_s", 1, 9e-6),
        lambda split: with_carriers(split, "alike", 1, 2),
        lambda split: replace(split, delay_s=1e-6 * np.arange(8)),
        lambda split: with_carriers(split, "paths", 1, 2 * 5),
    ],
    ids=[
        *("piece", "size", "times", "begin", "channel", "target", "share", "latency", "alike", "delay", "path"),
    ],
)
def test_what_transfers_and_carriers_are_makes_a_difference(change: Callable[[Split], Split]) -> None:
    assert digest(change(ring(RING))) != digest(ring(RING))


def test_a_flow_over_another_spine_makes_a_difference() -> None:
    moved = ring(RING)
    paths = moved.carriers.paths.copy()
    paths[0] = ring(RING, spine=1).carriers.paths[0]
    assert digest(replace(moved, carriers=replace(moved.carriers, paths=paths))) != digest(ring(RING))


@pytest.mark.parametrize("name", [*LINK_AXES, "shared_bytes", "balancing"])
@pytest.mark.parametrize("back", [False, True])
def test_each_property_of_a_link_in_use_of_its_way_back_and_of_a_switch_makes_a_difference(
    name: str, back: bool
) -> None:
    fabric, split = network(), one_way()
    link = FIRST_UPLINK ^ back
    place = link if name in LINK_AXES else fabric.near[FIRST_UPLINK]
    values = getattr(fabric, name).copy()
    values[place] = ~values[place] if values.dtype == bool else 7
    assert digest(split, replace(fabric, **{name: values})) != digest(split)


def test_the_digest_is_of_the_flows_in_use_only() -> None:
    """A second ring beside the first is a component of its own, and both are alike."""
    rounds = transfer_rounds("allreduce", "ring", RanksByHost((1,) * 4), 400_000)
    table = np.concatenate([rounds.table, rounds.table])
    for end in ("source", "target"):
        table[end][8:] += 4
    both = replace(rounds, ranks=8, table=table)
    parts = carriers_of(rounds, RING), carriers_of(rounds, [1, 5, 9, 13], spine=1)
    joined = Carriers(
        transfer=np.arange(16),
        route=np.arange(16),
        share=np.ones(16),
        latency_s=np.full(16, 8.8e-6),
        alike=np.ones(16, np.int64),
        paths=np.concatenate([part.paths for part in parts]),
        shares=np.ones((16, 4)),
    )
    split = split_of(both, joined)
    assert [members.tolist() for members in split.members] == [list(range(8)), list(range(8, 16))]
    assert split.digest(0) == split.digest(1) == digest(ring(RING))
    assert len(replace(split, whole=True).members) == 1


def test_carriers_inside_hosts_are_delays_and_no_component_alone() -> None:
    """The third rank sends inside its host, on no link of the fabric."""
    rounds = transfer_rounds("sendrecv", "direct", RanksByHost((1,) * 4), 4096)
    carriers = carriers_of(rounds, RING)
    paths = carriers.paths.copy()
    paths[2] = [network().links + 1, network().links + 6, -1, -1]
    inside = replace(carriers, paths=paths)
    split = replace(split_of(rounds, inside), delay_s=np.array([0.0, 0.0, 5e-6, 0.0]))
    assert all(2 not in members for members in split.members)
    everything = replace(split, whole=True).component(0, int)
    assert everything.payload_bytes[2] == 0
    assert everything.latency_ns[2] == 5000
    assert (everything.paths[2] == -1).all()
    assert everything.payload_bytes[0] == 4096


def test_sprayed_flows_that_may_share_a_link_are_one_component_and_keep_their_links() -> None:
    """Two flows from one leaf to another, by half over each spine, on links that are nearly idle."""
    rounds = transfer_rounds("sendrecv", "direct", RanksByHost((1,) * 4), 4096)
    rounds = replace(rounds, table=rounds.table[:2])
    links = np.array([[0, 32, 34, 37, 39, 9], [2, 32, 34, 37, 39, 11]])
    shares = np.tile([1.0, 0.5, 0.5, 0.5, 0.5, 1.0], (2, 1))
    carriers = replace(carriers_of(rounds, RING), paths=links, shares=shares)
    split = replace(split_of(rounds, carriers), peak=np.zeros(network().links))
    assert [members.tolist() for members in split.members] == [[0, 1]]
    part = split.component(0, int)
    assert part.paths.tolist() == links.tolist()
    assert part.is_balanced
    assert part.packet_hops(4096) == split.packet_hops(0, 4096) == 8


def test_channels_of_the_same_ranks_do_not_wait_for_each_other() -> None:
    """Two rounds each, the second channel between other ports."""
    rounds = transfer_rounds("allreduce", "ring", RanksByHost((1,) * 4), 400_000)
    table = np.concatenate([rounds.table, rounds.table])
    table["channel"][8:] = 1
    both = replace(rounds, table=table)
    parts = carriers_of(rounds, RING), carriers_of(rounds, [1, 5, 9, 13], spine=1)
    joined = replace(
        carriers_of(both, RING), paths=np.concatenate([part.paths for part in parts]), transfer=np.arange(16)
    )
    assert [members.tolist() for members in split_of(both, joined).members] == [list(range(8)), list(range(8, 16))]


# What flows wait for


def awaited(
    keys: list[tuple[int, int] | None], earlier: Iterable[int], later: Iterable[int]
) -> dict[object, set[object]]:
    """By flow, all that has to end before it; flows that only join others are left out. keys: of each flow."""
    before: dict[int, list[int]] = {}
    for first, second in zip(earlier, later, strict=True):
        before.setdefault(second, []).append(first)

    @cache
    def all_before(flow: int) -> frozenset[object]:
        ends: set[object] = set()
        for first in before.get(flow, []):
            ends |= all_before(first) | ({keys[first]} if keys[first] is not None else set())
        return frozenset(ends)

    return {key: set(all_before(flow)) for flow, key in enumerate(keys) if key is not None}


def numbered(values: Iterable[int]) -> list[tuple[int, int] | None]:
    """Each value with the number of times it came before; None for -1."""
    seen: dict[int, int] = {}
    keys: list[tuple[int, int] | None] = []
    for value in values:
        keys.append(None if value < 0 else (value, seen.get(value, 0)))
        seen[value] = seen.get(value, 0) + 1
    return keys


@pytest.mark.parametrize("most", [0, 2, 8])
@pytest.mark.parametrize(
    ("op", "algorithm", "ranks"),
    [
        ("allreduce", "ring", 4),
        ("allreduce", "halving-doubling", 4),
        ("alltoall", "pairwise", 4),
        ("allreduce", "double-binary-tree", 4),
    ],
)
def test_flows_wait_for_what_they_wait_for_at_max_min_fair_rates(
    op: str, algorithm: str, ranks: int, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With and without flows that join those that one waits for."""
    monkeypatch.setattr(components, "MOST_AWAITED", most)
    rounds = transfer_rounds(op, algorithm, RanksByHost((1,) * ranks), 400_000)
    carriers = carriers_of(rounds, RING)
    split = split_of(rounds, carriers, whole=True)
    part = split.component(0, int)
    flows, carrier = ordered_flows(rounds, carriers)
    mine = awaited(numbered(part.carrier.tolist()), part.earlier.tolist(), part.later.tolist())
    assert mine == awaited(numbered(carrier.tolist()), flows.earlier.tolist(), flows.later.tolist())
    assert any(mine.values())
    assert part.packet_hops(4096) == split.packet_hops(0, 4096)


def test_equal_carriers_that_one_stands_for_are_one_flow_with_the_payload_of_all() -> None:
    split = ring(RING)
    doubled = with_carriers(split, "alike", 1, 2)
    sizes: Numbers = split.component(0, lambda _: 1).payload_bytes
    other_sizes: Numbers = doubled.component(0, lambda _: 1).payload_bytes
    assert (other_sizes / sizes).tolist() == [1, 2, 1, 1] + 4 * [1]


def test_a_part_of_the_payload_keeps_delays_and_at_least_a_byte() -> None:
    part = ring(RING).component(0, lambda _: 1)
    sizes: Floats = np.array([100_000, 0, 3, 10])
    scaled = replace(part, payload_bytes=sizes.astype(np.int64)).scaled(0.1)
    assert scaled.payload_bytes.tolist() == [10_000, 0, 1, 1]
