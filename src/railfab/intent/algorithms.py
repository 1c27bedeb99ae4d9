"""Algorithms of collectives that a job may name: of a phase, or of the operations of a model's step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import Field

from railfab.intent.model import KeyFault, Model, Text
from railfab.text.counted import listed
from railfab.text.display import display

ALGORITHMS: Mapping[str, tuple[str, ...]] = {
    "allreduce": (
        *("ring", "tree", "double-binary-tree", "nvls-tree", "hierarchical"),
        *("halving-doubling", "recursive-doubling", "direct"),
    ),
    "allgather": ("ring", "pat", "hierarchical", "recursive-doubling", "direct"),
    "reducescatter": ("ring", "pat", "hierarchical", "pairwise", "recursive-halving", "direct"),
    "alltoall": ("pairwise", "direct", "hierarchical"),
    "broadcast": ("binomial", "scatter-allgather", "ring"),
}
"""Algorithms that a job may name, by operation; a twin takes the first by default. What they do: railfab.workload."""


def unknown_algorithm(key: str, op: str, name: str) -> Iterator[KeyFault]:
    """The fault of a key that names an algorithm which its operation does not have; none of another."""
    if name not in ALGORITHMS[op]:
        problem = f"{op} has no algorithm {display(name)}"
        yield KeyFault(key, problem, f"Use one of {listed(ALGORITHMS[op])}")


class OperationAlgorithms(Model):
    """Algorithms by operation."""

    allreduce: Text | None = Field(default=None, description="algorithm of AllReduce")
    allgather: Text | None = Field(default=None, description="algorithm of AllGather")
    reducescatter: Text | None = Field(default=None, description="algorithm of ReduceScatter")
    alltoall: Text | None = Field(default=None, description="algorithm of AllToAll")

    def _faults(self) -> Iterator[KeyFault]:
        for op in OperationAlgorithms.model_fields:
            if name := getattr(self, op):
                yield from unknown_algorithm(op, op, name)


class StepAlgorithms(OperationAlgorithms):
    """Algorithms of the collectives of a model's step, in place of NCCL's choice: by operation and by group.

    A group comes before an operation. One algorithm of a group is that of all its operations that have it.
    """

    tp: Text | OperationAlgorithms | None = Field(default=None, description="of tensor groups, or by operation")
    ep: Text | OperationAlgorithms | None = Field(default=None, description="of expert groups, or by operation")
    dp: Text | OperationAlgorithms | None = Field(default=None, description="of replicas, or by operation")
    edp: Text | OperationAlgorithms | None = Field(
        default=None, description="of replicas of the same experts, or by operation"
    )

    def stated(self, group: str, op: str) -> tuple[str, str] | None:
        """The algorithm of an operation of a group, and the key below this that states it; None for NCCL's choice."""
        of_group = getattr(self, group, None)
        if isinstance(of_group, OperationAlgorithms):
            name, key = getattr(of_group, op, None), f"{group}.{op}"
        else:
            name, key = (of_group if of_group in ALGORITHMS.get(op, ()) else None), group
        name, key = (name, key) if name else (getattr(self, op, None), op)
        return (name, key) if name else None

    def stated_keys(self) -> Iterator[str]:
        """Keys below this that state an algorithm."""
        for key, stated in self:
            if isinstance(stated, OperationAlgorithms):
                yield from (f"{key}.{op}" for op, name in stated if name)
            elif stated:
                yield key

    def _faults(self) -> Iterator[KeyFault]:
        yield from super()._faults()
        names = tuple(dict.fromkeys(name for op in OperationAlgorithms.model_fields for name in ALGORITHMS[op]))
        for group in GROUPS_WITH_ALGORITHMS:
            stated = getattr(self, group)
            if isinstance(stated, str) and stated not in names:
                yield KeyFault(group, f"no operation has an algorithm {display(stated)}", f"Use one of {listed(names)}")


GROUPS_WITH_ALGORITHMS = tuple(
    key for key in StepAlgorithms.model_fields if key not in OperationAlgorithms.model_fields
)
"""Kinds of groups that have operations with several algorithms."""
