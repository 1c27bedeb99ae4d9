"""Results of a step on a fabric, without the arrays that they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from railfab.simulate.contention import Contention
from railfab.workload import JobEstimate

if TYPE_CHECKING:
    from railfab.simulate.details import OperationDetail, OperationWait


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricEstimate:
    """A step on a fabric with one seed of its hashes. unfollowed: operations that are in closed form, and why.

    details: ranks and links of each contention, where they were asked for. slow_links: cables that the job states to be
    slow. balancing: how switches choose links, the names of Balancing. reorders: NICs take packets in any order.
    """

    seed: int
    step: JobEstimate
    contentions: tuple[Contention, ...]
    unfollowed: tuple[str, ...] = ()
    details: tuple[OperationDetail, ...] = ()
    slow_links: int = 0
    balancing: tuple[str, ...] = ()
    reorders: bool = False

    def waits(self) -> tuple[OperationWait, ...]:
        """Who waits for which link in each operation with details, the most time in a step first."""
        from railfab.simulate.details import OperationWait

        waits = (
            OperationWait(
                group=detail.group,
                op=detail.op,
                size_bytes=detail.size_bytes,
                seconds=detail.seconds,
                ideal_s=detail.ideal_s,
                extra_s=max(0.0, detail.seconds - detail.ideal_s) * self.calls(detail),
                ranks=detail.slowest_ranks(),
                links=detail.waits,
            )
            for detail in self.details
        )
        return tuple(sorted(waits, key=lambda wait: -wait.extra_s))

    def calls(self, detail: OperationDetail) -> float:
        """Calls of an operation in a step, in calls of the size of a detail."""
        turns = (turn for turn in self.step.collectives if (turn.group, turn.op) == (detail.group, detail.op))
        return sum(turn.calls * turn.size_bytes for turn in turns) / detail.size_bytes
