"""Thresholds of a lossless queue: ECN marking, PFC XOFF, and headroom for data that arrives after a pause."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.units import BITS_PER_BYTE, ETHERNET_OVERHEAD_BYTES, FIBRE_NS_PER_M, bytes_per_ns

PAUSE_FRAME_BYTES = 64 + ETHERNET_OVERHEAD_BYTES
ETHERNET_HEADER_BYTES = 18
"""Destination, source, type and frame check sequence: the difference between a frame and its IP packet."""

RESPONSE_BITS = {
    10: 30_720,
    25: 40_960,
    40: 60_416,
    50: 75_264,
    100: 201_728,
    200: 231_936,
    400: 463_360,
}
"""Longest time from a PFC frame's arrival to the transmitter's silence [bit times]; IEEE 802.3 annex 31B. Of 50G and
200G: `pause_quanta_per_speed` of sonic-swss, cfgmgr/buffer_headroom_mellanox.lua (147 and 453 quanta), which has 400G's
for 800G; here 800G takes twice that of 400G, the same time in more bits, until a bound is published."""

FABRIC_RTT_NS = 10_000
"""Round trip of a loaded two-tier fabric, for the bandwidth-delay product [ns]."""

KMIN_FLOOR_BYTES = 150_000
"""The RoCE profiles of NVIDIA and Cisco start marking here at every speed."""

KMAX_TO_KMIN = 3
PMAX_PERCENT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """Thresholds of the lossless queue of one port [bytes]. kmin < kmax < xoff, so that ECN acts before PFC."""

    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: int
    xoff_bytes: int
    headroom_bytes: int


def response_bits(rate_gbps: int) -> int:
    """Bit times that a port may continue to send after a pause frame has arrived."""
    known = next((bits for speed, bits in RESPONSE_BITS.items() if speed >= rate_gbps), None)
    return known or RESPONSE_BITS[400] * -(-rate_gbps // 400)


def pfc_headroom_bytes(
    *, rate_gbps: int, cable_m: float, max_frame_bytes: int, lossless_frame_bytes: int | None = None
) -> int:
    """Ingress buffer one lossless priority needs on one port to drop nothing after XOFF [bytes].

    The pause waits for the largest frame of this port, of any class, crosses the cable, and takes effect after the
    response time of the peer; until then the peer sends, and completes the frame it has begun. Source: IEEE 802.1Qbb;
    the sum as in the `buffer_headroom` scripts of SONiC, without the per-chip tile.
    lossless_frame_bytes: largest frame of the lossless priority at the peer, if smaller; `lossless_mtu` in SONiC.
    """
    ours = max_frame_bytes + ETHERNET_OVERHEAD_BYTES
    theirs = min(max_frame_bytes, lossless_frame_bytes or max_frame_bytes) + ETHERNET_OVERHEAD_BYTES
    round_trip = 2 * cable_m * FIBRE_NS_PER_M * bytes_per_ns(rate_gbps)
    return round(round_trip + response_bits(rate_gbps) / BITS_PER_BYTE + ours + theirs + PAUSE_FRAME_BYTES)


def lossless_thresholds(*, rate_gbps: int, cable_m: float, mtu_bytes: int, pfc: bool = True) -> Thresholds:
    """ECN ramp, XOFF and headroom of a port of this speed and cable.

    Kmin is the bandwidth-delay product, at least 150 kB; Kmax three times that; XOFF lies one bandwidth-delay product
    above Kmax, so that senders have a round trip to answer a mark before they are stopped.
    mtu_bytes: largest IP packet. Without PFC there is no headroom, and XOFF is where a queue drops.
    """
    bdp = round(FABRIC_RTT_NS * bytes_per_ns(rate_gbps))
    kmin = max(KMIN_FLOOR_BYTES, bdp)
    kmax = KMAX_TO_KMIN * kmin
    frame_bytes = mtu_bytes + ETHERNET_HEADER_BYTES
    headroom = pfc_headroom_bytes(rate_gbps=rate_gbps, cable_m=cable_m, max_frame_bytes=frame_bytes) if pfc else 0
    return Thresholds(
        kmin_bytes=kmin,
        kmax_bytes=kmax,
        pmax_percent=PMAX_PERCENT,
        xoff_bytes=kmax + bdp,
        headroom_bytes=headroom,
    )


def profile_name(rate_gbps: int, cable_m: float) -> str:
    """Name of a buffer profile by speed and cable length, such as `100g-5m`."""
    return f"{rate_gbps}g-{cable_m:g}m".replace(".", "p")


def percent_of(part_bytes: float, whole_bytes: float) -> int:
    """A share in whole percent, rounded up so that it is never too small."""
    return -(-round(100 * part_bytes) // round(whole_bytes))
