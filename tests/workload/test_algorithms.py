"""Laws of the algorithms of collective operations, run on the pieces that each transfer carries."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from railfab.errors import IntentError
from railfab.workload.algorithms import ALGORITHMS, Algorithm, TransferRounds, transfer_rounds
from railfab.workload.operations import OPERATIONS
from railfab.workload.ranks import RanksByHost

HOSTS = [
    (2,),
    (1, 1),
    (8,),
    (1,) * 8,
    (4, 4),
    (2,) * 4,
    (2,) * 8,
    (1,) * 3,
    (3,) * 3,
    (1,) * 7,
    (5,),
    (2, 3),
    (3, 1, 2),
]
"""Ranks on each host."""
CASES = [(op, name) for op, algorithms in ALGORITHMS.items() for name in algorithms]
SIZE = 2.2e6
"""Several chunks for algorithms that have them."""
Held = dict[tuple[int, int], set[int]]
"""The ranks whose contributions a rank has, by channel and piece."""


def served(op: str, name: str) -> Iterator[RanksByHost]:
    algorithm: Algorithm = ALGORITHMS[op][name]
    return (ranks for ranks in map(RanksByHost, HOSTS) if not algorithm.obstacle(ranks))


def run(rounds: TransferRounds, held: list[Held]) -> list[Held]:
    """Carry the pieces: transfers of a round see what was there before it. Nothing is added twice, or sent unknown."""
    table = rounds.table
    for turn in range(rounds.count):
        arriving: list[tuple[int, tuple[int, int], bool, frozenset[int]]] = []
        for row in np.flatnonzero((table["begin"] <= turn) & (turn < table["begin"] + table["times"])).tolist():
            source, target, channel = (int(table[name][row]) for name in ("source", "target", "channel"))
            for piece in rounds.carried(row, turn - int(table["begin"][row])):
                sent = frozenset(held[source][channel, piece])
                arriving.append((target, (channel, piece), bool(table["reduces"][row]), sent))
        for target, key, reduces, sent in arriving:
            if reduces:
                assert not held[target][key] & sent
                held[target][key] |= sent
            else:
                held[target][key] = set(sent)
    return held


def everything(rounds: TransferRounds) -> set[int]:
    return set(range(rounds.ranks))


def same_array(rank: int, channel: int, piece: int, rounds: TransferRounds) -> set[int]:
    return {rank}


def nothing_missing(rank: int, channel: int, piece: int, rounds: TransferRounds) -> set[int]:
    return everything(rounds)


def part_of_all(rank: int, channel: int, piece: int, rounds: TransferRounds) -> set[int] | None:
    return everything(rounds) if rounds.ranks_at[channel, piece] == rank else None


def own_part(rank: int, channel: int, piece: int, rounds: TransferRounds) -> set[int] | None:
    return {rank} if rounds.ranks_at[channel, piece] == rank else None


def part_of_its_rank(rank: int, channel: int, piece: int, rounds: TransferRounds) -> set[int]:
    return {int(rounds.ranks_at[channel, piece])}


def of_root(rank: int, channel: int, piece: int, rounds: TransferRounds) -> set[int] | None:
    return {0} if rank == 0 else None


def everywhere_of_root(rank: int, channel: int, piece: int, rounds: TransferRounds) -> set[int]:
    return {0}


def parts_for_all(rank: int, channel: int, piece: int, rounds: TransferRounds) -> set[int] | None:
    return {rank} if rounds.ranks_at[channel, piece // rounds.ranks] == rank else None


def parts_from_all(rank: int, channel: int, piece: int, rounds: TransferRounds) -> set[int] | None:
    source, target = (int(rounds.ranks_at[channel, place]) for place in divmod(piece, rounds.ranks))
    return {source} if target == rank else None


def of_rank_before(rank: int, channel: int, piece: int, rounds: TransferRounds) -> set[int] | None:
    return {piece} if rank == (piece + 1) % rounds.ranks else None


Data = Callable[[int, int, int, TransferRounds], set[int] | None]
DATA: dict[str, tuple[Data, Data]] = {
    "allreduce": (same_array, nothing_missing),
    "allgather": (own_part, part_of_its_rank),
    "reducescatter": (same_array, part_of_all),
    "alltoall": (parts_for_all, parts_from_all),
    "broadcast": (of_root, everywhere_of_root),
    "sendrecv": (own_part, of_rank_before),
}
"""Contributions in a piece of a rank before and after each operation; None: any, and before, nothing."""


def test_every_operation_has_algorithms_and_says_what_its_ranks_have_before_and_after() -> None:
    assert set(DATA) == set(ALGORITHMS) == set(OPERATIONS)


@pytest.mark.parametrize(("op", "name"), CASES)
@pytest.mark.parametrize("channels", [1, 3])
def test_each_rank_ends_with_the_right_data(op: str, name: str, channels: int) -> None:
    before, after = DATA[op]
    for ranks in served(op, name):
        rounds = transfer_rounds(op, name, ranks, SIZE, channels=channels)
        keys = [(channel, piece) for channel in range(channels) for piece in range(rounds.pieces)]
        held = [{key: before(rank, *key, rounds) or set() for key in keys} for rank in range(ranks.count)]
        held = run(rounds, held)
        for rank in range(ranks.count):
            for key in keys:
                wanted = after(rank, *key, rounds)
                assert wanted is None or held[rank][key] == wanted, (ranks, rank, key)


@pytest.mark.parametrize(("op", "name"), CASES)
def test_the_bytes_on_the_wire_are_the_factor_times_the_array(op: str, name: str) -> None:
    """The busiest rank of a channel, of what it sends and what it receives the larger."""
    for ranks in served(op, name):
        busiest = transfer_rounds(op, name, ranks, SIZE).sent_and_received().max()
        assert busiest == pytest.approx(ALGORITHMS[op][name].wire_factor(ranks) * SIZE), ranks


@pytest.mark.parametrize("op", ALGORITHMS)
def test_the_bus_factor_is_the_least_that_any_algorithm_sends_without_a_switch_that_adds(op: str) -> None:
    ranks = RanksByHost((1,) * 16)
    least = min(algorithm.wire_factor(ranks) for algorithm in ALGORITHMS[op].values())
    assert OPERATIONS[op].bus_factor(16) == pytest.approx(least)


@pytest.mark.parametrize(("op", "name"), CASES)
def test_channels_divide_the_array(op: str, name: str) -> None:
    """What all ranks send is the same but for chunks, which round nothing."""
    ranks = next(served(op, name))
    sent = [
        transfer_rounds(op, name, ranks, SIZE, channels=channels).sent_and_received()[0].sum() for channels in (1, 4)
    ]
    assert sent[0] == pytest.approx(sent[1])


def test_channels_of_a_ring_reach_each_host_at_different_ranks() -> None:
    rounds = transfer_rounds("allreduce", "ring", RanksByHost((4, 4)), SIZE, channels=4)
    table = rounds.table
    crossing = table[table["source"] // 4 != table["target"] // 4]
    entered = {(int(row["channel"]), int(row["target"])) for row in crossing}
    assert entered == {(channel, host + channel) for channel in range(4) for host in (0, 4)}


@pytest.mark.parametrize("nodes", range(1, 40))
def test_inner_nodes_of_a_tree_are_leaves_of_the_second(nodes: int) -> None:
    from railfab.workload.algorithms.trees import two_tree

    parents = [two_tree(nodes, tree) for tree in (0, 1)]
    children = [[list(tree).count(node) for node in range(nodes)] for tree in parents]
    assert all(min(counts) <= 1 and max(counts) <= 2 for counts in zip(*children, strict=True))
    assert all(list(tree).count(-1) == 1 for tree in parents)


def test_a_table_states_repeated_rounds_once() -> None:
    rounds = transfer_rounds("allreduce", "ring", RanksByHost((1,) * 1024), SIZE)
    assert (rounds.count, len(rounds.table)) == (2 * 1023, 2 * 1024)


def test_a_transfer_leaves_in_slices_of_nccl() -> None:
    """A ring sends 1 MiB at once, an AllToAll 128 KiB; a tree has chunks of at most 512 KiB, each of them whole."""
    ranks, size_bytes = RanksByHost((1,) * 4), 64 << 20
    ring, pairs, tree, halves = (
        transfer_rounds(op, name, ranks, size_bytes)
        for op, name in (
            *(("allreduce", "ring"), ("alltoall", "direct"), ("allreduce", "double-binary-tree")),
            ("allreduce", "halving-doubling"),
        )
    )
    assert [set(rounds.messages.tolist()) for rounds in (ring, pairs, tree, halves)] == [{16}, {128}, {1}, {1}]


def test_a_ring_of_1024_ranks_has_2046_rounds() -> None:
    rounds = transfer_rounds("allreduce", "ring", RanksByHost((1,) * 1024), 256 << 20)
    seconds = 2046 * ((256 << 20) / 1024 / 50e9 + 1e-6)
    assert rounds.seconds(bytes_per_s=50e9, latency_s=1e-6) == pytest.approx(seconds, rel=1e-9)


def test_hosts_with_different_numbers_of_ranks_have_no_rails() -> None:
    with pytest.raises(IntentError) as refused:
        transfer_rounds("allreduce", "hierarchical", RanksByHost((2, 3)), SIZE)
    problem = "hierarchical needs equally many ranks on each host, and there are 2 to 3"
    assert str(refused.value) == f"collective.algorithm: {problem}. Use ring."
