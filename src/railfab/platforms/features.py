"""The features of a device model that a platform may lack: one line each, used by admission, the laws and the docs.

`capabilities.yml` of a platform names those that it supports; it lacks all others. A feature that a platform calls
`external` is one with `without`, because admission leaves it out of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from railfab.device import DeviceModel, Interface, PortQos


@dataclass(frozen=True, slots=True)
class Feature:
    """used: whether a model has it. without: the model with what the operating system below the platform sets left out;
    None for a feature that cannot be left out."""

    meaning: str
    used: Callable[[DeviceModel], bool]
    without: Callable[[DeviceModel], DeviceModel] | None = None


def _any_port(has: Callable[[Interface], bool]) -> Callable[[DeviceModel], bool]:
    return lambda model: any(map(has, model.interfaces))


def _any_qos_port(has: Callable[[PortQos], bool]) -> Callable[[DeviceModel], bool]:
    return lambda model: model.qos is not None and any(map(has, model.qos.ports))


def _each_port(change: Callable[[Interface], Interface]) -> Callable[[DeviceModel], DeviceModel]:
    return lambda model: replace(model, interfaces=tuple(map(change, model.interfaces)))


def _without_mtu(port: Interface) -> Interface:
    return replace(port, mtu_bytes=None)


def _without_speed(port: Interface) -> Interface:
    return replace(port, rate_gbps=None)


FEATURES: Mapping[str, Feature] = {
    "bfd": Feature("BFD on BGP sessions", lambda model: model.bfd is not None),
    "numbered": Feature("BGP sessions over addresses", _any_port(lambda port: port.address is not None)),
    "unnumbered": Feature("BGP sessions over link-local addresses", _any_port(lambda port: port.unnumbered)),
    "mtu": Feature("MTU of a port", _any_port(lambda port: port.mtu_bytes is not None), _each_port(_without_mtu)),
    "port_speed": Feature(
        "speed of a port", _any_port(lambda port: port.rate_gbps is not None), _each_port(_without_speed)
    ),
    "breakout": Feature("cages split into ports", lambda model: bool(model.breakouts)),
    "pfc": Feature("priority flow control", _any_qos_port(lambda port: port.pfc)),
    "ecn": Feature("ECN marking", _any_qos_port(lambda port: port.ecn)),
    "pfc_watchdog": Feature("PFC watchdog", lambda model: model.qos is not None and model.qos.watchdog is not None),
}
"""By name, in the order of the docs."""
