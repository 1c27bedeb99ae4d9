"""A job: what the hosts of a fabric do, as a sequence of phases."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from railfab.intent.model import Count, Fault, Listed, Model, Name, Text, refusal
from railfab.intent.words import shown

_SCALES = {"kB": 10**3, "MB": 10**6, "GB": 10**9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}
_SIZE = re.compile(rf"([0-9]{{1,15}}(?:\.[0-9]{{0,15}})?) *({'|'.join(_SCALES)})")


def size_bytes(value: object) -> object:
    """`64MB` and its like as a number of bytes."""
    if not isinstance(value, str):
        return value
    if found := _SIZE.fullmatch(value):
        return round(float(found[1]) * _SCALES[found[2]])
    problem = f"{shown(value)} is not a size"
    raise refusal(Fault("", problem, f"Write bytes, or a number with {', '.join(_SCALES)}"))


def or_size(schema: dict[str, Any]) -> None:
    """Editors are told that a text with a unit may stand for the number."""
    number = {key: schema.pop(key) for key in ("type", "minimum", "maximum")}
    schema["anyOf"] = [number, {"type": "string", "pattern": f"^{_SIZE.pattern}$"}]


class Compute(Model):
    """The GPUs compute and the fabric rests."""

    ms: Annotated[float, Field(gt=0, le=3_600_000)]


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

    def _faults(self) -> Iterator[Fault]:
        given = [name for name in ("compute", "collective", "traffic") if getattr(self, name) is not None]
        if len(given) != 1:
            found = " and ".join(given) or "none"
            yield Fault("", f"a phase is one of compute, collective and traffic, here {found}", "Write one a phase")


class Job(Model):
    """Phases in turn, `repeat` times; for ever without it. hosts: `all`, the first N, or their names."""

    version: Literal[1]
    job: Name
    hosts: Literal["all"] | Count | Listed[Text] = "all"
    phases: Annotated[Listed[Phase], Field(min_length=1)]
    repeat: Annotated[int, Field(ge=1, le=10**9)] | None = None
