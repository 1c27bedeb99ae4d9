"""A job: what the hosts of a fabric do, as a sequence of phases."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, field_validator, model_validator

from railfab.intent.model import Count, Model, Name

_SCALES = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def size_bytes(value: object) -> object:
    """`64MB` and its like as a number of bytes."""
    if not isinstance(value, str):
        return value
    for unit, scale in _SCALES.items():
        number = value.removesuffix(unit).strip()
        if number != value and number.replace(".", "", 1).isdigit():
            return round(float(number) * scale)
    raise ValueError(f"{value!r} is not a size; write bytes, or a number with {', '.join(_SCALES)}")


class Compute(Model):
    """The GPUs compute and the fabric rests."""

    ms: Annotated[float, Field(gt=0, le=3_600_000, strict=False)]


class Collective(Model):
    """A collective operation of the GPUs of one rail, on every rail at once. bytes: the buffer of one GPU."""

    op: Literal["allreduce"]
    algorithm: Literal["ring"] = "ring"
    bytes: Annotated[int, Field(ge=1, le=10**13)]
    group: Literal["rail"] = "rail"

    _size = field_validator("bytes", mode="before")(size_bytes)


class Traffic(Model):
    """Plain flows: `senders` GPUs each send `bytes` to each of `receivers` GPUs."""

    pattern: Literal["incast"]
    senders: Count
    receivers: Count = 1
    bytes: Annotated[int, Field(ge=1, le=10**13)]

    _size = field_validator("bytes", mode="before")(size_bytes)


class Phase(Model):
    """One of compute, collective and traffic."""

    compute: Compute | None = None
    collective: Collective | None = None
    traffic: Traffic | None = None

    @model_validator(mode="after")
    def _exactly_one(self) -> Phase:
        given = [name for name in ("compute", "collective", "traffic") if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            raise ValueError(f"a phase is one of compute, collective and traffic, here {found}")
        return self


class Job(Model):
    """Phases in turn, `repeat` times; for ever without it. hosts: `all`, the first N, or their names."""

    version: Literal[1]
    job: Name
    hosts: Literal["all"] | Count | tuple[str, ...] = "all"
    phases: Annotated[tuple[Phase, ...], Field(min_length=1)]
    repeat: Annotated[int, Field(ge=1)] | None = None

    @field_validator("hosts", "phases", mode="before")
    @classmethod
    def _lists_are_tuples(cls, value: object) -> object:
        return tuple(value) if isinstance(value, list) else value
