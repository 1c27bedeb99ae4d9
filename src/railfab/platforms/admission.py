"""Check of a device model against the capabilities of its platform, before rendering."""

from __future__ import annotations

from typing import TYPE_CHECKING

from railfab.device import DeviceModel
from railfab.errors import RailfabError, UnsupportedFeature, raise_all
from railfab.platforms.contract import Support
from railfab.platforms.features import FEATURES

if TYPE_CHECKING:
    from railfab.platforms.contract import Platform


def measures_of(model: DeviceModel) -> dict[str, int]:
    """Values of a model that a platform may limit, by the name of the limit."""
    qos = model.qos
    watchdog = qos.watchdog if qos else None
    return {
        "interfaces": len(model.interfaces),
        "ip_mtu_bytes": max((interface.mtu_bytes or 0 for interface in model.interfaces), default=0),
        "max_paths": model.bgp.max_paths,
        "queue_weight": max((cls.weight or 0 for cls in qos.classes), default=0) if qos else 0,
        "watchdog_ms": max(watchdog.detect_ms, watchdog.recover_ms) if watchdog else 0,
    }


def admit(model: DeviceModel, platform: Platform) -> DeviceModel:
    """The model as this platform configures it, without settings that the operating system below makes.

    Raises UnsupportedFeature or Problems for every feature and limit that the platform does not support.
    """
    capabilities, used = platform.capabilities, [name for name, feature in FEATURES.items() if feature.used(model)]
    refused: list[RailfabError] = [
        UnsupportedFeature(
            model.name,
            f"platform {platform.name} does not support {feature}",
            f"Choose another platform or remove {feature} from the intent",
        )
        for feature in used
        if capabilities.support(feature) is Support.NO
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
