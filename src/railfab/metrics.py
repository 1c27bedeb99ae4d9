"""The catalogue of every metric that railfab exposes, from `metrics.csv`: name, kind, unit, labels and help.

The collector exposes only these metrics, platforms map their native paths to these names, and dashboards and rules use
no others. Base units; counters end in `_total`; ratios are 0 to 1. `receive` and `transmit` are directions of the port:
a *received* pause frame makes this port stop sending. `rail` is the empty string where a port or switch serves no rail
or several (Prometheus treats an empty label as absent). `fabric`, which every metric has, is that of the intent, and
absent where there is none; with it, fabrics whose switches have the same names share one Prometheus.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from importlib.resources import files
from types import MappingProxyType

DIRECTIONS = ("receive", "transmit")
FABRIC = ("fabric",)
DEVICE = ("device", *FABRIC)
"""Labels of a target, which the collector gives to every series of it."""
PORT = (*DEVICE, "interface")
PEER = (*DEVICE, "peer")
RUN = (*FABRIC, "job_id")


class Kind(StrEnum):
    """Metric type of Prometheus; an info metric is a gauge that is always 1."""

    COUNTER = "counter"
    GAUGE = "gauge"
    INFO = "info"
    HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class Metric:
    """One entry of the catalogue. unit: the base unit in the name, empty for counts of events, states and infos."""

    name: str
    kind: Kind
    unit: str
    help: str
    labels: tuple[str, ...]

    def exposed_names(self) -> tuple[str, ...]:
        """Names for queries: three for a histogram, else one."""
        if self.kind is Kind.HISTOGRAM:
            return tuple(f"{self.name}_{suffix}" for suffix in ("bucket", "sum", "count"))
        return (self.name,)


BURSTS = (
    "fabric_interface_receive_bytes_total",
    "fabric_interface_transmit_bytes_total",
    "fabric_interface_receive_discards_total",
    "fabric_interface_transmit_discards_total",
    "fabric_queue_ecn_marked_packets_total",
    "fabric_queue_dropped_packets_total",
    "fabric_pfc_receive_frames_total",
    "fabric_pfc_transmit_frames_total",
)
"""Counters whose highest rate between two samples is exposed beside them, since bursts hide between scrapes."""


def rate_max_name(counter: str) -> str:
    """The name of the highest rate of a counter."""
    return f"{counter.removesuffix('_total')}_rate_max"


def _rates(counters: Mapping[str, Metric]) -> Iterator[Metric]:
    for name in BURSTS:
        counter = counters[name]
        yield Metric(
            rate_max_name(name),
            Kind.GAUGE,
            "",
            f"Highest increase per second of {name} between two samples in the last 15 to 30 s.",
            counter.labels,
        )


def _metrics() -> Iterator[Metric]:
    """The lines of `metrics.csv`. Raises ValueError for one that is not valid."""
    _, *rows = csv.reader(files(__package__).joinpath("metrics.csv").read_text(encoding="utf-8").splitlines())
    for name, kind, unit, labels, meaning in rows:
        yield Metric(name, Kind(kind), unit, meaning, tuple(labels.split()))


_COUNTED = {metric.name: metric for metric in _metrics()}
CATALOGUE: Mapping[str, Metric] = MappingProxyType(_COUNTED | {metric.name: metric for metric in _rates(_COUNTED)})
"""Every metric by name, in exposition order."""


def metric(name: str) -> Metric:
    """The catalogue entry of this name. Raises KeyError: an unknown name is a bug."""
    return CATALOGUE[name]
