"""A job: the workload of the hosts of a fabric, as a sequence of phases."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, field_validator

from railfab.intent.algorithms import StepAlgorithms, unknown_algorithm
from railfab.intent.model import Count, KeyFault, Listed, Model, Name, Text
from railfab.intent.sizes import or_size, size_bytes
from railfab.intent.step_conditions import Checkpoint, Stragglers
from railfab.intent.training import Accelerator, ModelShape, Parallelism, Placement


class Compute(Model):
    """The GPUs compute and send nothing."""

    ms: Annotated[float, Field(gt=0, le=3_600_000)]


class Collective(Model):
    """A collective operation among the GPUs of a rail, on every rail at the same time, or among all GPUs of the job.

    bytes: the whole array, which for allgather is what each GPU has afterwards, and for reducescatter and alltoall
    what it has before.
    """

    op: Literal["allreduce", "allgather", "reducescatter", "alltoall", "broadcast"]
    algorithm: Text | None = None
    bytes: Annotated[int, Field(ge=1, le=10**13, json_schema_extra=or_size)]
    group: Literal["rail", "all"] = "rail"

    _size = field_validator("bytes", mode="before")(size_bytes)

    def _faults(self) -> Iterator[KeyFault]:
        if self.algorithm is not None:
            yield from unknown_algorithm("algorithm", self.op, self.algorithm)


class AtMost(Model):
    """So many, or all that a fabric has if those are fewer."""

    at_most: Count


class Traffic(Model):
    """Independent flows: each of `senders` GPUs sends `bytes` to each of `receivers` GPUs."""

    pattern: Literal["incast"]
    senders: Count | AtMost
    receivers: Count = 1
    bytes: Annotated[int, Field(ge=1, le=10**13, json_schema_extra=or_size)]

    _size = field_validator("bytes", mode="before")(size_bytes)


class Phase(Model):
    """A phase: exactly one of compute, collective and traffic."""

    compute: Compute | None = None
    collective: Collective | None = None
    traffic: Traffic | None = None

    def _faults(self) -> Iterator[KeyFault]:
        given = [name for name in ("compute", "collective", "traffic") if getattr(self, name) is not None]
        if len(given) != 1:
            problem = f"the phase has {' and '.join(given) or 'no key'}"
            yield KeyFault("", problem, "Write exactly one of compute, collective and traffic per phase")


BackgroundClass = Literal["default", "cnp", "roce"]
"""Traffic classes of the plan."""
Share = Annotated[float, Field(gt=0, le=100)]


OF_MODELS = ("parallelism", "gpu", "algorithm", "checkpoint", "stragglers")
"""Keys of a job that belong to its model."""


class Job(Model):
    """A sequence of phases, or the training step of a model, run `repeat` times, or without end.

    hosts: `all`, the first N, or their names. model: a shape, or the name of a preset; OF_MODELS belong to it, and of
    `placement` the order. background: what each NIC port of the hosts sends beside it all the time, in percent of its
    rate by traffic class.
    """

    version: Literal[1]
    job: Name
    hosts: Literal["all"] | Count | Listed[Text] = "all"
    phases: Annotated[Listed[Phase], Field(min_length=1)] = ()
    model: Text | ModelShape | None = None
    parallelism: Parallelism | None = None
    placement: Placement | None = None
    gpu: Accelerator | None = None
    algorithm: StepAlgorithms | None = None
    checkpoint: Checkpoint | None = None
    stragglers: Stragglers | None = None
    repeat: Annotated[int, Field(ge=1, le=10**9)] | None = None
    background: Annotated[dict[BackgroundClass, Share], Field(min_length=1)] | None = None

    def _faults(self) -> Iterator[KeyFault]:
        stated = self.placement.model_fields_set if self.placement else set()
        if "hosts" in stated and isinstance(self.hosts, tuple):
            problem = "the job names its hosts, which are in the order of its ranks"
            yield KeyFault("placement.hosts", problem, "Leave it out, or state a number of hosts")
        if self.model is None:
            if "order" in stated:
                yield KeyFault("placement.order", "order needs a model", "Add model, or leave it out")
            if not self.phases:
                yield KeyFault("", "the job has neither phases nor a model", "Write one of phases and model")
            for key in OF_MODELS:
                if getattr(self, key) is not None:
                    yield KeyFault(key, f"{key} needs a model", "Add model, or leave it out")
            return
        if self.phases:
            yield KeyFault("phases", "the job has a model, too", "Write one of phases and model")
        if self.background is not None:
            yield KeyFault("background", "a job with a model has no background", "Leave it out, or use phases")
