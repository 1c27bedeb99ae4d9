"""Division of the buffer of one switch, and the savings if the packets and messages of the traffic are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from railfab.intent import Lossless, SwitchRole
from railfab.qos.chip import Chip
from railfab.qos.headroom import NO_HEADROOM, PortHeadroom, port_headroom
from railfab.qos.path import FabricPath
from railfab.qos.thresholds import QueueThresholds, lossless_thresholds
from railfab.qos.traffic import QueueBound, queue_bound

HEADROOM_PERCENT, LOSSY_PERCENT = 24, 10
"""Shares of the buffer: of headroom, unless half small packets need more; and smallest of the other classes.
Juniper/jvd, AI/ML multi-tenancy backend, evo/cos/rdma-rocev2-lossless.conf (QFX5240)."""

ALPHA = 1.0
"""Dynamic threshold: a queue may use this multiple of the free part of its pool. dynamic_th 0 of SONiC
(Mellanox/SAI-Implementation, mlnx_sai_buffer.c: SAI_BUFFER_ALPHA_1); Choudhury and Hahne, IEEE/ACM Transactions on
Networking 1998."""

CONGESTED = 0.25
"""Share of the ports that are congested at the same time: each receives the full rate of four others. An assumption:
half of the ports, with an incast of two on each, is the largest possible share."""


@dataclass(frozen=True, slots=True)
class PortLoad:
    """Lossless ports of one speed and cable length."""

    rate_gbps: int
    cable_m: float
    count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchTraits:
    """Traits of a switch on which its buffer plan depends, besides its ports and the lossless class.

    buffer_bytes: of the chip. default_headroom_bytes: what the platform gives each port by default. path: the longest
    of the network. mtu_bytes: largest IP packet. vxlan: RoCE is in VXLAN here. classes: lossless classes of each port.
    """

    chip: Chip
    buffer_bytes: int
    path: FabricPath
    mtu_bytes: int
    role: SwitchRole = "leaf"
    default_headroom_bytes: int = 0
    vxlan: bool = False
    classes: int = 1


@dataclass(frozen=True, slots=True)
class PortBuffers:
    """Equal ports, and the thresholds and headroom of each lossless class of each of them."""

    load: PortLoad
    thresholds: QueueThresholds
    headroom: PortHeadroom


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """A division of a buffer; headroom, lossless and lossy add up to it [bytes].

    mixed_headroom_bytes: of all lossless ports at once, for half small packets; more than headroom_bytes if the buffer
    is too small. worst_headroom_bytes: the same for small packets alone, and no less than vendors publish.
    granted_xoff_bytes: the dynamic threshold of the chip, whatever XOFF is, when CONGESTED ports are congested.
    """

    ports: tuple[PortBuffers, ...]
    mixed_headroom_bytes: int
    worst_headroom_bytes: int
    headroom_bytes: int
    lossless_bytes: int
    lossy_bytes: int
    granted_xoff_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferPlan:
    """The buffer of one switch. uncut: sized for any traffic. cut: sized for the stated traffic; None without it."""

    traits: SwitchTraits
    lossless: Lossless
    uncut: Division
    bound: QueueBound | None = None
    cut: Division | None = None

    @property
    def buffer_bytes(self) -> int:
        """Buffer of the chip [bytes]."""
        return self.traits.buffer_bytes

    @property
    def saved_bytes(self) -> int:
        """Bytes that the cut adds to the buffer of the other classes."""
        return self.cut.lossy_bytes - self.uncut.lossy_bytes if self.cut else 0


def buffer_plan(ports: Sequence[PortLoad], traits: SwitchTraits, lossless: Lossless) -> BufferPlan:
    """Divide the buffer of one switch among headroom, lossless queues, and the other classes.

    ports: its lossless ports. Without PFC there is no headroom, and a queue drops at its dynamic threshold.
    """
    sized = tuple(_uncut(load, traits, lossless) for load in ports)
    uncut = _division(sized, traits, None)
    if lossless.traffic is None:
        return BufferPlan(traits=traits, lossless=lossless, uncut=uncut)
    bound = queue_bound(lossless.traffic, traits.chip, mtu_bytes=traits.mtu_bytes, vxlan=traits.vxlan)
    smaller = tuple(_cut(port, bound, traits, lossless) for port in sized)
    cut = _division(smaller, traits, bound)
    return BufferPlan(traits=traits, lossless=lossless, uncut=uncut, bound=bound, cut=cut)


def _uncut(load: PortLoad, traits: SwitchTraits, lossless: Lossless) -> PortBuffers:
    round_trip_ns = traits.path.round_trip_ns(traits.mtu_bytes)
    thresholds = lossless_thresholds(
        rate_gbps=load.rate_gbps, round_trip_ns=round_trip_ns, lossless=lossless, role=traits.role
    )
    return PortBuffers(load, thresholds, _headroom(load, traits, lossless))


def _headroom(load: PortLoad, traits: SwitchTraits, lossless: Lossless, frame_bytes: int | None = None) -> PortHeadroom:
    if not lossless.pfc:
        return NO_HEADROOM
    return port_headroom(
        rate_gbps=load.rate_gbps,
        cable_m=load.cable_m,
        mtu_bytes=traits.mtu_bytes,
        chip=traits.chip,
        default_bytes=traits.default_headroom_bytes,
        lossless_frame_bytes=frame_bytes,
    )


def _cut(port: PortBuffers, bound: QueueBound, traits: SwitchTraits, lossless: Lossless) -> PortBuffers:
    """Reduce XOFF to the stated traffic, but not below Kmax, and headroom to the stated frames of the peer."""
    xoff = min(port.thresholds.xoff_bytes, _port_need(port.thresholds, bound))
    headroom = _headroom(port.load, traits, lossless, bound.frame_bytes)
    return PortBuffers(port.load, replace(port.thresholds, xoff_bytes=xoff), headroom)


def _port_need(thresholds: QueueThresholds, bound: QueueBound) -> int:
    """The part of the shared pool that one port may use [bytes].

    At least a frame above Kmax: the ECN ramp depends on rate and round trip, not on messages. So a queue beyond the
    stated traffic is still marked first, then paused, and never dropped.
    """
    return max(bound.queue_bytes, thresholds.kmax_bytes + bound.frame_bytes)


def _shared_need(ports: Sequence[PortBuffers], bound: QueueBound) -> int:
    """The pool in which every port holds the stated traffic, and one port reaches its limit [bytes]."""
    stated = bound.queue_bytes * sum(port.load.count for port in ports)
    most = max((_port_need(port.thresholds, bound) for port in ports), default=0)
    return stated + max(0, most - bound.queue_bytes) + round(most / ALPHA)


def _division(ports: tuple[PortBuffers, ...], traits: SwitchTraits, bound: QueueBound | None) -> Division:
    """Divide a buffer: headroom first, then the smallest share of the other classes, and the rest for lossless queues.

    Headroom is for small packets alone while that is at most HEADROOM_PERCENT; beyond, ports share what is there, but
    never less than half small packets need. The cut leaves to the other classes what the stated traffic cannot use.
    """
    buffer_bytes = traits.buffer_bytes
    mixed = traits.classes * sum(port.headroom.mixed_bytes * port.load.count for port in ports)
    worst = traits.classes * sum(port.headroom.worst_bytes * port.load.count for port in ports)
    headroom = min(buffer_bytes, worst, max(mixed, buffer_bytes * HEADROOM_PERCENT // 100))
    shared = max(0, buffer_bytes - headroom - buffer_bytes * LOSSY_PERCENT // 100)
    if bound:
        shared = min(shared, _shared_need(ports, bound))
    return Division(
        ports=ports,
        mixed_headroom_bytes=mixed,
        worst_headroom_bytes=worst,
        headroom_bytes=headroom,
        lossless_bytes=shared,
        lossy_bytes=buffer_bytes - headroom - shared,
        granted_xoff_bytes=_granted_xoff_bytes(ports, shared, bound, traits.classes),
    )


def _granted_xoff_bytes(ports: Sequence[PortBuffers], pool_bytes: int, bound: QueueBound | None, classes: int) -> int:
    """The dynamic threshold of a pool when the CONGESTED share of its ports have full queues, one for each class.

    The threshold is ALPHA times the free part, which depends on the threshold: threshold / ALPHA + used(threshold) =
    pool, where a port uses the smallest of threshold, XOFF and stated traffic. Ports with the smallest use fill first.
    """
    held = sorted(
        (
            min(port.thresholds.xoff_bytes, bound.queue_bytes) if bound else port.thresholds.xoff_bytes,
            port.load.count * classes,
        )
        for port in ports
    )
    free, filling = float(pool_bytes), CONGESTED * sum(count for _, count in held)
    for held_bytes, count in held:
        threshold = free / (1 / ALPHA + filling)
        if threshold <= held_bytes:
            return int(threshold)
        free -= CONGESTED * count * held_bytes
        filling -= CONGESTED * count
    return int(ALPHA * free)
