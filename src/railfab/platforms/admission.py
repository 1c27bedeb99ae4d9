"""Check of a device model against the capabilities of its platform, before rendering."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from railfab.device import BgpTimers, DeviceModel, HashField, Lag, Port, Qos, number_of
from railfab.errors import NotRenderedYet, RailfabError, UnsupportedFeature, raise_all
from railfab.platforms.contract import BgpSettings, Capabilities, Support
from railfab.platforms.features import FEATURES
from railfab.platforms.rounding import rounded

if TYPE_CHECKING:
    from railfab.platforms.contract import Platform

T = TypeVar("T")


class IntentChange(NamedTuple):
    """A change of the intent that avoids a feature. key: the first one that it changes."""

    key: str | None
    text: str


NO_CHANGES: Mapping[str, IntentChange] = {}
MAC_SEGMENT = 3
"""Type of an Ethernet segment identifier that is a MAC address and three octets (RFC 7432, section 5)."""
REFUSED = (Support.NO, Support.LATER)


KEYS: Mapping[str, str] = {
    "ip_mtu_bytes": "profile.mtu",
    "max_paths": "profile.bgp.max_paths",
    "advertisement_interval_s": "profile.bgp.advertisement_interval_s",
    "hold_up_ms": "profile.link_hold_up_ms",
    "bfd_interval_ms": "profile.bfd.interval_ms",
    "watchdog_detect_ms": "profile.lossless.watchdog.detect_ms",
    "watchdog_recover_ms": "profile.lossless.watchdog.recover_ms",
    "flowlet_gap_us": "profile.hash.flowlet_gap_us",
    "hash_seed": "profile.hash.seed",
    "trimmed_bytes": "profile.ultra_ethernet.packet_trimming.size_bytes",
}
"""Keys of the intent that state the values which a platform limits; other values follow from several keys."""


def measures_of(model: DeviceModel) -> dict[str, int]:
    """Values of a model that a platform may limit, by the name of the limit."""
    interfaces, bgp, qos = model.interfaces, model.bgp, model.qos
    watchdog = qos.watchdog if qos else None
    return {
        "interfaces": sum(isinstance(port, Port) for port in interfaces),
        "ip_mtu_bytes": max((interface.mtu_bytes or 0 for interface in interfaces), default=0),
        "lag_number": max((number_of(lag.name) for lag in interfaces if isinstance(lag, Lag)), default=0),
        "vrf_name_length": max((len(instance.name) for instance in model.network_instances), default=0),
        "max_paths": max(bgp.max_paths, bgp.max_paths_internal) if bgp else 0,
        "advertisement_interval_s": max(_advertisement_intervals(model), default=0),
        "hold_up_ms": max((port.hold_up_ms for port in interfaces if isinstance(port, Port)), default=0),
        "queue_weights": sum(traffic_class.weight or 0 for traffic_class in qos.classes) if qos else 0,
        "queue_weight": max((traffic_class.weight or 0 for traffic_class in qos.classes), default=0) if qos else 0,
        "bfd_interval_ms": max(_bfd_intervals(model), default=0),
        "ntp_servers": len(model.management.ntp) if model.management else 0,
        "aaa_servers": len(model.management.aaa) if model.management else 0,
        "cable_m": max(_lossless_cables(qos), default=0) if qos else 0,
        "watchdog_detect_ms": watchdog.detect_ms if watchdog else 0,
        "watchdog_recover_ms": watchdog.recover_ms if watchdog else 0,
        "flowlet_gap_us": (model.load_balancing.flowlet_gap_us or 0) if model.load_balancing else 0,
    }


def minima_of(model: DeviceModel) -> dict[str, int]:
    """Values of a model for which a platform may have a minimum, by its name; without those that it does not state."""
    intervals, balancing = _advertisement_intervals(model), model.load_balancing
    minima = {"advertisement_interval_s": min(intervals)} if intervals else {}
    if model.qos is not None and model.qos.watchdog is not None:
        minima["watchdog_detect_ms"] = model.qos.watchdog.detect_ms
        minima["watchdog_recover_ms"] = model.qos.watchdog.recover_ms
    if holds := [port.hold_up_ms for port in model.interfaces if isinstance(port, Port) and port.hold_up_ms]:
        minima["hold_up_ms"] = min(holds)
    if model.qos is not None and model.qos.trimming is not None:
        minima["trimmed_bytes"] = model.qos.trimming.size_bytes
    return minima if balancing is None or balancing.seed is None else {**minima, "hash_seed": balancing.seed}


def _lossless_cables(qos: Qos) -> Iterator[int]:
    """Lengths of the cables of ports with PFC."""
    for name in {port.profile for port in qos.ports if port.pfc and port.profile}:
        profile = qos.profile(name)
        if profile is not None and profile.cable_m is not None:
            yield profile.cable_m


def _bfd_intervals(model: DeviceModel) -> Iterator[int]:
    for neighbor in model.neighbors:
        if neighbor.bfd is not None:
            yield max(neighbor.bfd.interval_ms, neighbor.bfd.receive_ms or 0)


def _advertisement_intervals(model: DeviceModel) -> set[int]:
    stated = {neighbor.timers.advertisement_interval_s for neighbor in model.neighbors}
    return {interval for interval in stated if interval is not None}


def admit(model: DeviceModel, platform: Platform, changes: Mapping[str, IntentChange] = NO_CHANGES) -> DeviceModel:
    """The model as this platform configures it, without settings that it omits or the operating system below makes.

    BGP settings that the model leaves open are those of `Capabilities.bgp`; values are rounded to `Capabilities.steps`.
    changes: of the intent that avoid a feature, by the feature's key, where another key asks for it.
    Raises UnsupportedFeature or Problems for every feature and limit that the platform does not support.
    """
    support = supports(platform.capabilities, model.silicon)
    left = without(model, support, Support.OMITTED)
    refused: list[RailfabError] = [
        _refusal(model, platform, feature, changes)
        for feature, state in support.items()
        if state in REFUSED and FEATURES[feature].used(left)
    ]
    refused += [*_drained_without_sessions(model, platform), *_out_of_range(model, platform)]
    raise_all(refused)
    return filled(without(left, support, Support.EXTERNAL), platform.capabilities)


def without(model: DeviceModel, support: Mapping[str, Support], *states: Support) -> DeviceModel:
    """The model without its features whose support is one of these."""
    for name, state in support.items():
        feature = FEATURES[name]
        if state in states and feature.without is not None and feature.used(model):
            model = feature.without(model)
    return model


def filled(model: DeviceModel, capabilities: Capabilities) -> DeviceModel:
    """The model with the settings of the platform where it states none, and rounded to the platform's units."""
    model = _with_hash_fields(_with_bgp_settings(model, capabilities.bgp), capabilities.hash_fields)
    model = _with_mac_segments(model) if capabilities.segment_type == MAC_SEGMENT else model
    return rounded(model, capabilities.steps)


def _drained_without_sessions(model: DeviceModel, platform: Platform) -> Iterator[RailfabError]:
    """An error for a drain that would do nothing: on every platform it is BGP that moves the traffic."""
    if model.drain and not model.neighbors:
        problem = f"has no BGP session, by which a drain of platform {platform.name} moves traffic"
        remedy = "Remove it from drain in the intent, and end the jobs of its hosts before you work on it"
        yield UnsupportedFeature(model.name, problem, remedy, key="drain")


def supports(capabilities: Capabilities, silicon: str = "") -> dict[str, Support]:
    """Whether a platform with these capabilities supports each feature, on a chip; empty for any."""
    stated = dict(capabilities.features)
    for chip in sorted(filter(silicon.startswith, capabilities.chips), key=len):
        stated.update(capabilities.chips[chip])
    return {
        name: stated.get(name, Support.OMITTED if feature.optional else Support.NO)
        for name, feature in FEATURES.items()
    }


def support_of(capabilities: Capabilities, feature: str, silicon: str = "") -> Support:
    """Whether a platform supports one feature, by its name."""
    return supports(capabilities, silicon)[feature]


def _out_of_range(model: DeviceModel, platform: Platform) -> Iterator[RailfabError]:
    """An error for each value above or below what the platform takes."""
    capabilities, measures, minima = platform.capabilities, measures_of(model), minima_of(model)
    for name, most in capabilities.limits.items():
        if (value := measures.get(name, most)) > most:
            problem = f"{name} {value} is above platform {platform.name}'s limit of {most}"
            yield UnsupportedFeature(model.name, problem, _within(f"{most} or less", name), key=KEYS.get(name))
    for name, least in capabilities.least.items():
        if (value := minima.get(name, least)) < least:
            problem = f"{name} {value} is below platform {platform.name}'s minimum of {least}"
            yield UnsupportedFeature(model.name, problem, _within(f"{least} or more", name), key=KEYS.get(name))


def _within(values: str, name: str) -> str:
    """The remedy for a value out of range."""
    return f"Use {values}" + (f" as {KEYS[name]} in the intent" if name in KEYS else "")


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

    neighbors = tuple(replace(neighbor, timers=filled(neighbor.timers)) for neighbor in bgp.neighbors)
    rapid = _stated(bgp.rapid_withdrawal, settings.rapid_withdrawal)
    return replace(model, bgp=replace(bgp, neighbors=neighbors, rapid_withdrawal=rapid))


def _with_hash_fields(model: DeviceModel, fields: tuple[str, ...]) -> DeviceModel:
    """The model with the platform's fields of the ECMP hash where it states only a seed."""
    balancing = model.load_balancing
    if not fields or balancing is None or balancing.seed is None or balancing.fields:
        return model
    return replace(model, load_balancing=replace(balancing, fields=tuple(map(HashField, fields))))


def _with_mac_segments(model: DeviceModel) -> DeviceModel:
    """The model with Ethernet segments of type 3. Both switches of a LAG have its MAC address and its number."""

    def changed(lag: Lag) -> Lag:
        assert lag.esi is not None
        mac = lag.system_mac or ":".join(("02", *lag.esi.split(":")[5:]))
        number = number_of(lag.name).to_bytes(3, "big").hex(":")
        return replace(lag, esi=f"{MAC_SEGMENT:02x}:{mac}:{number}", system_mac=mac)

    interfaces = (
        changed(interface) if isinstance(interface, Lag) and interface.esi is not None else interface
        for interface in model.interfaces
    )
    return replace(model, interfaces=tuple(interfaces))


def _stated(value: T | None, otherwise: T | None) -> T | None:
    return otherwise if value is None else value


def _refusal(model: DeviceModel, platform: Platform, feature: str, changes: Mapping[str, IntentChange]) -> RailfabError:
    asked_by, capabilities = FEATURES[feature].key, platform.capabilities
    otherwise = f"change {asked_by} in the intent" if asked_by else f"remove {feature} from the intent"
    key, change = changes.get(asked_by or "", IntentChange(asked_by, otherwise))
    if support_of(capabilities, feature, model.silicon) is Support.LATER:
        problem = f"{feature} cannot be rendered for platform {platform.name} yet"
        return NotRenderedYet(model.name, problem, f"`railfab plan` documents it; to render, {change}", key=key)
    problem = f"platform {platform.name} does not support {feature}"
    if support_of(capabilities, feature) not in REFUSED:
        problem = f"{problem} on {model.silicon}"
        return UnsupportedFeature(model.name, problem, f"Choose a switch model with another chip, or {change}", key=key)
    return UnsupportedFeature(model.name, problem, f"Choose another platform, or {change}", key=key)
