"""The intent: one description of a fabric, in the words of the field. Its keys are a contract with users."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from railfab.intent.model import Count, Model, Name, Rate

Dscp = Annotated[int, Field(ge=0, le=63)]
Metres = Annotated[float, Field(gt=0, le=2000, strict=False)]


class Bfd(Model):
    """Bidirectional forwarding detection on every fabric session."""

    interval_ms: int = Field(default=300, ge=10, le=60_000, description="transmit and receive interval [ms]")
    multiplier: int = Field(default=3, ge=2, le=20, description="intervals missed before the session is down")


class Lossless(Model):
    """The class that carries RoCE, and its congestion notifications."""

    dscp: Dscp = Field(default=26, description="code point of RoCE data")
    priority: int = Field(default=3, ge=1, le=5, description="PFC priority and queue of RoCE data; 0 and 6 are taken")
    cnp_dscp: Dscp = Field(default=48, description="code point of congestion notification packets")

    @model_validator(mode="after")
    def _code_points_differ(self) -> Lossless:
        if self.dscp == self.cnp_dscp:
            raise ValueError(f"dscp and cnp_dscp are both {self.dscp}; give each its own code point")
        return self


def _or_off(schema: dict[str, Any]) -> None:
    """Editors are told what the loader takes: a YAML `off`, which reads as false, besides the model and null."""
    schema["anyOf"].append({"const": False})


class Profile(Model):
    """What holds for the whole fabric."""

    control_plane: Literal["ebgp"] = "ebgp"
    underlay: Literal["unnumbered", "numbered"] = Field(
        default="unnumbered", description="unnumbered: RFC 5549 over IPv6 link-local; numbered: a /31 per link"
    )
    mtu: int = Field(default=9216, ge=1500, le=9398, description="largest IP packet [bytes]")
    ecmp: Literal["flow"] = "flow"
    transport: Literal["rocev2"] = "rocev2"
    bfd: Bfd | None = Field(default=Bfd(), description="`off` for no BFD", json_schema_extra=_or_off)
    lossless: Lossless | None = Field(
        default=Lossless(), description="`off` for a fabric without PFC and ECN", json_schema_extra=_or_off
    )

    @field_validator("bfd", "lossless", mode="before")
    @classmethod
    def _off_is_none(cls, value: Any) -> Any:
        return None if value is False else value


class Hosts(Model):
    """The GPU servers."""

    gpus: Annotated[int, Field(ge=1, le=15)] = Field(default=8, description="GPUs of a host; one rail each")
    nic_per: Literal["gpu"] = "gpu"
    nic_ports: Annotated[int, Field(ge=1, le=4)] = Field(default=1, description="ports of a NIC")
    rate_gbps: Rate = Field(default=400, description="speed of a NIC port [Gb/s]")
    attach: Literal["routed"] = Field(default="routed", description="routed: a /31 per NIC port, no VLAN, no LAG")


class Segments(Model):
    """Hosts that share one set of rail switches."""

    count: Count = Field(default=1, description="segments of a pod")
    hosts: Count = Field(description="hosts of a segment")
    rail_switches: Annotated[int, Field(ge=1, le=64)] = Field(description="rail switches of a segment")
    model: str = Field(description="switch model, from the catalogue")
    platform: str = Field(description="network operating system")
    cable_m: Metres = Field(default=5.0, description="length of host cables [m]")


class Spines(Model):
    """The spines of a pod."""

    count: Annotated[int, Field(ge=1, le=256)] = Field(description="spines of a pod")
    links_per_leaf: Annotated[int, Field(ge=1, le=64)] | None = Field(
        default=None, description="links between a rail switch and a spine; by default as many as make it non-blocking"
    )
    rate_gbps: Rate = Field(description="speed of an uplink [Gb/s]")
    model: str = Field(description="switch model, from the catalogue")
    platform: str = Field(description="network operating system")
    cable_m: Metres = Field(default=40.0, description="length of uplink cables [m]")


class Backend(Model):
    """The scale-out network."""

    pods: Annotated[int, Field(ge=1, le=1)] = Field(default=1, description="pods under one set of spines each")
    segments: Segments
    spines: Spines


class Target(Model):
    """Where one physical switch is reached, for use without `--on`."""

    host: str = Field(description="management address or name")
    ssh_port: int = Field(default=22, ge=1, le=65535)
    gnmi_port: int = Field(default=57400, ge=1, le=65535)
    ca: str | None = Field(default=None, description="PEM file of the authority that signed its certificate")
    known_hosts: str | None = None
    credentials: str = Field(default="env:RAILFAB", description="`env:PREFIX` or a YAML file; never the secret")
    skip_verify: bool = Field(default=False, description="do not check this target's certificate and host key")


class FabricIntent(Model):
    """A fabric."""

    version: Literal[1]
    fabric: Name
    profile: Profile = Profile()
    hosts: Hosts = Hosts()
    backend: Backend
    inventory: dict[str, Target] | None = Field(default=None, description="addresses of physical switches, by name")
