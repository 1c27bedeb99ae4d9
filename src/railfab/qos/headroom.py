"""Headroom: buffer for data that arrives after a port has sent a pause."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.qos.chip import SMALLEST_FRAME_BYTES, Chip
from railfab.qos.frames import ETHERNET_HEADER_BYTES, PAUSE_FRAME_BYTES
from railfab.units import BITS_PER_BYTE, ETHERNET_OVERHEAD_BYTES, bytes_per_ns

RESPONSE_BITS = {
    10: 34_304,
    25: 40_960,
    40: 60_416,
    50: 75_264,
    100: 201_728,
    200: 231_936,
    400: 463_360,
}
"""Longest time from a PFC frame's arrival to the transmitter's silence [bit times]: `pause_quanta_per_speed` of
sonic-swss, cfgmgr/buffer_headroom_mellanox.lua, which names IEEE 802.3 31B.3.7 as its source; a quantum is 512 bit
times. The script has 400G's quanta for 800G too; here 800G takes twice that of 400G, the same time in more bits, until
a bound is published."""

CABLE_NS_PER_M = 1e6 / 198_000
"""Propagation, a little slower than `FIBRE_NS_PER_M`: `speed_of_light` of the same script."""

LARGE_PACKET_BYTES = 1024
"""Size of the packets that are not small: `mtu` of LOSSLESS_TRAFFIC_PATTERN, SONiC's default
(files/build_templates/buffers_config.j2)."""

MIXED_PERCENT, SMALL_PERCENT = 50, 100
"""Share of the packets that have 64 bytes, such as ACKs: SONiC's default (`small_packet_percentage`), and all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HeadroomTerms:
    """Terms of the headroom of a port [bytes]. our_frame: the pause waits for it. their_frame: the peer has begun it.

    occupancy: bytes of buffer per byte that arrives, by the share of small packets.
    """

    our_frame: int
    cable: float
    arriving: float
    response: float
    their_frame: int
    occupancy: float
    pipeline: int
    chip: Chip

    @property
    def in_flight(self) -> float:
        """Data that arrives between the decision to pause and the last frame of the peer."""
        return self.our_frame + PAUSE_FRAME_BYTES + self.cable + self.arriving + self.response

    @property
    def total(self) -> int:
        """Headroom in whole cells."""
        return self.chip.in_cells(self.their_frame + self.in_flight * self.occupancy + self.pipeline)


def headroom_terms(
    *,
    rate_gbps: int,
    cable_m: float,
    mtu_bytes: int,
    chip: Chip,
    small_percent: int = MIXED_PERCENT,
    lossless_frame_bytes: int | None = None,
) -> HeadroomTerms:
    """Terms of the ingress buffer that one lossless priority needs on one port to drop nothing after XOFF.

    The pause waits for the largest frame of this port, of any class, crosses the cable, and takes effect after the
    response time of the peer; until then the peer sends, and completes the frame it has begun. Source: `xoff` and
    `size` of sonic-swss, cfgmgr/buffer_headroom_mellanox.lua, with the preamble and gap of the frames and with the
    pause, which it leaves out, and without its constant for Spectrum-6.
    mtu_bytes: largest IP packet. small_percent: MIXED_PERCENT or SMALL_PERCENT. lossless_frame_bytes: largest frame of
    the lossless priority at the peer, if smaller.
    """
    largest = mtu_bytes + ETHERNET_HEADER_BYTES
    return HeadroomTerms(
        our_frame=largest + ETHERNET_OVERHEAD_BYTES,
        cable=2 * cable_m * CABLE_NS_PER_M * bytes_per_ns(rate_gbps),
        arriving=chip.arriving_bytes(rate_gbps),
        response=response_bits(rate_gbps) / BITS_PER_BYTE,
        their_frame=min(largest, lossless_frame_bytes or largest) + ETHERNET_OVERHEAD_BYTES,
        occupancy=occupancy(chip, small_percent),
        pipeline=chip.pipeline_bytes,
        chip=chip,
    )


def response_bits(rate_gbps: int) -> int:
    """Bit times that a port may continue to send after a pause frame has arrived."""
    known = next((bits for speed, bits in RESPONSE_BITS.items() if speed >= rate_gbps), None)
    return known or RESPONSE_BITS[400] * -(-rate_gbps // 400)


def occupancy(chip: Chip, small_percent: int, large_bytes: int = LARGE_PACKET_BYTES) -> float:
    """Bytes of buffer per byte that arrives, when this share of the packets is as small as possible: at least 1.

    As in the script of SONiC, which at 50 % counts the bytes of small packets twice, on the safe side.
    """
    mean_bytes = (small_percent * SMALLEST_FRAME_BYTES + (100 - small_percent) * large_bytes) / 100
    small_share = SMALLEST_FRAME_BYTES / mean_bytes
    return 1 + small_share * (chip.worst_case - 1)


@dataclass(frozen=True, slots=True, kw_only=True)
class PortHeadroom:
    """Headroom of a port [bytes]. mixed: for half small packets. worst: the most that the port may ever use, at least
    what a vendor publishes for the chip and what the platform gives a port by default."""

    mixed_bytes: int
    worst_bytes: int


NO_HEADROOM = PortHeadroom(mixed_bytes=0, worst_bytes=0)


def port_headroom(
    *,
    rate_gbps: int,
    cable_m: float,
    mtu_bytes: int,
    chip: Chip,
    default_bytes: int = 0,
    lossless_frame_bytes: int | None = None,
) -> PortHeadroom:
    """Headroom of a port of this speed and cable.

    default_bytes: what the platform gives it by default. lossless_frame_bytes: largest frame of the stated traffic.
    """
    mixed, small = (
        headroom_terms(
            rate_gbps=rate_gbps,
            cable_m=cable_m,
            mtu_bytes=mtu_bytes,
            chip=chip,
            small_percent=percent,
            lossless_frame_bytes=lossless_frame_bytes,
        ).total
        for percent in (MIXED_PERCENT, SMALL_PERCENT)
    )
    worst = max(small, chip.published_bytes(rate_gbps, cable_m), default_bytes)
    return PortHeadroom(mixed_bytes=mixed, worst_bytes=worst)
