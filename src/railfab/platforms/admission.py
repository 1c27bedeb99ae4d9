"""Check of a device model against the capabilities of its platform, before rendering."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from railfab.device import DeviceModel, Interface
from railfab.errors import RailfabError, UnsupportedFeature, raise_all
from railfab.platforms.contract import Support

if TYPE_CHECKING:
    from railfab.platforms.contract import Platform


def features_of(model: DeviceModel) -> dict[str, bool]:
    """Feature name to whether the model uses it."""
    qos = model.qos
    return {
        "bfd": model.bfd is not None,
        "breakout": bool(model.breakouts),
        "mtu": any(interface.mtu_bytes is not None for interface in model.interfaces),
        "port_speed": any(interface.rate_gbps is not None for interface in model.interfaces),
        "unnumbered": any(interface.unnumbered for interface in model.interfaces),
        "numbered": any(interface.address is not None for interface in model.interfaces),
        "pfc": qos is not None and any(port.pfc for port in qos.ports),
        "ecn": qos is not None and any(port.ecn for port in qos.ports),
        "pfc_watchdog": qos is not None and qos.watchdog is not None,
    }


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
    features = platform.capabilities.features
    refused: list[RailfabError] = [
        UnsupportedFeature(
            model.name,
            f"platform {platform.name} does not support {feature}",
            f"Choose another platform or remove {feature} from the intent",
        )
        for feature, used in features_of(model).items()
        if used and features.get(feature, Support.NO) is Support.NO
    ]
    refused += [
        UnsupportedFeature(
            model.name, f"{name} {value} is above platform {platform.name}'s limit of {limit}", f"Use {limit} or less"
        )
        for name, value in measures_of(model).items()
        if (limit := platform.capabilities.limits.get(name)) is not None and value > limit
    ]
    raise_all(refused)
    external = {feature for feature, support in features.items() if support is Support.EXTERNAL}
    return replace(model, interfaces=tuple(_configured(interface, external) for interface in model.interfaces))


def _configured(interface: Interface, external: set[str]) -> Interface:
    return replace(
        interface,
        mtu_bytes=None if "mtu" in external else interface.mtu_bytes,
        rate_gbps=None if "port_speed" in external else interface.rate_gbps,
    )
