"""Conditions of the steps of a training job: checkpoints, and GPUs, hosts and links that are slow."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, field_validator

from railfab.intent.model import Count, KeyFault, Listed, Model, Text
from railfab.intent.sizes import or_size, size_bytes

Factor = Annotated[float, Field(ge=1, le=1000)]
StorageRate = Annotated[float, Field(gt=0, le=10**7)]


class Checkpoint(Model):
    """The state of the training, which all GPUs write to storage every so many steps, or every so many seconds."""

    every_steps: Annotated[int, Field(ge=1, le=10**6)] | None = Field(
        default=None, description="steps from one checkpoint to the next; write this or `every_s`"
    )
    every_s: Annotated[float, Field(gt=0, le=10**6)] | None = Field(
        default=None, description="least time of the steps from one checkpoint to the next [s]"
    )
    bytes: Annotated[int, Field(ge=1, le=10**16, json_schema_extra=or_size)] | None = Field(
        default=None,
        description="a checkpoint of the whole job; by default 14 bytes a parameter: BF16, and FP32 with both "
        "moments of Adam",
    )
    storage_gbps: StorageRate | None = Field(
        default=None,
        description="what the storage takes of all hosts together [Gb/s]; by default the ports of the storage servers",
    )
    asynchronous: bool = Field(
        default=False, description="hosts write beside the next steps; GPUs wait for the copy to the memory of the host"
    )
    copy_gbps: StorageRate = Field(
        default=400, description="copy of a GPU to the memory of its host, if asynchronous [Gb/s]"
    )

    _size = field_validator("bytes", mode="before")(size_bytes)

    def _faults(self) -> Iterator[KeyFault]:
        stated = [key for key in ("every_steps", "every_s") if getattr(self, key) is not None]
        if len(stated) != 1:
            problem = f"the checkpoint has {' and '.join(stated) or 'neither every_steps nor every_s'}"
            yield KeyFault("", problem, "Write one of every_steps and every_s")


class FactorRange(Model):
    """Factors that are drawn, each as likely as any other."""

    least: Factor = Field(default=1.0, description="the smallest factor")
    most: Factor = Field(description="the largest factor")

    def _faults(self) -> Iterator[KeyFault]:
        if self.least > self.most:
            yield KeyFault("most", f"{self.most} is less than least, {self.least}", f"Use {self.least} or more")


class Straggler(Model):
    """One that is slower than the others: a GPU, a host or a link by name, or each of a kind with a probability."""

    host: Text | None = Field(default=None, description="name of a host, all of whose GPUs compute slowly")
    gpu: Count | None = Field(default=None, description="one GPU of the host, from 1")
    link: Text | None = Field(
        default=None, description="a cable, as NODE:INTERFACE of one of its ends; not in a closed form"
    )
    every: Literal["gpu", "host", "link"] | None = Field(
        default=None, description="each GPU or host of the job, or each cable of the networks that the job uses"
    )
    probability: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="that one of `every` is slow; 1 without it"
    )
    seed: Annotated[int, Field(ge=0, le=2**32)] = Field(default=1, description="of what is drawn")
    factor: Factor | FactorRange = Field(
        description="computation takes so many times as long, or a link has its rate over this; or `{least, most}`, "
        "between which it is drawn"
    )

    @property
    def names(self) -> tuple[str, ...]:
        """The keys that say what is slow."""
        return tuple(key for key in ("host", "link", "every") if getattr(self, key) is not None)

    def _faults(self) -> Iterator[KeyFault]:
        if len(self.names) != 1:
            problem = f"the straggler has {' and '.join(self.names) or 'neither host, link nor every'}"
            yield KeyFault("", problem, "Write one of host, link and every")
        if self.gpu is not None and self.host is None:
            yield KeyFault("gpu", "a GPU needs its host", "Add host, or leave gpu out")
        if self.probability is not None and self.every is None:
            yield KeyFault("probability", "what has a name is slow always", "Leave it out, or use every")


Stragglers = Annotated[Listed[Straggler], Field(min_length=1)]
