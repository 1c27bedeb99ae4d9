"""Host models, cables and optics, as data with its sources."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from railfab.errors import TopologyError
from railfab.intent import Hosts
from railfab.topology.catalogue import load_data, nearest

LANES_GBPS = (200, 100, 50, 25, 10, 1)
"""Speeds of an electrical or optical lane, the fastest first."""
LANE_COUNTS = (1, 2, 4, 8)
"""Numbers of lanes that a port can have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HostModel:
    """One GPU server model. gpu_memory_gb, tflops: of one GPU, the latter its dense BF16 peak. power_w: largest power.
    units: height in a rack."""

    name: str
    gpus: int
    gpu_memory_gb: int
    tflops: int
    power_w: int
    units: int
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Media:
    """A cable or optic of one rate.

    lanes: in each direction, on the medium. pluggables_per_end: 0 for a DAC, AEC or AOC, 1 for optics. power_w: of one
    end. gearbox: there are modules that accept slower electrical lanes than those on the fibre.
    """

    name: str
    rate_gbps: int
    lanes: int
    reach_m: float
    pluggables_per_end: int
    power_w: float
    source: str
    gearbox: bool = False

    @property
    def lane_gbps(self) -> int:
        return self.rate_gbps // self.lanes

    def supports(self, lane_gbps: int) -> bool:
        """Whether it accepts electrical lanes of this speed."""
        return lane_gbps == self.lane_gbps or (self.gearbox and lane_gbps < self.lane_gbps)


def host_models() -> tuple[HostModel, ...]:
    """Every host model."""
    return tuple(host_model(name) for name in _equipment()["hosts"])


def host_model(name: str) -> HostModel:
    """The host model of this name. Raises TopologyError."""
    hosts = _equipment()["hosts"]
    if name not in hosts:
        raise TopologyError("hosts.model", f"{name!r} is not in the catalogue of host models", nearest(name, hosts))
    return HostModel(name=name, **hosts[name])


def host_of(hosts: Hosts) -> HostModel:
    """The host model of an intent, with the power, height and memory that the intent states. Raises TopologyError."""
    model = host_model(hosts.model)
    return replace(
        model,
        power_w=hosts.power_w or model.power_w,
        units=hosts.units or model.units,
        gpu_memory_gb=hosts.gpu_memory_gb or model.gpu_memory_gb,
    )


@cache
def media() -> tuple[Media, ...]:
    """Every cable and optic."""
    document = _equipment()
    return tuple(Media(**{**row, "source": document["sources"][row["source"]]}) for row in document["media"])


@cache
def media_of_rate(rate_gbps: int) -> tuple[Media, ...]:
    """Cables and optics of one rate, sorted by reach, then by number of lanes, most first."""
    return tuple(sorted((m for m in media() if m.rate_gbps == rate_gbps), key=lambda m: (m.reach_m, -m.lanes)))


def lane_modes(rate_gbps: int, lane_gbps: int, lanes: int) -> Iterator[int]:
    """Lane speeds, up to `lane_gbps`, at which a port of up to `lanes` lanes reaches a rate; the fastest first.

    Assumes that a lane also supports every slower standard speed (general knowledge of switch SerDes).
    """
    for lane in LANES_GBPS:
        count, rest = divmod(rate_gbps, lane)
        if lane <= lane_gbps and not rest and count in LANE_COUNTS and count <= lanes:
            yield lane


@cache
def _equipment() -> dict[str, Any]:
    return load_data("equipment.yml")
