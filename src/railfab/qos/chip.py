"""Switch chips: cells, delays and published headroom, as data with their sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from typing import Any, Literal

from railfab.units import bytes_per_ns
from railfab.yaml_reader.packaged import packaged

OTHER = "other"
"""Entry of a chip of which nothing published was opened: the largest figure of every kind."""

SMALLEST_FRAME_BYTES = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class Chip:
    """Figures of one chip; `chips.yml` has their meaning and sources.

    published: headroom by a vendor for this chip [bytes], by speed [Gb/s] and cable [m], both ascending.
    """

    name: str
    cell_bytes: int
    mac_phy_bytes: float
    pipeline_bytes: int
    uncertainty: Literal["published", "estimated"]
    source: str
    internal_ns: float = 0
    latency_ns: int = 1000
    published: Mapping[int, Mapping[int, int]] = field(default_factory=dict)

    @property
    def worst_case(self) -> int:
        """Most buffer that a byte on the wire can take: cells of one smallest frame, or of a frame one byte too long.

        Rounded up, as `worst_case_factor` of sonic-swss, cfgmgr/buffer_headroom_mellanox.lua.
        """
        cell = self.cell_bytes
        if cell > 2 * SMALLEST_FRAME_BYTES:
            return -(-cell // SMALLEST_FRAME_BYTES)
        return -(-2 * cell // (1 + cell))

    def in_cells(self, size_bytes: float) -> int:
        """A size rounded up to whole cells [bytes]."""
        return -int(-size_bytes // self.cell_bytes) * self.cell_bytes

    def arriving_bytes(self, rate_gbps: int) -> float:
        """Data that has arrived at a port of this speed and is not yet counted as its occupancy."""
        return self.mac_phy_bytes + self.internal_ns * bytes_per_ns(rate_gbps)

    def published_bytes(self, rate_gbps: int, cable_m: float) -> int:
        """Published headroom of a port: that of the next higher speed, by length between two entries; 0 without one.

        Below the first length it is that of the first; above the last it grows as between the last two.
        """
        table = next((table for speed, table in self.published.items() if speed >= rate_gbps), {})
        points = list(table.items())
        if not points or cable_m <= points[0][0]:
            return points[0][1] if points else 0
        between = next(((a, z) for a, z in pairwise(points) if cable_m <= z[0]), (points[-2], points[-1]))
        (near_m, near), (far_m, far) = between
        return self.in_cells(near + (far - near) * (cable_m - near_m) / (far_m - near_m))


@cache
def chips() -> Mapping[str, Chip]:
    """Every known chip, by the `silicon` of a switch model."""
    document: dict[str, dict[str, Any]] = packaged(__package__, "chips.yml")
    return {name: Chip(name=name, **figures) for name, figures in document.items()}


def chip_of(silicon: str) -> Chip:
    """The figures of a chip; of one that is not known, the largest of every kind."""
    return chips().get(silicon) or chips()[OTHER]
