"""Base class of the models of a user's YAML, and the types that several of them use."""

from collections.abc import Iterator
from ipaddress import IPv4Address, IPv4Network, IPv6Network, ip_network
from typing import Annotated, Any, NamedTuple, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from pydantic_core import PydanticCustomError

from railfab.text.display import display

T = TypeVar("T")


class KeyFault(NamedTuple):
    """A rule of a model that its types do not express, broken: the key below the model, problem and remedy."""

    key: str
    problem: str
    remedy: str


def refusal(*faults: KeyFault) -> PydanticCustomError:
    """The error that a validator raises for these faults."""
    text = "; ".join(f"{fault.problem}; {fault.remedy}" for fault in faults)
    return PydanticCustomError("faults", "{text}", {"text": text, "faults": faults})


class Model(BaseModel):
    """A frozen model; an unknown key is an error, and so is a number in quotes."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False, defer_build=True)

    def _faults(self) -> Iterator[KeyFault]:
        """Keys whose values contradict each other."""
        return iter(())

    def model_post_init(self, context: Any) -> None:  # noqa: ARG002
        if faults := tuple(self._faults()):
            raise refusal(*faults)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


Listed = Annotated[tuple[T, ...], BeforeValidator(_tuple)]
"""A YAML list."""


OrOff = Annotated[T | None, BeforeValidator(lambda value: None if value is False else value)]
"""A model, or `off`."""


def or_off(schema: dict[str, Any]) -> None:
    """Add false to the JSON Schema of an OrOff field: YAML reads `off` as false."""
    schema["anyOf"].append({"const": False})


NAME_PATTERN = r"^[a-z0-9]([a-z0-9-]{0,30}[a-z0-9])?$"
Name = Annotated[str, Field(pattern=NAME_PATTERN)]
"""A name of a fabric, job or tenant: it becomes part of file names, host names and labels."""
PREFIX_PATTERN = r"^([a-z0-9][a-z0-9-]*-)?$"
"""A prefix of host names (RFC 1123), which ends with a hyphen; empty for none."""
LINE_PATTERN = r"^[^\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*$"
"""No control characters, line ends, invisible characters or changes of text direction."""
Line = Annotated[str, Field(max_length=500, pattern=LINE_PATTERN)]
"""A line of text, possibly empty: it may become part of a table, a label or a configuration."""
Text = Annotated[str, Field(min_length=1, max_length=200, pattern=LINE_PATTERN)]
"""A line of text."""
Interval = Annotated[float, Field(ge=0.1, le=86_400)]
"""Time between two samples [s]."""

NUMBERED: dict[str, Any] = {"propertyNames": {"pattern": "^[1-9][0-9]*$"}}
"""JSON Schema of a mapping whose keys are numbers."""

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
    """A prefix as it is written; an address without length and host bits beyond the length are errors."""
    if isinstance(value, IPv4Network | IPv6Network):
        return value
    network = _parsed(value, strict=False)
    if network is None:
        raise refusal(KeyFault("", f"{display(value)} is not a prefix", "Use a prefix such as 10.0.0.0/8"))
    if _parsed(value, strict=True) is None:
        raise refusal(KeyFault("", f"{display(value)} has host bits set", f"Use {network}"))
    return network


def _prefix_v4(value: Any) -> IPv4Network:
    network = _prefix(value)
    if isinstance(network, IPv6Network):
        raise refusal(KeyFault("", f"{network} is an IPv6 prefix", "Use an IPv4 prefix such as 10.0.0.0/8"))
    return network


def _address_v4(value: Any) -> IPv4Address:
    try:
        if isinstance(value, str | IPv4Address):
            return IPv4Address(value)
    except ValueError:
        pass
    raise refusal(KeyFault("", f"{display(value)} is not an IPv4 address", "Use an address such as 10.0.0.1"))


PrefixV4 = Annotated[IPv4Network, BeforeValidator(_prefix_v4)]
Prefix = Annotated[IPv4Network | IPv6Network, BeforeValidator(_prefix)]
"""An IP prefix, `10.0.0.0/8`."""
AddressV4 = Annotated[IPv4Address, BeforeValidator(_address_v4)]
