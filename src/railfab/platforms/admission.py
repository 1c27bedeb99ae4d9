"""Check of a device model against the capabilities of its platform, before rendering."""

from __future__ import annotations

from typing import TYPE_CHECKING

from railfab.device import DeviceModel, Lag, Port, number_of
from railfab.errors import NotRenderedYet, RailfabError, UnsupportedFeature, raise_all
from railfab.platforms.contract import Support
from railfab.platforms.features import FEATURES

if TYPE_CHECKING:
    from railfab.platforms.contract import Platform


def measures_of(model: DeviceModel) -> dict[str, int]:
    """Values of a model that a platform may limit, by the name of the limit."""
    interfaces, bgp, qos = model.interfaces, model.bgp, model.qos
    watchdog = qos.watchdog if qos else None
    return {
        "interfaces": sum(isinstance(interface, Port) for interface in interfaces),
        "ip_mtu_bytes": max((interface.mtu_bytes or 0 for interface in interfaces), default=0),
        "lag_number": max((number_of(found.name) for found in interfaces if isinstance(found, Lag)), default=0),
        "max_paths": max(bgp.max_paths, bgp.max_paths_internal) if bgp else 0,
        "queue_weight": max((found.weight or 0 for found in qos.classes), default=0) if qos else 0,
        "watchdog_ms": max(watchdog.detect_ms, watchdog.recover_ms) if watchdog else 0,
    }


def admit(model: DeviceModel, platform: Platform) -> DeviceModel:
    """The model as this platform configures it, without settings that the operating system below makes.

    Raises UnsupportedFeature or Problems for every feature and limit that the platform does not support.
    """
    capabilities, used = platform.capabilities, [name for name, feature in FEATURES.items() if feature.used(model)]
    refused: list[RailfabError] = [
        _refusal(model.name, platform.name, feature, capabilities.support(feature))
        for feature in used
        if capabilities.support(feature) in (Support.NO, Support.LATER)
    ]
    refused += [
        UnsupportedFeature(
            model.name, f"{name} {value} is above platform {platform.name}'s limit of {limit}", f"Use {limit} or less"
        )
        for name, value in measures_of(model).items()
        if (limit := capabilities.limits.get(name)) is not None and value > limit
    ]
    raise_all(refused)
    for feature in used:
        without = FEATURES[feature].without
        if without is not None and capabilities.support(feature) is Support.EXTERNAL:
            model = without(model)
    return model


def _refusal(name: str, platform: str, feature: str, support: Support) -> RailfabError:
    key = FEATURES[feature].key
    change = f"change {key} in the intent" if key else f"remove {feature} from the intent"
    if support is Support.LATER:
        problem = f"{feature} cannot be rendered for platform {platform} yet"
        return NotRenderedYet(name, problem, f"`railfab plan` documents it; to render, {change}")
    remedy = f"Choose another platform, or {change}"
    return UnsupportedFeature(name, f"platform {platform} does not support {feature}", remedy)
