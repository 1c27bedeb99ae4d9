"""Switches and paths that the tests of buffers use."""

from __future__ import annotations

from railfab.qos import FabricPath, PathLink, PortLoad, SwitchTraits, chip_of

LEAF = (PortLoad(100, 5, 32), PortLoad(400, 40, 8))
"""A rail switch of pod64."""

POD64 = FabricPath(
    links=(PathLink(5, 100), PathLink(40, 400), PathLink(40, 400), PathLink(5, 100)),
    switch_ns=1000,
)
"""The longest path of pod64: a round trip of 10.8 us."""

TRIDENT_4, TOMAHAWK_5 = 132_000_000, 165_200_000


def traits(
    silicon: str = "Trident 4",
    buffer_bytes: int = TRIDENT_4,
    *,
    mtu_bytes: int = 9216,
    path: FabricPath = POD64,
    default_headroom_bytes: int = 0,
) -> SwitchTraits:
    return SwitchTraits(
        chip=chip_of(silicon),
        buffer_bytes=buffer_bytes,
        path=path,
        mtu_bytes=mtu_bytes,
        default_headroom_bytes=default_headroom_bytes,
    )


def path_of(cable_m: float, *, rate_gbps: int = 400, tiers: int = 2) -> FabricPath:
    """A path of this many tiers, every cable of which is alike."""
    return FabricPath(links=(PathLink(cable_m, rate_gbps),) * (2 * tiers), switch_ns=1000)
