"""Settings of the whole fabric: routing, forwarding, transport, and the traffic class of RoCE."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from railfab.intent.model import NUMBERED, Count, KeyFault, Listed, Model, OrOff, Prefix, Rate, or_off
from railfab.intent.sizes import or_size, size_bytes

Dscp = Annotated[int, Field(ge=0, le=63)]
HashField = Literal[
    "source-address",
    "destination-address",
    "protocol",
    "source-port",
    "destination-port",
    "queue-pair",
    "flow-label",
    "ingress-port",
    "vlan",
]
Asn = Annotated[int, Field(ge=1, le=4_294_967_294)]


class Bfd(Model):
    """BFD on every BGP session between switches."""

    interval_ms: int = Field(default=300, ge=10, le=60_000, description="transmit and receive interval [ms]")
    multiplier: int = Field(default=3, ge=2, le=20, description="missed intervals until the session is down")

    @property
    def detection_ms(self) -> int:
        """Longest time until a lost neighbor is detected [ms]."""
        return self.interval_ms * self.multiplier


class Bgp(Model):
    """Timers and limits of BGP."""

    max_paths: int = Field(default=64, ge=1, le=1024, description="most equal paths of a route")
    keepalive_s: int = Field(default=3, ge=1, le=21_845, description="interval of keepalive messages [s]")
    hold_s: int = Field(
        default=9, ge=3, le=65_535, description="time without messages until the session is down [s]; BFD is faster"
    )
    aggregate_hosts: bool = Field(
        default=False,
        description="a rail switch announces one prefix for the routed host links of a rail, not a /31 for each",
    )
    weighted_ecmp: bool = Field(
        default=False,
        description="announce the bandwidth behind each route (link bandwidth community), by which equal paths share "
        "the flows; without it, flows are slowed after the failure of one of several parallel links",
    )
    connect_retry_s: Annotated[int, Field(ge=1, le=65_535)] | None = Field(
        default=None, description="time between attempts to connect [s]; by default 10, or what the platform needs"
    )
    advertisement_interval_s: Annotated[int, Field(ge=0, le=600)] | None = Field(
        default=None,
        description="shortest time between two updates of a route [s]; by default the shortest that the platform has",
    )

    prefix_limit: Annotated[int, Field(ge=1, le=4_294_967_295)] | None = Field(
        default=None,
        description="IPv4 or IPv6 prefixes from a neighbor beyond which a switch logs a warning; the session stays up",
    )

    def _faults(self) -> Iterator[KeyFault]:
        if self.hold_s < 3 * self.keepalive_s:
            problem = f"{self.hold_s} s is less than three keepalive intervals of {self.keepalive_s} s"
            yield KeyFault("hold_s", problem, f"Use at least {3 * self.keepalive_s}, or a smaller keepalive_s")


class Hash(Model):
    """Choice of a path among equal ones by the headers of a packet."""

    fields: Listed[HashField] = Field(default=(), description="header fields; by default the platform's")
    seed: Annotated[int, Field(ge=0, le=65_000)] | None = Field(
        default=None,
        description="seed of rail switches; spines have the next number, and super-spines the one after, because "
        "tiers with the same seed use only some of their links; by default the platform's",
    )
    flowlet_gap_us: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        default=None,
        description="pause after which a flow may take another path, with `ecmp: flowlet` [us]; else the platform's",
    )

    def _faults(self) -> Iterator[KeyFault]:
        twice = [field for field in dict.fromkeys(self.fields) if self.fields.count(field) > 1]
        if twice:
            yield KeyFault("fields", f"{twice[0]} is there twice", "Keep one of them")


class Watchdog(Model):
    """The PFC watchdog: it ends a pause that never ends."""

    detect_ms: int = Field(default=200, ge=10, le=5_000, description="length of a pause that is a deadlock [ms]")
    recover_ms: int = Field(default=400, ge=10, le=60_000, description="time without pause until PFC is on again [ms]")


class RoceTraffic(Model):
    """Traffic of the lossless class, to reduce its buffers to what the traffic needs."""

    packet_bytes: int = Field(default=4096, ge=64, le=9216, description="largest payload of a packet [bytes]")
    message_bytes: Annotated[int, Field(ge=64, le=10**12)] = Field(
        description="most bytes that a sender has in flight to one receiver [bytes; 64kB, 1MB]",
        json_schema_extra=or_size,
    )
    senders: Count = Field(default=8, description="most senders that send to one port at the same time (incast)")

    _size = field_validator("message_bytes", mode="before")(size_bytes)


SwitchRole = Literal["leaf", "spine", "super_spine"]


def _numbered_ramps(schema: dict[str, Any]) -> None:
    """Add to the JSON Schema of ramps by speed that the keys of the mapping are numbers."""
    next(option for option in schema["anyOf"] if option["type"] == "object").update(NUMBERED)


class Ramp(Model):
    """ECN marking of the lossless queue of a port: none below Kmin, pmax_percent at Kmax, every packet above."""

    kmin_bytes: Annotated[int, Field(ge=1, le=10**9)] = Field(
        description="queue from which on packets are marked [bytes; 500kB, 1MB]", json_schema_extra=or_size
    )
    kmax_bytes: Annotated[int, Field(ge=1, le=10**9)] = Field(
        description="queue above which every packet is marked [bytes; 500kB, 1MB]", json_schema_extra=or_size
    )
    pmax_percent: int = Field(default=10, ge=1, le=100, description="share of the packets marked at Kmax [%]")

    _size = field_validator("kmin_bytes", "kmax_bytes", mode="before")(size_bytes)

    def _faults(self) -> Iterator[KeyFault]:
        if self.kmin_bytes >= self.kmax_bytes:
            problem = f"kmin_bytes {self.kmin_bytes:,} is not below kmax_bytes {self.kmax_bytes:,}"
            yield KeyFault("kmax_bytes", problem, f"Use more, for example {3 * self.kmin_bytes}")


Ramps = Annotated[dict[Rate, Ramp], Field(min_length=1)]
"""ECN ramps by port speed [Gb/s]."""


class RoleRamps(Model):
    """ECN ramps that only the switches of one role have, by port speed."""

    leaf: Ramps | None = Field(
        default=None,
        description="thresholds of the ports of leaves by speed [Gb/s]",
        json_schema_extra=_numbered_ramps,
    )
    spine: Ramps | None = Field(
        default=None,
        description="thresholds of the ports of spines by speed [Gb/s]",
        json_schema_extra=_numbered_ramps,
    )
    super_spine: Ramps | None = Field(
        default=None,
        description="thresholds of the ports of super-spines by speed [Gb/s]",
        json_schema_extra=_numbered_ramps,
    )


class Lossless(Model):
    """The traffic class of RoCE, and of its congestion notifications."""

    dscp: Dscp = Field(default=26, description="DSCP of RoCE data")
    priority: int = Field(default=3, ge=1, le=5, description="PFC priority and queue of RoCE data")
    cnp_dscp: Dscp = Field(default=48, description="DSCP of congestion notification packets (CNP)")
    pfc: bool = Field(default=True, description="priority flow control (PFC) on the lossless queue")
    ecn: bool | Ramps = Field(
        default=True,
        description="ECN marking on the lossless queue; or its thresholds by port speed [Gb/s], the others by rule",
        json_schema_extra=_numbered_ramps,
    )
    ecn_by_role: RoleRamps | None = Field(
        default=None,
        description="thresholds of ECN marking of the switches of one role, in place of `ecn` and of the rule",
    )
    weight: int = Field(
        default=90,
        ge=1,
        le=99,
        description="share of the bandwidth for RoCE data under congestion [%]; the default class has the rest",
    )
    cnp_queue: int = Field(default=6, ge=1, le=7, description="queue of CNPs, which has strict priority")
    cnp_rate_percent: int = Field(
        default=10,
        ge=1,
        le=100,
        description="most of a port's rate for the queue of CNPs [%], because strict priority without a limit lets "
        "packets with their code point, that of routing too, starve RoCE; 100 for no limit",
    )
    watchdog: OrOff[Watchdog] = Field(
        default_factory=Watchdog.model_construct,
        description="PFC watchdog on the lossless queue; `off` for none",
        json_schema_extra=or_off,
    )
    traffic: RoceTraffic | None = Field(
        default=None, description="sizes of packets and messages, to reduce the buffers"
    )

    def ramps(self, role: SwitchRole) -> Mapping[str, Mapping[int, Ramp]]:
        """The ECN ramps that switches of a role use, by the key that states them, the one that wins first."""
        of_role = getattr(self.ecn_by_role, role) if self.ecn_by_role else None
        return {f"ecn_by_role.{role}": of_role or {}, "ecn": {} if isinstance(self.ecn, bool) else self.ecn}

    def ramp_key(self, rate_gbps: int, role: SwitchRole) -> str | None:
        """The key that states the ECN ramp of ports of this speed and role; None where the rule sets it."""
        return next((key for key, ramps in self.ramps(role).items() if rate_gbps in ramps), None)

    def ramp(self, rate_gbps: int, role: SwitchRole) -> Ramp | None:
        """The stated ECN ramp of ports of this speed and role, if any."""
        key = self.ramp_key(rate_gbps, role)
        return self.ramps(role)[key][rate_gbps] if key else None

    def _faults(self) -> Iterator[KeyFault]:
        if self.ecn is False and self.ecn_by_role is not None:
            yield KeyFault("ecn_by_role", "ecn_by_role has no effect with ecn: false", "Remove one of them")
        if self.cnp_queue == self.priority:
            yield KeyFault("cnp_queue", f"priority and cnp_queue are both {self.priority}", "Use two different queues")
        if self.dscp == self.cnp_dscp:
            yield KeyFault("cnp_dscp", f"dscp and cnp_dscp are both {self.dscp}", "Use two different code points")


class StorageClass(Model):
    """Storage traffic on the same ports as the traffic of the GPUs, in a traffic class of its own."""

    protocol: Literal["roce", "nvme-tcp"] = Field(
        default="roce",
        description="roce: a second lossless class, with PFC and ECN as in `lossless`; nvme-tcp: a lossy class, whose "
        "ECN marks every packet above one queue length, as DCTCP expects",
    )
    dscp: Dscp = Field(default=34, description="DSCP of storage traffic")
    priority: int = Field(default=4, ge=1, le=5, description="queue of storage traffic, and PFC priority with roce")
    weight: int = Field(
        ge=1,
        le=98,
        description="share of the bandwidth for storage under congestion [%]; the default class has what is left by "
        "this and by `lossless.weight`",
    )

    @property
    def lossless(self) -> bool:
        """Whether the class is lossless where that of the GPUs is."""
        return self.protocol == "roce"


class Trimming(Model):
    """A packet that its queue would drop is cut and sent on, so that its receiver knows of the loss."""

    size_bytes: int = Field(default=256, ge=64, le=1024, description="what is left of a trimmed packet [bytes]")
    dscp: Dscp = Field(default=51, description="DSCP of trimmed packets, which use the queue of CNPs")


class UltraEthernet(Model):
    """Features of Ultra Ethernet switches."""

    packet_trimming: Trimming | None = Field(
        default=None, description="cut packets that a queue would drop, and send them on"
    )
    link_level_retry: bool = Field(
        default=False,
        description="ports between switches send frames again that the cable has corrupted (LLR)",
    )


class Addresses(Model):
    """Address pools; by default large enough for the size of the fabric."""

    hosts: Prefix | None = Field(default=None, description="pool of the links and subnets of hosts")
    loopbacks: Prefix | None = Field(default=None, description="pool of the loopbacks of switches")
    fabric_links: Prefix | None = Field(default=None, description="pool of the numbered links between switches")


class Profile(Model):
    """Settings of the whole fabric."""

    control_plane: Literal["ebgp", "ibgp", "evpn"] = Field(
        default="ebgp",
        description="ebgp: eBGP (RFC 7938); ibgp: one AS with route reflectors; evpn: eBGP and BGP EVPN over it",
    )
    data_plane: Literal["ethernet", "vxlan"] = Field(
        default="ethernet", description="ethernet: no encapsulation; vxlan: VXLAN overlay, only with evpn"
    )
    underlay: Literal["unnumbered", "numbered"] = Field(
        default="unnumbered", description="unnumbered: RFC 5549 over IPv6 link-local; numbered: a /31 per link"
    )
    family: Literal["ipv4", "ipv6"] = Field(default="ipv4", description="address family of hosts, loopbacks and links")
    asn: Asn = Field(default=65_000, description="AS number of an ibgp fabric")
    reflectors: Annotated[int, Field(ge=1, le=16)] = Field(
        default=2, description="route reflectors per pod and of the top tier, with ibgp and evpn"
    )
    addresses: Addresses = Field(
        default_factory=Addresses.model_construct,
        description="address pools; by default large enough for the size of the fabric",
    )
    mtu: int = Field(default=9216, ge=1500, le=9398, description="largest IP packet [bytes]")
    link_hold_up_ms: Annotated[int, Field(ge=0, le=86_400_000)] = Field(
        default=0,
        description="how long a link must stay up before a switch uses it, against links that go down and up [ms]",
    )
    ecmp: Literal["flow", "flowlet", "packet", "adaptive", "collective"] = Field(
        default="flow",
        description="unit that ECMP balances over equal paths; packet: each packet at random, by load on "
        "switches that spray only so; adaptive: each packet by the load of the paths; "
        "collective: the flows of a collective by their number; packet and adaptive need `hosts.reorder`",
    )
    transport: Literal["rocev2", "uet"] = Field(
        default="rocev2",
        description="transport protocol of the GPU traffic: RoCEv2 or Ultra Ethernet, whose data and control have the "
        "classes of RoCE and CNPs",
    )
    bgp: Bgp = Field(default_factory=Bgp.model_construct, description="timers and limits of BGP")
    hash: Hash = Field(default_factory=Hash.model_construct, description="choice of a path among equal ones by ECMP")
    bfd: OrOff[Bfd] = Field(
        default_factory=Bfd.model_construct,
        description="BFD on BGP sessions between switches; `off` for none",
        json_schema_extra=or_off,
    )
    lossless: OrOff[Lossless] = Field(
        default_factory=Lossless.model_construct,
        description="the traffic class of RoCE; `off` for a fabric without PFC and ECN",
        json_schema_extra=or_off,
    )
    storage_class: StorageClass | None = Field(
        default=None, description="a traffic class of storage beside that of the GPUs, on the same ports"
    )
    ultra_ethernet: UltraEthernet = Field(
        default_factory=UltraEthernet.model_construct, description="features of Ultra Ethernet switches"
    )

    @property
    def detection_ms(self) -> int:
        """Longest time until a switch detects a lost neighbor while the signal stays [ms]: BFD, else the hold time."""
        return self.bfd.detection_ms if self.bfd else self.bgp.hold_s * 1000

    def _faults(self) -> Iterator[KeyFault]:
        if self.link_hold_up_ms % 50 or 0 < self.link_hold_up_ms < 100:
            problem = f"{self.link_hold_up_ms} ms is not 0, nor a multiple of 50 ms from 100 ms on"
            yield KeyFault("link_hold_up_ms", problem, "Use for example 2000")
        if self.hash.flowlet_gap_us is not None and self.ecmp != "flowlet":
            yield KeyFault(
                "hash.flowlet_gap_us",
                f"flowlet_gap_us has no effect with ecmp: {self.ecmp}",
                "Use ecmp: flowlet, or remove it",
            )
        yield from self._class_faults()
        if self.data_plane == "vxlan" and self.control_plane != "evpn":
            problem = f"vxlan does not work with control_plane: {self.control_plane}"
            yield KeyFault("data_plane", problem, "Use control_plane: evpn, or data_plane: ethernet")

    def _class_faults(self) -> Iterator[KeyFault]:
        """Classes beside that of the GPUs have other queues and code points, and leave some bandwidth to the others."""
        storage, trimming, lossless = self.storage_class, self.ultra_ethernet.packet_trimming, self.lossless
        if lossless is None:
            for key, stated in (("storage_class", storage), ("ultra_ethernet.packet_trimming", trimming)):
                if stated is not None:
                    yield KeyFault(key, "there are no traffic classes with lossless: off", f"Remove {key}, or the off")
            return
        points = {"lossless.dscp": lossless.dscp, "lossless.cnp_dscp": lossless.cnp_dscp}
        if storage is not None:
            yield from _storage_faults(storage, lossless)
            yield from _shared_point("storage_class.dscp", storage.dscp, points)
            points["storage_class.dscp"] = storage.dscp
        if trimming is not None:
            yield from _shared_point("ultra_ethernet.packet_trimming.dscp", trimming.dscp, points)


def _storage_faults(storage: StorageClass, lossless: Lossless) -> Iterator[KeyFault]:
    queues = {"lossless.priority": lossless.priority, "lossless.cnp_queue": lossless.cnp_queue}
    for key, queue in queues.items():
        if queue == storage.priority:
            problem = f"storage_class.priority and {key} are both {queue}"
            yield KeyFault("storage_class.priority", problem, "Use two different queues")
    if lossless.weight + storage.weight >= 100:
        problem = (
            f"{storage.weight} % and the {lossless.weight} % of lossless.weight leave nothing to the default class"
        )
        yield KeyFault("storage_class.weight", problem, "Use smaller weights, for example 60 and 30")
    if lossless.traffic is not None and storage.lossless:
        problem = "lossless.traffic states the messages of the GPUs alone, so buffers cannot be reduced to it"
        yield KeyFault("storage_class.protocol", problem, "Remove lossless.traffic, or use protocol: nvme-tcp")


def _shared_point(key: str, dscp: int, points: Mapping[str, int]) -> Iterator[KeyFault]:
    for other_key, point in points.items():
        if point == dscp:
            yield KeyFault(key, f"{key} and {other_key} are both {dscp}", "Use two different code points")
