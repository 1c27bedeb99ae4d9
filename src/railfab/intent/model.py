"""The base of every model a user's YAML becomes, and the types that several of them share."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, NamedTuple, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from railfab.intent.words import shown

T = TypeVar("T")


class Fault(NamedTuple):
    """Something wrong that its type does not say: the key below the model that shows it, problem and remedy."""

    key: str
    problem: str
    remedy: str


def refusal(*faults: Fault) -> PydanticCustomError:
    """The error for a validator to raise."""
    said = "; ".join(f"{fault.problem}; {fault.remedy}" for fault in faults)
    return PydanticCustomError("faults", "{said}", {"said": said, "faults": faults})


class Model(BaseModel):
    """Frozen; an unknown key is an error, and so is a number in quotes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

    def _faults(self) -> Iterator[Fault]:
        """Keys that do not go together."""
        return iter(())

    @model_validator(mode="after")
    def _keys_go_together(self) -> Self:
        if faults := tuple(self._faults()):
            raise refusal(*faults)
        return self


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


Listed = Annotated[tuple[T, ...], BeforeValidator(_tuple)]
"""A YAML list."""


OrOff = Annotated[T | None, BeforeValidator(lambda value: None if value is False else value)]
"""A model, or `off`."""


def or_off(schema: dict[str, Any]) -> None:
    """What the field of an OrOff says to editors: a YAML `off` reads as false, and may stand there too."""
    schema["anyOf"].append({"const": False})


NAME_PATTERN = r"^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$"
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
"""Fabric and job names: they become parts of file names, host names and labels."""
LINE_PATTERN = r"^[^\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$"
"""No control characters, line ends, or marks that hide or turn what follows."""
Line = Annotated[str, Field(max_length=500, pattern=LINE_PATTERN)]
"""A line of text, or none: it may become part of a table, a label or a configuration."""
Text = Annotated[str, Field(min_length=1, max_length=200, pattern=LINE_PATTERN)]
"""A line of text."""

NUMBERED: dict[str, Any] = {"propertyNames": {"pattern": "^[1-9][0-9]*$"}}
"""What a mapping whose keys are numbers says to editors."""

Count = Annotated[int, Field(ge=1, le=4096)]
Rate = Annotated[int, Field(ge=1, le=1600)]
"""Port speeds [Gb/s]."""
Metres = Annotated[float, Field(gt=0, le=2000)]
Vlan = Annotated[int, Field(ge=1, le=4094)]


def _parsed(value: Any, *, strict: bool) -> IPv4Network | IPv6Network | None:
    try:
        return ip_network(value, strict=strict) if isinstance(value, str) and "/" in value else None
    except ValueError:
        return None


def _prefix(value: Any) -> IPv4Network | IPv6Network:
    """A prefix as it is written: a bare address is none, and bits beyond the length are a slip."""
    if isinstance(value, IPv4Network | IPv6Network):
        return value
    network = _parsed(value, strict=False)
    if network is None:
        raise refusal(Fault("", f"{shown(value)} is not a prefix", "Write one such as 10.0.0.0/8"))
    if _parsed(value, strict=True) is None:
        raise refusal(Fault("", f"{shown(value)} has bits beyond its length", f"Write {network}"))
    return network


def _prefix_v4(value: Any) -> IPv4Network:
    network = _prefix(value)
    if isinstance(network, IPv6Network):
        raise refusal(Fault("", f"{network} is an IPv6 prefix", "Write an IPv4 one, such as 10.0.0.0/8"))
    return network


def _address_v4(value: Any) -> IPv4Address:
    try:
        if isinstance(value, str | IPv4Address):
            return IPv4Address(value)
    except ValueError:
        pass
    raise refusal(Fault("", f"{shown(value)} is not an IPv4 address", "Write one such as 10.0.0.1"))


PrefixV4 = Annotated[IPv4Network, BeforeValidator(_prefix_v4)]
Prefix = Annotated[IPv4Network | IPv6Network, BeforeValidator(_prefix)]
"""An IP prefix, `10.0.0.0/8`."""
AddressV4 = Annotated[IPv4Address, BeforeValidator(_address_v4)]
