"""What the engine is told about a network: arrays of numbers, no names, no vendor, no protocol."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

QUEUES = 8
"""Queues of a port; queue q of link l has the number l * QUEUES + q."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Framing:
    """How payload becomes octets. gap_bytes: on the wire beside the frame and in no counter (preamble, gap).

    Defaults: RoCEv2 with a 4096-byte path MTU. 14 Ethernet + 20 IPv4 + 8 UDP + 12 BTH + 4 ICRC + 4 FCS
    (InfiniBand Architecture Specification vol. 1, annex A17); a CNP has no payload but 16 reserved bytes.
    """

    payload_bytes: int = 4096
    frame_bytes: int = 4158
    gap_bytes: int = 20
    cnp_bytes: int = 78

    @property
    def octets_per_payload(self) -> float:
        return self.frame_bytes / self.payload_bytes

    @property
    def octets_per_wire(self) -> float:
        """Share of a link's rate that octet counters can see."""
        return self.frame_bytes / (self.frame_bytes + self.gap_bytes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Network:
    """Directed links with the queues before them and the buffers behind them. Axes: (link,) or (link, queue).

    A link goes from an egress (its near end) to an ingress (its far end).

    rate_gbps: line rate. delay_ns: from a queue of the near end to a queue of the far end.
    pause_delay_ns: from the far end asking for a pause to silence at the near end.
    xoff_bytes: bytes of lossless traffic held for this ingress at which it asks for a pause, or, where it cannot
        (`pfc_sent` false), drops. xon_gap_bytes: how far below xoff it lets go.
    xoff_share: when above 0, xoff is this share of what is free of `shared_bytes` of the chip (dynamic threshold).
    headroom_bytes: taken beyond xoff before packets are dropped.
    pfc_sent, pfc_honoured: whether the far end sends pauses, whether the near end obeys them.
    pause_queue: the queue of the near end that a pause stops.
    chip: the switch the link leads into, -1 for a host.
    kmin_bytes, kmax_bytes, pmax: marking ramp of each queue; kmin infinite where nothing is marked.
    limit_bytes: tail drop; infinite on a lossless queue. weight: share of the port when several queues wait.
    """

    rate_gbps: Floats
    delay_ns: Floats
    pause_delay_ns: Floats
    xoff_bytes: Floats
    xon_gap_bytes: Floats
    xoff_share: Floats
    headroom_bytes: Floats
    pfc_sent: Bools
    pfc_honoured: Bools
    pause_queue: Ints
    chip: Ints
    shared_bytes: Floats
    kmin_bytes: Floats
    kmax_bytes: Floats
    pmax: Floats
    limit_bytes: Floats
    weight: Floats

    @property
    def links(self) -> int:
        return len(self.rate_gbps)


def plain_network(rate_gbps: Floats, *, delay_ns: float = 1000.0) -> Network:
    """Links with no ECN, no PFC and endless buffers: the start from which others are made with `replace`."""
    links = len(rate_gbps)
    endless = np.full(links, np.inf)
    queues = np.full((links, QUEUES), np.inf)
    return Network(
        rate_gbps=np.asarray(rate_gbps, float),
        delay_ns=np.full(links, delay_ns),
        pause_delay_ns=np.full(links, delay_ns),
        xoff_bytes=endless,
        xon_gap_bytes=np.zeros(links),
        xoff_share=np.zeros(links),
        headroom_bytes=np.zeros(links),
        pfc_sent=np.zeros(links, bool),
        pfc_honoured=np.zeros(links, bool),
        pause_queue=np.zeros(links, np.int64),
        chip=np.full(links, -1, np.int64),
        shared_bytes=np.zeros(links),
        kmin_bytes=queues,
        kmax_bytes=queues,
        pmax=np.zeros((links, QUEUES)),
        limit_bytes=queues,
        weight=np.ones((links, QUEUES)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Path:
    """The way of a flow. links: the sender's own first. queues: the queue number before each link.

    lossless: for each switch on the way, whether PFC's ingress accounting counts the flow; one shorter than links.
    back_ns: from the receiver to the sender, for notifications. back: queues (link * QUEUES + number) these pass.
    """

    links: tuple[int, ...]
    queues: tuple[int, ...]
    lossless: tuple[bool, ...]
    back_ns: float = 0.0
    back: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Flow:
    """Payload bytes from one port to another. path: None while there is no route."""

    id: int
    payload_bytes: float
    path: Path | None
