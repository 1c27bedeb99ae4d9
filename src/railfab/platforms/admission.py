"""Check of a device model against the capabilities of its platform, before rendering."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from railfab.device import BgpTimers, DeviceModel, Lag, Port, number_of
from railfab.errors import NotRenderedYet, RailfabError, UnsupportedFeature, raise_all
from railfab.platforms.contract import BgpSettings, Support
from railfab.platforms.features import FEATURES

if TYPE_CHECKING:
    from railfab.platforms.contract import Platform

T = TypeVar("T")
NO_CHANGES: Mapping[str, str] = {}


def measures_of(model: DeviceModel) -> dict[str, int]:
    """Values of a model that a platform may limit, by the name of the limit."""
    interfaces, bgp, qos = model.interfaces, model.bgp, model.qos
    watchdog = qos.watchdog if qos else None
    return {
        "interfaces": sum(isinstance(interface, Port) for interface in interfaces),
        "ip_mtu_bytes": max((interface.mtu_bytes or 0 for interface in interfaces), default=0),
        "lag_number": max((number_of(found.name) for found in interfaces if isinstance(found, Lag)), default=0),
        "max_paths": max(bgp.max_paths, bgp.max_paths_internal) if bgp else 0,
        "advertisement_interval_s": max(_advertisement_intervals(model), default=0),
        "hold_up_ms": max((found.hold_up_ms for found in interfaces if isinstance(found, Port)), default=0),
        "queue_weight": max((found.weight or 0 for found in qos.classes), default=0) if qos else 0,
        "aaa_servers": len(model.management.aaa) if model.management else 0,
        "watchdog_ms": max(watchdog.detect_ms, watchdog.recover_ms) if watchdog else 0,
    }


def minima_of(model: DeviceModel) -> dict[str, int]:
    """Values of a model for which a platform may have a minimum, by its name; without those that it does not state."""
    intervals = _advertisement_intervals(model)
    return {"advertisement_interval_s": min(intervals)} if intervals else {}


def _advertisement_intervals(model: DeviceModel) -> set[int]:
    stated = {neighbor.timers.advertisement_interval_s for neighbor in model.neighbors}
    return {interval for interval in stated if interval is not None}


def admit(model: DeviceModel, platform: Platform, changes: Mapping[str, str] = NO_CHANGES) -> DeviceModel:
    """The model as this platform configures it, without settings that the operating system below makes.

    BGP settings that the model leaves open are those of `Capabilities.bgp`.
    changes: of the intent that avoid a feature, by the feature's key, where another key asks for it.
    Raises UnsupportedFeature or Problems for every feature and limit that the platform does not support.
    """
    capabilities, used = platform.capabilities, [name for name, feature in FEATURES.items() if feature.used(model)]
    refused: list[RailfabError] = [
        _refusal(model.name, platform.name, feature, capabilities.support(feature), changes)
        for feature in used
        if capabilities.support(feature) in (Support.NO, Support.LATER)
    ]
    refused += _out_of_range(model, platform)
    raise_all(refused)
    for feature in used:
        without = FEATURES[feature].without
        if without is not None and capabilities.support(feature) is Support.EXTERNAL:
            model = without(model)
    return _with_bgp_settings(model, capabilities.bgp)


def _out_of_range(model: DeviceModel, platform: Platform) -> Iterator[RailfabError]:
    """An error for each value above or below what the platform takes."""
    capabilities, measures, minima = platform.capabilities, measures_of(model), minima_of(model)
    for name, most in capabilities.limits.items():
        if (value := measures.get(name, most)) > most:
            problem = f"{name} {value} is above platform {platform.name}'s limit of {most}"
            yield UnsupportedFeature(model.name, problem, f"Use {most} or less")
    for name, least in capabilities.least.items():
        if (value := minima.get(name, least)) < least:
            problem = f"{name} {value} is below platform {platform.name}'s minimum of {least}"
            yield UnsupportedFeature(model.name, problem, f"Use {least} or more")


def _with_bgp_settings(model: DeviceModel, settings: BgpSettings) -> DeviceModel:
    """The model with the platform's settings of BGP where it states none."""
    bgp = model.bgp
    if bgp is None or settings == BgpSettings():
        return model

    @lru_cache  # the sessions of a switch share their timers
    def filled(timers: BgpTimers) -> BgpTimers:
        return replace(
            timers,
            connect_retry_s=_stated(timers.connect_retry_s, settings.connect_retry_s),
            advertisement_interval_s=_stated(timers.advertisement_interval_s, settings.advertisement_interval_s),
        )

    neighbors = tuple(replace(found, timers=filled(found.timers)) for found in bgp.neighbors)
    rapid = _stated(bgp.rapid_withdrawal, settings.rapid_withdrawal)
    return replace(model, bgp=replace(bgp, neighbors=neighbors, rapid_withdrawal=rapid))


def _stated(value: T | None, otherwise: T | None) -> T | None:
    return otherwise if value is None else value


def _refusal(name: str, platform: str, feature: str, support: Support, changes: Mapping[str, str]) -> RailfabError:
    key = FEATURES[feature].key
    change = changes.get(key, f"change {key} in the intent") if key else f"remove {feature} from the intent"
    if support is Support.LATER:
        problem = f"{feature} cannot be rendered for platform {platform} yet"
        return NotRenderedYet(name, problem, f"`railfab plan` documents it; to render, {change}")
    remedy = f"Choose another platform, or {change}"
    return UnsupportedFeature(name, f"platform {platform} does not support {feature}", remedy)
