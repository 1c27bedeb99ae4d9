"""Thresholds of a lossless queue: ECN marking and PFC XOFF."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.intent import Lossless, SwitchRole
from railfab.units import bytes_per_ns

KMIN_FLOOR_BYTES = 150_000
"""The RoCE profile of NVIDIA starts marking here at every speed (CumulusNetworks/docs, cumulus-linux-515, RDMA over
Converged Ethernet: 150,000 bytes intended); Cisco's blueprint for AI as well, as others quote it."""

KMAX_TO_KMIN = 3
"""Huawei recommends two to three times the bandwidth-delay product as the upper threshold (EDOC1100155250, Configuring
Static ECN)."""

PMAX_PERCENT = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueThresholds:
    """Thresholds of the lossless queue of one port [bytes]. kmin < kmax < xoff, so that ECN acts before PFC.

    bdp_bytes: bandwidth-delay product, the port's speed times the round trip of the longest path.
    stated: the ramp is in the intent.
    """

    bdp_bytes: int
    kmin_bytes: int
    kmax_bytes: int
    pmax_percent: int
    xoff_bytes: int
    stated: bool = False


def lossless_thresholds(*, rate_gbps: int, round_trip_ns: int, lossless: Lossless, role: SwitchRole) -> QueueThresholds:
    """ECN ramp and XOFF of a port of this speed and role.

    Kmin is the bandwidth-delay product of the longest path, at least 150 kB; Kmax three times that, unless the intent
    states both. XOFF lies one bandwidth-delay product above Kmax, so that senders have a round trip to answer a mark
    before they are stopped; without PFC it is where a queue drops.
    """
    bdp = round(round_trip_ns * bytes_per_ns(rate_gbps))
    ramp = lossless.ramp(rate_gbps, role)
    kmin = ramp.kmin_bytes if ramp else max(KMIN_FLOOR_BYTES, bdp)
    kmax = ramp.kmax_bytes if ramp else KMAX_TO_KMIN * kmin
    return QueueThresholds(
        bdp_bytes=bdp,
        kmin_bytes=kmin,
        kmax_bytes=kmax,
        pmax_percent=ramp.pmax_percent if ramp else PMAX_PERCENT,
        xoff_bytes=kmax + bdp,
        stated=ramp is not None,
    )


def profile_name(rate_gbps: int, cable_m: float) -> str:
    """Name of a buffer profile by speed and cable length, such as `100g-5m`."""
    return f"{rate_gbps}g-{cable_m:g}m".replace(".", "p")


def percent_of(part_bytes: float, whole_bytes: float) -> int:
    """A share in whole percent, rounded up so that it is never too small."""
    return -(-round(100 * part_bytes) // round(whole_bytes))
