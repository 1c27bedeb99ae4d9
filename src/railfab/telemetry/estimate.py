"""Pause time where a platform counts pause frames but not the time they took: an upper bound, under its own name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from railfab.metrics import DIRECTIONS, metric
from railfab.telemetry.series import Series
from railfab.units import gbps, pause_frame_seconds

SPEED = "fabric_interface_speed_bytes_per_second"
_FRAMES = {f"fabric_pfc_{way}_frames_total": way for way in DIRECTIONS}


def estimates(
    samples: Iterable[tuple[Series, float]], designed_gbps: Mapping[str, float]
) -> Iterator[tuple[Series, float]]:
    """Frames x 65535 quanta of 512 bit times at the port's speed, as seconds, for one device.

    The speed is the one that the port reports, else the designed one; without either there is no estimate, nor
    where the platform measures the time. Frames that end a pause count too, so this is an upper bound.
    Source of the quantum: IEEE 802.1Qbb.
    """
    frames: list[tuple[str, Series, float]] = []
    speeds: dict[str, float] = {}
    measured: set[tuple[str, object]] = set()
    for series, value in samples:
        if (way := _FRAMES.get(series.metric.name)) is not None:
            frames.append((way, series, value))
        elif series.metric.name == SPEED:
            speeds[dict(series.labels)["interface"]] = gbps(value)
        else:
            measured.add((series.metric.name, series.labels))
    for way, series, value in frames:
        interface = dict(series.labels)["interface"]
        rate_gbps = speeds.get(interface) or designed_gbps.get(interface)
        if rate_gbps and (f"fabric_pfc_{way}_pause_seconds_total", series.labels) not in measured:
            estimate = metric(f"fabric_pfc_{way}_pause_estimated_seconds_total")
            yield Series(estimate, dict(series.labels)), value * pause_frame_seconds(rate_gbps)
