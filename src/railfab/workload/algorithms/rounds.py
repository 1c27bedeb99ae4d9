"""Transfers of a collective in rounds, as columns, with the pieces of the array that each carries."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from railfab.errors import IntentError
from railfab.workload.ranks import RanksByHost

ROW = np.dtype(
    [
        ("begin", np.int32),
        ("times", np.int32),
        ("source", np.int32),
        ("target", np.int32),
        ("channel", np.int16),
        ("first", np.int64),
        ("count", np.int32),
        ("stride", np.int32),
        ("shift", np.int32),
        ("reduces", np.bool_),
        ("in_switch", np.bool_),
    ]
)
"""A transfer between two ranks in `times` consecutive rounds, the first of which is `begin`, from 0.

In its i-th round it carries the `count` pieces first + i shift + j stride, modulo all pieces of the channel. reduces:
the target adds them to its own, else it takes them as they are. in_switch: the switch of the scale-up network adds what
several sources send to a target, or copies what a source sends to several targets, and the link of that rank carries it
once.
"""
Rows = NDArray[np.void]
MOST_TRANSFERS = 1 << 23
"""Rows of a table: some 350 MB."""


@dataclass(frozen=True, slots=True)
class RankLink:
    """A link of a rank: rate in each direction [bytes/s], and latency of a step over it [s]."""

    bytes_per_s: float
    step_s: float


class TooManyTransfers(IntentError):
    """A collective has more transfers than a process should hold."""


def rows(begin: int, source: ArrayLike, target: ArrayLike, **columns: ArrayLike) -> Rows:
    """Rows with these ends; the other columns are those of one piece, copied once, where they are not given."""
    ends = np.broadcast_arrays(source, target)
    table = np.zeros(ends[0].size, ROW)
    given: dict[str, Any] = {"begin": begin, "times": 1, "count": 1, "stride": 1, **columns}
    table["source"], table["target"] = (end.ravel() for end in ends)
    for name, values in given.items():
        table[name] = np.ravel(values)
    return table


def pairs(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """All pairs of different positions, in the order of the first, then of the distance.

    Raises TooManyTransfers for more than MOST_TRANSFERS.
    """
    check_transfers(count * (count - 1))
    here = np.arange(count)
    return np.repeat(here, count - 1), ((here[:, None] + np.arange(1, count)) % count).ravel()


def check_transfers(count: int, most: int = MOST_TRANSFERS) -> None:
    """Refuse more transfers than a process should hold. Raises TooManyTransfers."""
    if count > most:
        problem = f"{count:,} transfers are more than the {most:,} that are held at most"
        raise TooManyTransfers("collective.algorithm", problem, "Use another algorithm, or fewer hosts")


def end(table: Rows) -> int:
    """The number of rounds until the last transfer of a table has ended."""
    return int((table["begin"] + table["times"]).max(initial=0))


def in_turn(*tables: Rows) -> Rows:
    """One table after another: a round of the second begins when all of the first have ended."""
    begun, moved = 0, []
    for table in tables:
        later = table.copy()
        later["begin"] += begun
        begun = max(begun, end(later))
        moved.append(later)
    return np.concatenate(moved)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ChannelRounds:
    """Transfers between the positions of a channel. parts: equal parts of the array, a piece has the bytes of one.

    pieces: number of pieces over all ranks, where different ranks have different arrays.
    """

    parts: int
    table: Rows
    pieces: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TransferRounds:
    """Transfers of an operation among `ranks` ranks, which begin round after round; channels run side by side.

    table: (transfer,) of ROW. piece_bytes: of each piece. pieces: of a channel; piece p belongs to, or is meant for,
    rank ranks_at[channel, p], where each rank has a part of its own. ranks_at: (channel, position). slice_bytes: most
    that is sent at once, None for a whole transfer.
    """

    ranks: int
    table: Rows
    pieces: int
    piece_bytes: float
    ranks_at: NDArray[np.int32]
    slice_bytes: int | None = None

    @property
    def count(self) -> int:
        """Number of rounds."""
        return end(self.table)

    @property
    def payload_bytes(self) -> NDArray[np.float64]:
        """Payload of each transfer in each of its rounds [bytes], (transfer,)."""
        sizes: NDArray[np.float64] = self.table["count"] * self.piece_bytes
        return sizes

    @property
    def messages(self) -> NDArray[np.int64]:
        """Messages in which each transfer is sent in each of its rounds, (transfer,)."""
        if self.slice_bytes is None:
            return np.ones(len(self.table), np.int64)
        return np.maximum(1, np.ceil(self.payload_bytes / self.slice_bytes)).astype(np.int64)

    def carried(self, transfer: int, repetition: int = 0) -> list[int]:
        """The pieces that a transfer carries in its i-th round."""
        row = self.table[transfer]
        begin = int(row["first"]) + repetition * int(row["shift"])
        return [(begin + step * int(row["stride"])) % self.pieces for step in range(row["count"])]

    def intervals(self) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """Numbers of consecutive rounds with the same transfers, and these transfers, from the first round on."""
        begins, ends = self.table["begin"], self.table["begin"] + self.table["times"]
        order = np.argsort(begins, kind="stable")
        firsts = np.flatnonzero(np.diff(begins[order], prepend=-1))
        lasts = np.append(firsts[1:], len(order)) - 1
        spans = np.stack([np.minimum.reduceat(ends[order], firsts), np.maximum.reduceat(ends[order], firsts)])
        if (spans[0] == spans[1]).all() and (spans[1][:-1] <= begins[order][firsts][1:]).all():
            for first, last, until in zip(firsts.tolist(), lasts.tolist(), spans[1].tolist(), strict=True):
                yield until - int(begins[order[first]]), order[first : last + 1]
            return
        borders = np.unique(np.concatenate((begins, ends)))
        for begin, until in zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True):
            yield until - begin, np.flatnonzero((begins <= begin) & (ends >= until))

    def sent_and_received(self, transfers: NDArray[np.intp] | None = None) -> NDArray[np.float64]:
        """Bytes that ranks send and receive, (2, rank): in one round of some transfers, by default in all rounds."""
        if transfers is None:
            table, sizes = self.table, self.payload_bytes * self.table["times"]
        else:
            table = self.table[transfers]
            sizes = table["count"] * self.piece_bytes
        ends = []
        for column, shared in (("source", ~table["reduces"]), ("target", table["reduces"])):
            once = np.ones(len(table), np.bool_)
            switched = np.flatnonzero(table["in_switch"] & shared)
            once[switched] = False
            keys = table[switched][["begin", "channel", column, "first"]]
            once[switched[np.unique(keys, return_index=True)[1]]] = True
            ends.append(np.bincount(table[column][once], sizes[once], minlength=self.ranks))
        return np.stack(ends)

    def edges(self) -> dict[tuple[int, int], float]:
        """Payload of all rounds by source and target [bytes], in the order of the first transfer of each."""
        order = np.argsort(self.table["begin"], kind="stable")
        sizes = self.payload_bytes * self.table["times"]
        payloads: dict[tuple[int, int], float] = {}
        for row in order.tolist():
            pair = (int(self.table["source"][row]), int(self.table["target"][row]))
            payloads[pair] = payloads.get(pair, 0.0) + float(sizes[row])
        return payloads

    def nic_loads(self, ranks: RanksByHost) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Transfers that leave a host, (transfer,), and the NIC by which each leaves, as the rank that has it.

        That is the one with the place of the target on the host of the source (PXN).
        """
        host = np.repeat(np.arange(ranks.hosts), ranks.counts)
        place = np.arange(ranks.count) - np.array(ranks.starts)[host]
        source, target = self.table["source"], self.table["target"]
        leaving = np.array(ranks.starts)[host[source]] + place[target]
        return host[source] != host[target], np.minimum(leaving, ranks.count - 1)

    def seconds_on_hosts(self, ranks: RanksByHost, network: RankLink, scale_up: RankLink) -> tuple[float, float]:
        """Duration of the rounds one after another [s], and the payload that the busiest NIC sends [bytes].

        Ranks share nothing but their own links, to the network and inside the host.
        """
        crosses, leaving = self.nic_loads(ranks)
        sizes, seconds, sent = self.payload_bytes, 0.0, np.zeros(ranks.count)
        for times, transfers in self.intervals():
            outside, inside = transfers[crosses[transfers]], transfers[~crosses[transfers]]
            by_nic = [
                np.bincount(ends[outside], sizes[outside], minlength=ranks.count)
                for ends in (leaving, self.table["target"])
            ]
            volumes_s = (
                float(np.max(by_nic)) / network.bytes_per_s,
                float(self.sent_and_received(inside).max()) / scale_up.bytes_per_s,
            )
            step_s = network.step_s if len(outside) else scale_up.step_s
            seconds += times * (step_s + max(volumes_s))
            sent += times * by_nic[0]
        return seconds, float(sent.max())

    def seconds(self, *, bytes_per_s: float, latency_s: float) -> float:
        """Duration of the rounds one after another, where ranks share nothing but their own ports [s]."""
        return sum(
            times * (latency_s + float(self.sent_and_received(transfers).max()) / bytes_per_s)
            for times, transfers in self.intervals()
        )
