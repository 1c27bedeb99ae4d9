"""The base of every model a user's YAML becomes, and the types that several of them share."""

from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field


class Model(BaseModel):
    """Frozen; an unknown key is an error, and so is a number in quotes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


T = TypeVar("T")


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _or_off(schema: dict[str, Any]) -> None:
    """Editors are told what the loader takes: a YAML `off`, which reads as false, besides the model and null."""
    schema["anyOf"].append({"const": False})


Listed = Annotated[tuple[T, ...], BeforeValidator(_tuple)]
"""A YAML list."""

OrOff = Annotated[T | None, BeforeValidator(lambda value: None if value is False else value)]
"""A model, or `off`."""
OFF: Mapping[str, Any] = {"json_schema_extra": _or_off}
"""What the field of an OrOff says to editors."""

Name = Annotated[str, Field(pattern=r"^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$")]
"""Fabric and job names: they become parts of file names, host names and labels."""

Count = Annotated[int, Field(ge=1, le=4096)]
Rate = Annotated[int, Field(ge=1, le=1600)]
"""Port speeds [Gb/s]."""
Metres = Annotated[float, Field(gt=0, le=2000, strict=False)]
Vlan = Annotated[int, Field(ge=1, le=4094)]
PrefixV4 = Annotated[IPv4Network, Field(strict=False)]
Prefix = PrefixV4 | Annotated[IPv6Network, Field(strict=False)]
"""An IP prefix, `10.0.0.0/8`."""
