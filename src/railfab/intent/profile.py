"""What holds for the whole fabric: routing, forwarding, transport, and the class that carries RoCE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, field_validator

from railfab.intent.job import or_size, size_bytes
from railfab.intent.model import Count, Fault, Model, OrOff, Prefix, or_off

Dscp = Annotated[int, Field(ge=0, le=63)]
Asn = Annotated[int, Field(ge=1, le=4_294_967_294)]


class Bfd(Model):
    """Bidirectional forwarding detection on every fabric session."""

    interval_ms: int = Field(default=300, ge=10, le=60_000, description="transmit and receive interval [ms]")
    multiplier: int = Field(default=3, ge=2, le=20, description="intervals missed before the session is down")


class RoceTraffic(Model):
    """What the lossless class carries, to cut its buffers to what that needs."""

    packet_bytes: int = Field(default=4096, ge=64, le=9216, description="largest payload of a packet [bytes]")
    message_bytes: Annotated[int, Field(ge=64, le=10**12)] = Field(
        description="largest message that a sender has outstanding towards one receiver [bytes; 64kB, 1MB]",
        json_schema_extra=or_size,
    )
    senders: Count = Field(default=8, description="senders that meet at one port at the worst moment")

    _size = field_validator("message_bytes", mode="before")(size_bytes)


class Lossless(Model):
    """The class that carries RoCE, and its congestion notifications."""

    dscp: Dscp = Field(default=26, description="code point of RoCE data")
    priority: int = Field(default=3, ge=1, le=5, description="PFC priority and queue of RoCE data; 0 and 6 are taken")
    cnp_dscp: Dscp = Field(default=48, description="code point of congestion notification packets")
    pfc: bool = Field(default=True, description="priority flow control on its queue")
    ecn: bool = Field(default=True, description="ECN marks on its queue")
    traffic: RoceTraffic | None = Field(default=None, description="packets and messages, to cut buffers to")

    def _faults(self) -> Iterator[Fault]:
        if self.dscp == self.cnp_dscp:
            yield Fault("cnp_dscp", f"dscp and cnp_dscp are both {self.dscp}", "Give each its own code point")


class Addresses(Model):
    """Pools that addresses are taken from; by default what the size of the fabric asks for."""

    hosts: Prefix | None = Field(default=None, description="links and subnets of hosts")
    loopbacks: Prefix | None = Field(default=None, description="loopbacks of switches")
    fabric_links: Prefix | None = Field(default=None, description="numbered links between switches")


class Profile(Model):
    """What holds for the whole fabric."""

    control_plane: Literal["ebgp", "ibgp", "evpn"] = Field(
        default="ebgp",
        description="ebgp: RFC 7938; ibgp: one AS with route reflectors; evpn: eBGP with BGP EVPN on top",
    )
    data_plane: Literal["ethernet", "vxlan"] = Field(default="ethernet", description="vxlan: overlay, with evpn only")
    underlay: Literal["unnumbered", "numbered"] = Field(
        default="unnumbered", description="unnumbered: RFC 5549 over IPv6 link-local; numbered: a /31 per link"
    )
    family: Literal["ipv4", "ipv6"] = Field(default="ipv4", description="addresses of hosts, loopbacks and links")
    asn: Asn = Field(default=65_000, description="the one AS number of an ibgp fabric")
    reflectors: Annotated[int, Field(ge=1, le=16)] = Field(
        default=2, description="route reflectors of each pod and of the top tier, with ibgp and evpn"
    )
    addresses: Addresses = Field(
        default_factory=Addresses, description="pools that addresses are taken from; by default what its size asks for"
    )
    mtu: int = Field(default=9216, ge=1500, le=9398, description="largest IP packet [bytes]")
    ecmp: Literal["flow", "flowlet", "packet"] = Field(
        default="flow", description="what is spread over equal paths; packet needs `hosts.reorder`"
    )
    transport: Literal["rocev2", "uet"] = Field(default="rocev2", description="what the GPUs speak")
    bfd: OrOff[Bfd] = Field(default_factory=Bfd, description="`off` for no BFD", json_schema_extra=or_off)
    lossless: OrOff[Lossless] = Field(
        default_factory=Lossless, description="`off` for a fabric without PFC and ECN", json_schema_extra=or_off
    )

    def _faults(self) -> Iterator[Fault]:
        if self.data_plane == "vxlan" and self.control_plane != "evpn":
            problem = f"vxlan cannot be controlled by {self.control_plane}"
            yield Fault("data_plane", problem, "Use control_plane: evpn, or data_plane: ethernet")
