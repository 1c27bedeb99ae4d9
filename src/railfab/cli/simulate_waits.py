"""The tables of `railfab simulate --why`: the slowest ranks, the links on which flows wait, and the flows there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from railfab.cli.common import print_table, print_text
from railfab.text.counted import counted, listed
from railfab.text.folding import folded_sets, number_ranges

if TYPE_CHECKING:
    from railfab.simulate import FabricEstimate
    from railfab.simulate.details import CollidingFlows, OperationWait, RankPlace

MOST_OPERATIONS, MOST_RANKS, MOST_LINKS, MOST_FLOWS = 3, 4, 4, 6
"""Rows of the tables; --output json has more."""
RANK_COLUMNS = ("slowest ranks", "ms", "ideal ms", "ratio")
LINK_COLUMNS = ("link", "flows", "GB/s", "ranks")
FLOW_COLUMNS = ("from", "to", "flows", "GB/s", "alone")


CHOICES = {
    "flow": "for each flow, by a hash",
    "flowlet": "for each burst of a flow, at random; a flow that does not pause keeps its link",
    "adaptive": "for each packet, that with the shortest queue",
    "spray": "for each packet, at random",
}
"""How switches choose among equal links, by the mode of the engine."""


def print_waits(waits: Sequence[OperationWait], run: FabricEstimate) -> None:
    """Print how switches choose links, and the operations that the fabric slows down, most time in a step first."""
    print_text("")
    for mode in run.balancing:
        print_text(f"{'Switches' if len(run.balancing) == 1 else 'Some switches'} choose a link {CHOICES[mode]}.")
    print_text(f"NICs take packets {'in any order' if run.reorders else 'in their order only'}.")
    slowed = [wait for wait in waits if wait.seconds > 1.01 * wait.ideal_s]
    for wait in slowed[:MOST_OPERATIONS]:
        _print_wait(wait, run.seed)
    if len(slowed) > MOST_OPERATIONS:
        print_text(f"and {counted(len(slowed) - MOST_OPERATIONS, 'operation')} more; --output json has each")
    free = [f"{wait.group} {wait.op}" for wait in waits if wait not in slowed]
    if free:
        print_text(f"Only NICs and hosts limit {listed(free)}.")


def _print_wait(wait: OperationWait, seed: int) -> None:
    print_text("")
    title = f"{wait.group} {wait.op}, seed {seed}: the fabric adds {wait.extra_s * 1e3:.2f} ms to its calls in a step"
    print_table(title, RANK_COLUMNS, _rank_rows(wait))
    if not wait.links:
        return
    links = [
        (link.link, link.flows, f"{link.bytes_per_s / 1e9:.1f}", len(link.ranks)) for link in wait.links[:MOST_LINKS]
    ]
    print_table("", LINK_COLUMNS, links)
    slowest = wait.links[0]
    print_text(f"Flows on {slowest.link}: {slowest.reason}")
    print_table("", FLOW_COLUMNS, _flow_rows(slowest.collisions[:MOST_FLOWS]))
    if len(slowest.collisions) > MOST_FLOWS:
        more = counted(len(slowest.collisions) - MOST_FLOWS, "row")
        print_text(f"and {more} more; --output json has each")
    print_text(f"Ranks that wait there: {listed(list(folded_ranks(slowest.ranks)))}.")
    print_text("")


def _rank_rows(wait: OperationWait) -> Iterator[tuple[object, ...]]:
    for rank in wait.ranks[:MOST_RANKS]:
        times = f"{rank.seconds * 1e3:.2f}", f"{rank.ideal_s * 1e3:.2f}"
        ratio = f"{rank.seconds / rank.ideal_s:.2f}" if rank.ideal_s else "-"
        yield f"{rank.rank.host} GPU {rank.rank.gpu}", *times, ratio


def _flow_rows(flows: Iterable[CollidingFlows]) -> Iterator[tuple[object, ...]]:
    for flow in flows:
        rates = (_rate(rate) for rate in (flow.bytes_per_s, flow.alone_bytes_per_s))
        yield flow.source, flow.target, flow.flows, *rates


def _rate(bytes_per_s: float) -> str:
    """A rate [GB/s] with three figures."""
    return f"{bytes_per_s / 1e9:#.3g}"


def folded_ranks(ranks: Iterable[RankPlace]) -> Iterator[str]:
    """Ranks by GPU, equal sets of hosts together: `pod1-seg1-host[1-4] GPU 0-3`."""
    hosts: dict[int, list[str]] = {}
    for rank in ranks:
        hosts.setdefault(rank.gpu, []).append(rank.host)
    gpus: dict[tuple[str, ...], list[int]] = {}
    for gpu, names in sorted(hosts.items()):
        gpus.setdefault(tuple(names), []).append(gpu)
    for members, numbers in gpus.items():
        for name in folded_sets(members):
            yield f"{name} GPU {number_ranges(numbers)}"
