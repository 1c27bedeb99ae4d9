"""The longest path between two hosts of a network, and its round trip."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.qos.frames import ETHERNET_HEADER_BYTES
from railfab.units import ETHERNET_OVERHEAD_BYTES, FIBRE_NS_PER_M, bytes_per_ns

NIC_NS = 1000
"""From the arrival of a marked packet to its CNP on the wire, and from the arrival of a CNP to the lower rate: an
estimate, since no vendor states it."""

STEP_NS = 100
"""A round trip is rounded up to this: its terms are not known better."""


@dataclass(frozen=True, slots=True)
class PathLink:
    """A link of a path: the longest cable and the lowest speed of its tier."""

    cable_m: float
    rate_gbps: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FabricPath:
    """A path between two hosts. links: from one to the other, with a switch between every two of them.

    switch_ns: latency of each switch without queue.
    """

    links: tuple[PathLink, ...]
    switch_ns: int

    @property
    def switches(self) -> int:
        return max(0, len(self.links) - 1)

    @property
    def cable_m(self) -> float:
        """Length of all its cables [m]."""
        return sum(link.cable_m for link in self.links)

    def sending_ns(self, mtu_bytes: int) -> float:
        """Time to send a frame of the largest packet on every link, since each switch stores it before it sends it."""
        frame_bytes = mtu_bytes + ETHERNET_HEADER_BYTES + ETHERNET_OVERHEAD_BYTES
        return sum(frame_bytes / bytes_per_ns(link.rate_gbps) for link in self.links)

    def round_trip_ns(self, mtu_bytes: int) -> int:
        """From a packet that is marked to the lower rate of its sender, without queues [ns].

        Cables and switches there and back, the packet sent on every link, and two NICs; the CNP is short.
        """
        there_and_back = 2 * (self.cable_m * FIBRE_NS_PER_M + self.switches * self.switch_ns)
        return -int(-(there_and_back + self.sending_ns(mtu_bytes) + 2 * NIC_NS) // STEP_NS) * STEP_NS
