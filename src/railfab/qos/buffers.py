"""How the buffer of one switch is divided, and what it saves to know the packets and messages of the traffic."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from railfab.intent import Lossless
from railfab.qos.thresholds import ETHERNET_HEADER_BYTES, Thresholds, lossless_thresholds, pfc_headroom_bytes
from railfab.qos.traffic import QueueBound, queue_bound

LOSSLESS_PERCENT, HEADROOM_PERCENT, LOSSY_PERCENT = 66, 24, 10
"""Of the buffer: what lossless queues share, the most that headroom should take, the least that is left for the other
classes. Juniper/jvd, AI/ML multi-tenancy backend, evo/cos/rdma-rocev2-lossless.conf (QFX5240)."""

ALPHA = 1.0
"""A queue may take this many times what is still free in its pool. SONiC's dynamic_th 0 (Mellanox/SAI-Implementation,
mlnx_sai_buffer.c: SAI_BUFFER_ALPHA_1); the rule is Choudhury and Hahne's, IEEE/ACM Transactions on Networking 1998."""

CONGESTED = 0.25
"""Share of the ports whose queues fill at once: each of them takes the full rate of four others. Our
choice: half of the ports, an incast of two on each, is the most that can fill at all."""


@dataclass(frozen=True, slots=True)
class PortLoad:
    """Lossless ports of one speed and cable length."""

    rate_gbps: int
    cable_m: float
    count: int


@dataclass(frozen=True, slots=True)
class PortBuffers:
    """Ports alike, and the thresholds of each of them."""

    load: PortLoad
    thresholds: Thresholds


@dataclass(frozen=True, slots=True, kw_only=True)
class Division:
    """One way to divide a buffer; headroom, lossless and lossy add up to it [bytes].

    needed_headroom_bytes: of all lossless ports; more than headroom_bytes where the buffer is too small.
    granted_xoff_bytes: what the chip lets a queue hold before it pauses, whatever XOFF says, when CONGESTED ports fill.
    """

    ports: tuple[PortBuffers, ...]
    needed_headroom_bytes: int
    headroom_bytes: int
    lossless_bytes: int
    lossy_bytes: int
    granted_xoff_bytes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BufferPlan:
    """The buffer of one switch. uncut: sized for any traffic. cut: for the traffic that is stated; None without."""

    buffer_bytes: int
    lossless: Lossless
    uncut: Division
    bound: QueueBound | None = None
    cut: Division | None = None

    @property
    def saved_bytes(self) -> int:
        """What the cut leaves to the other classes, beyond what they have without it."""
        return self.cut.lossy_bytes - self.uncut.lossy_bytes if self.cut else 0


def buffer_plan(
    ports: Sequence[PortLoad], *, buffer_bytes: int, mtu_bytes: int, lossless: Lossless, vxlan: bool = False
) -> BufferPlan:
    """How one switch divides its buffer among headroom, what lossless queues share, and the other classes.

    ports: its lossless ports. buffer_bytes: of the chip. mtu_bytes: largest IP packet. vxlan: RoCE is in VXLAN here.
    Without PFC there is no headroom, and XOFF is where a queue drops.
    """
    sized = tuple(_uncut(load, mtu_bytes, lossless.pfc) for load in ports)
    uncut = _division(sized, buffer_bytes, None)
    if lossless.traffic is None:
        return BufferPlan(buffer_bytes=buffer_bytes, lossless=lossless, uncut=uncut)
    bound = queue_bound(lossless.traffic, mtu_bytes=mtu_bytes, vxlan=vxlan)
    smaller = tuple(_cut(one, bound, mtu_bytes) for one in sized)
    cut = _division(smaller, buffer_bytes, bound)
    return BufferPlan(buffer_bytes=buffer_bytes, lossless=lossless, uncut=uncut, bound=bound, cut=cut)


def _uncut(load: PortLoad, mtu_bytes: int, pfc: bool) -> PortBuffers:
    found = lossless_thresholds(rate_gbps=load.rate_gbps, cable_m=load.cable_m, mtu_bytes=mtu_bytes, pfc=pfc)
    return PortBuffers(load, found)


def _cut(port: PortBuffers, bound: QueueBound, mtu_bytes: int) -> PortBuffers:
    """XOFF where the stated traffic ends, but above Kmax; headroom with the peer's last frame as large as stated."""
    headroom = pfc_headroom_bytes(
        rate_gbps=port.load.rate_gbps,
        cable_m=port.load.cable_m,
        max_frame_bytes=mtu_bytes + ETHERNET_HEADER_BYTES,
        lossless_frame_bytes=bound.frame_bytes,
    )
    thresholds = replace(
        port.thresholds,
        xoff_bytes=min(port.thresholds.xoff_bytes, _port_need(port.thresholds, bound)),
        headroom_bytes=min(port.thresholds.headroom_bytes, headroom),
    )
    return PortBuffers(port.load, thresholds)


def _port_need(thresholds: Thresholds, bound: QueueBound) -> int:
    """What one port may hold of the shared pool [bytes].

    The ECN ramp wins: it follows from rate and round trip, not from messages, so a frame above Kmax is the least. Then
    a queue beyond what was stated is still marked first, paused next, and never dropped.
    """
    return max(bound.queue_bytes, thresholds.kmax_bytes + bound.frame_bytes)


def _shared_need(ports: Sequence[PortBuffers], bound: QueueBound) -> int:
    """Pool in which every port holds what is stated, and one goes on to what it may: the threshold lets it [bytes]."""
    stated = bound.queue_bytes * sum(port.load.count for port in ports)
    most = max((_port_need(port.thresholds, bound) for port in ports), default=0)
    return stated + max(0, most - bound.queue_bytes) + round(most / ALPHA)


def _division(ports: tuple[PortBuffers, ...], buffer_bytes: int, bound: QueueBound | None) -> Division:
    """Headroom first, then the share of the lossless queues as far as they need it, the rest to the other classes."""
    needed = sum(port.thresholds.headroom_bytes * port.load.count for port in ports)
    headroom = min(needed, buffer_bytes)
    beside = max(0, buffer_bytes - headroom - buffer_bytes * LOSSY_PERCENT // 100)
    shared = min(beside, buffer_bytes * LOSSLESS_PERCENT // 100)
    if bound:
        shared = min(shared, _shared_need(ports, bound))
    return Division(
        ports=ports,
        needed_headroom_bytes=needed,
        headroom_bytes=headroom,
        lossless_bytes=shared,
        lossy_bytes=buffer_bytes - headroom - shared,
        granted_xoff_bytes=_granted_xoff_bytes(ports, shared, bound),
    )


def _granted_xoff_bytes(ports: Sequence[PortBuffers], pool_bytes: int, bound: QueueBound | None) -> int:
    """The dynamic threshold of a pool when the CONGESTED share of its ports hold all they can.

    It is ALPHA times what is free, and what is free follows from it: threshold / ALPHA + held(threshold) = pool, where
    a port holds the least of threshold, XOFF and stated traffic. The ports that hold least are filled first.
    """
    held = sorted(
        (min(port.thresholds.xoff_bytes, bound.queue_bytes) if bound else port.thresholds.xoff_bytes, port.load.count)
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
