"""Collective operations: their algorithms as rounds of transfers, and their bus bandwidth.

An algorithm is one function in OPERATIONS, under the operation whose factors it shares. The twin takes its transfers,
the closed form its rounds.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Literal

from railfab.errors import IntentError

Peers = Callable[[int], Iterable[int]]
"""The ranks to which a rank sends in a round; none where it sends nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Transfers that begin together: each rank sends payload_bytes to each of its peers. times: such rounds in a row.

    fan: the most transfers that leave or reach one rank, which share its port.
    """

    peers: Peers
    payload_bytes: float
    times: int = 1
    fan: int = 1


Rounds = Callable[[int, float], Iterator[Round]]
"""The rounds for a number of ranks and a size of the whole array [bytes]."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectiveKind:
    """An operation among the ranks of a group.

    bus_factor: bytes that cross the port of a rank for each byte of the array, by the number of ranks; that of
    nccl-tests, doc/PERFORMANCE.md. boundary: bus bandwidth between hosts for n ranks, k of them on each host, in NIC
    rates of one GPU: rings leave a host by the NICs of all ranks there; of an AllToAll, only the share for ranks on
    other hosts takes the NIC. algorithms: by name, the default one first. powers_of_two: those that need such a number.
    fixed: ranks that have a role of their own, and keep their places in every channel: none, the root, or all.
    """

    bus_factor: Callable[[int], float]
    boundary: Callable[[int, int], float]
    algorithms: Mapping[str, Rounds]
    powers_of_two: frozenset[str] = frozenset()
    fixed: Literal["none", "root", "all"] = "none"

    def rounds(self, ranks: int, size_bytes: float, algorithm: str | None = None) -> Iterator[Round]:
        """The rounds of an algorithm, by default the first. Raises IntentError for ranks it cannot serve."""
        name = algorithm or next(iter(self.algorithms))
        if name in self.powers_of_two and ranks & (ranks - 1):
            others = [known for known in self.algorithms if known not in self.powers_of_two]
            problem = f"{name} needs a power of two ranks, and there are {ranks}"
            raise IntentError("collective.algorithm", problem, f"Use {others[0]}")
        return self.algorithms[name](ranks, size_bytes) if ranks > 1 else iter(())


def shifted(distance: int, ranks: int) -> Peers:
    """The rank that follows at this distance, in a circle."""
    return lambda rank: ((rank + distance) % ranks,)


def _paired(distance: int) -> Peers:
    return lambda rank: (rank ^ distance,)


def _everyone(ranks: int) -> Peers:
    return lambda rank: ((rank + distance) % ranks for distance in range(1, ranks))


def _inner(distance: int, ranks: int) -> Peers:
    """The first ranks, up to this distance, have the array and pass it on."""
    return lambda rank: (rank + distance,) if rank < distance and rank + distance < ranks else ()


def _halves(distance: int) -> Peers:
    """Every rank that has a part of the array passes half of it on, in a tree with the root at rank 0."""
    return lambda rank: (rank + distance,) if rank % (2 * distance) == 0 else ()


def _distances(ranks: int) -> list[int]:
    """Powers of two below the number of ranks."""
    return [1 << exponent for exponent in range((ranks - 1).bit_length())]


def _ring(ranks: int, size_bytes: float, *, turns: int = 1) -> Iterator[Round]:
    """Patarasuk and Yuan, Bandwidth optimal all-reduce algorithms, 2009."""
    yield Round(peers=shifted(1, ranks), payload_bytes=size_bytes / ranks, times=turns * (ranks - 1))


def _pairwise(ranks: int, size_bytes: float) -> Iterator[Round]:
    for distance in range(1, ranks):
        yield Round(peers=shifted(distance, ranks), payload_bytes=size_bytes / ranks)


def _direct(ranks: int, size_bytes: float, *, turns: int = 1) -> Iterator[Round]:
    yield Round(peers=_everyone(ranks), payload_bytes=size_bytes / ranks, times=turns, fan=ranks - 1)


def _halving(ranks: int, size_bytes: float) -> Iterator[Round]:
    for distance in reversed(_distances(ranks)):
        yield Round(peers=_paired(distance), payload_bytes=size_bytes * distance / ranks)


def _doubling(ranks: int, size_bytes: float) -> Iterator[Round]:
    for distance in _distances(ranks):
        yield Round(peers=_paired(distance), payload_bytes=size_bytes * distance / ranks)


def _halving_doubling(ranks: int, size_bytes: float) -> Iterator[Round]:
    """Rabenseifner's: a ReduceScatter by halves, then an AllGather by doubling."""
    yield from _halving(ranks, size_bytes)
    yield from _doubling(ranks, size_bytes)


def _recursive_doubling(ranks: int, size_bytes: float) -> Iterator[Round]:
    for distance in _distances(ranks):
        yield Round(peers=_paired(distance), payload_bytes=size_bytes)


def _binomial(ranks: int, size_bytes: float) -> Iterator[Round]:
    for distance in _distances(ranks):
        yield Round(peers=_inner(distance, ranks), payload_bytes=size_bytes)


def _scatter_allgather(ranks: int, size_bytes: float) -> Iterator[Round]:
    for distance in reversed(_distances(ranks)):
        yield Round(peers=_halves(distance), payload_bytes=size_bytes * distance / ranks)
    yield from _ring(ranks, size_bytes)


def _send(ranks: int, size_bytes: float) -> Iterator[Round]:
    yield Round(peers=shifted(1, ranks), payload_bytes=size_bytes)


def _own_ranks(ranks: int, ranks_per_host: int) -> float:  # noqa: ARG001
    return ranks_per_host


def _remote_share(ranks: int, ranks_per_host: int) -> float:
    return (ranks - 1) / (ranks - ranks_per_host)


def _all_but_one(ranks: int) -> float:
    return (ranks - 1) / ranks


OPERATIONS: Mapping[str, CollectiveKind] = {
    "allreduce": CollectiveKind(
        bus_factor=lambda ranks: 2 * (ranks - 1) / ranks,
        boundary=_own_ranks,
        algorithms={
            "ring": partial(_ring, turns=2),
            "halving-doubling": _halving_doubling,
            "recursive-doubling": _recursive_doubling,
            "direct": partial(_direct, turns=2),
        },
        powers_of_two=frozenset({"halving-doubling", "recursive-doubling"}),
    ),
    "allgather": CollectiveKind(
        bus_factor=_all_but_one,
        boundary=_own_ranks,
        algorithms={"ring": _ring, "recursive-doubling": _doubling, "direct": _direct},
        powers_of_two=frozenset({"recursive-doubling"}),
    ),
    "reducescatter": CollectiveKind(
        bus_factor=_all_but_one,
        boundary=_own_ranks,
        algorithms={"ring": _ring, "pairwise": _pairwise, "recursive-halving": _halving, "direct": _direct},
        powers_of_two=frozenset({"recursive-halving"}),
    ),
    "alltoall": CollectiveKind(
        bus_factor=_all_but_one,
        boundary=_remote_share,
        algorithms={"pairwise": _pairwise, "direct": _direct},
    ),
    "broadcast": CollectiveKind(
        bus_factor=lambda ranks: 1.0,  # noqa: ARG005
        boundary=_own_ranks,
        algorithms={"binomial": _binomial, "scatter-allgather": _scatter_allgather},
        powers_of_two=frozenset({"scatter-allgather"}),
        fixed="root",
    ),
    "sendrecv": CollectiveKind(
        bus_factor=lambda ranks: 1.0,  # noqa: ARG005
        boundary=lambda ranks, ranks_per_host: 1.0,  # noqa: ARG005
        algorithms={"direct": _send},
        fixed="all",
    ),
}
"""Every operation, by the name that job files use."""


def edges(rounds: Iterable[Round], ranks: int) -> dict[tuple[int, int], float]:
    """The payload of all rounds by sender and receiver [bytes], in the order of the first transfer of each."""
    payloads: defaultdict[tuple[int, int], float] = defaultdict(float)
    for turn in rounds:
        for rank in range(ranks):
            for peer in turn.peers(rank):
                payloads[rank, peer] += turn.times * turn.payload_bytes
    return dict(payloads)


def seconds(rounds: Iterable[Round], *, bytes_per_s: float, latency_s: float) -> float:
    """Duration of rounds one after another, where ranks share nothing but their own ports [s]."""
    return sum(turn.times * (latency_s + turn.fan * turn.payload_bytes / bytes_per_s) for turn in rounds)
