"""Rounding of a device model to the units in which a platform states its values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from railfab.device import ClassThresholds, DeviceModel, EcnRamp, PortProfile, Qos
from railfab.device.qos import KINDS

STEPPED = ("ecn_bytes", "xoff_bytes", "xon_offset_bytes", "headroom_bytes", "limit_bytes")
"""Values of a class that may have a unit."""
POOLS = ("headroom_pool_bytes", "shared_pool_bytes")
WATCHDOG, TRIMMED = "watchdog_ms", "trimmed_bytes"


def rounded(model: DeviceModel, steps: Mapping[str, int]) -> DeviceModel:
    """The model with each value that has a step rounded up to a multiple of it, a pool of shared buffer down.

    steps: by name: `ecn_bytes` (both thresholds of a ramp), `xoff_bytes`, `xon_offset_bytes`, `headroom_bytes`,
    `limit_bytes`, `headroom_pool_bytes`, `shared_pool_bytes`, `trimmed_bytes` [bytes], `watchdog_ms` (both times) [ms].
    """
    if model.qos is None or not steps:
        return model
    return replace(model, qos=_rounded(model.qos, tuple(steps.items())))


@lru_cache(maxsize=KINDS)
def _rounded(qos: Qos, stated: tuple[tuple[str, int], ...]) -> Qos:
    steps = dict(stated)
    profiles = tuple(_profile(profile, steps) for profile in qos.profiles)
    pools: dict[str, Any] = {
        name: _stepped(getattr(qos, name), steps.get(name, 1), up=name != "shared_pool_bytes") for name in POOLS
    }
    watchdog, step = qos.watchdog, steps.get(WATCHDOG, 1)
    if watchdog is not None:
        watchdog = replace(
            watchdog, detect_ms=rounded_up(watchdog.detect_ms, step), recover_ms=rounded_up(watchdog.recover_ms, step)
        )
    trimming = qos.trimming
    if trimming is not None:
        trimming = replace(trimming, size_bytes=rounded_up(trimming.size_bytes, steps.get(TRIMMED, 1)))
    return replace(qos, profiles=profiles, watchdog=watchdog, trimming=trimming, **pools)


def _profile(profile: PortProfile, steps: Mapping[str, int]) -> PortProfile:
    return replace(profile, thresholds=tuple(_thresholds(thresholds, steps) for thresholds in profile.thresholds))


def _thresholds(thresholds: ClassThresholds, steps: Mapping[str, int]) -> ClassThresholds:
    fields: dict[str, Any] = {
        name: _stepped(getattr(thresholds, name), steps[name]) for name in STEPPED[1:] if name in steps
    }
    if thresholds.ecn is not None and "ecn_bytes" in steps:
        fields["ecn"] = _ramp(thresholds.ecn, steps["ecn_bytes"])
    return replace(thresholds, **fields)


def _ramp(ramp: EcnRamp, step: int) -> EcnRamp:
    return replace(ramp, kmin_bytes=rounded_up(ramp.kmin_bytes, step), kmax_bytes=rounded_up(ramp.kmax_bytes, step))


def _stepped(value: int | None, step: int, *, up: bool = True) -> int | None:
    if value is None:
        return None
    return rounded_up(value, step) if up else value // step * step


def as_programmed(intended: DeviceModel, running: DeviceModel, cell_bytes: int) -> DeviceModel:
    """The intended model with the thresholds that a switch shows where its chip has rounded them to its cells.

    They are less than a cell away. cell_bytes: the largest cell of the chips of the platform.
    """
    if cell_bytes == 1 or intended.qos is None or running.qos is None:
        return intended
    shown = running.qos
    profiles = tuple(_programmed(profile, shown.profile(profile.name), cell_bytes) for profile in intended.qos.profiles)
    return replace(intended, qos=replace(intended.qos, profiles=profiles))


def _programmed(intended: PortProfile, shown: PortProfile | None, cell_bytes: int) -> PortProfile:
    if shown is None:
        return intended

    def of_class(thresholds: ClassThresholds) -> ClassThresholds:
        counterpart = shown.of(thresholds.traffic_class)
        if counterpart is None:
            return thresholds
        fields: dict[str, Any] = {
            name: _near(getattr(thresholds, name), getattr(counterpart, name), cell_bytes) for name in STEPPED[1:]
        }
        if thresholds.ecn is not None and counterpart.ecn is not None:
            kmin, kmax = (
                _near(getattr(thresholds.ecn, name), getattr(counterpart.ecn, name), cell_bytes)
                for name in ("kmin_bytes", "kmax_bytes")
            )
            fields["ecn"] = replace(thresholds.ecn, kmin_bytes=kmin, kmax_bytes=kmax)
        return replace(thresholds, **fields)

    return replace(intended, thresholds=tuple(map(of_class, intended.thresholds)))


def _near(stated: Any, shown: Any, cell_bytes: int) -> Any:
    return shown if stated is not None and shown is not None and abs(stated - shown) < cell_bytes else stated


def rounded_up(value: int, step: int) -> int:
    """The next multiple of a step."""
    return -(-value // step) * step
