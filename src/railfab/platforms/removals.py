"""Device models without the settings that the operating system below a platform makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from railfab.device import DEFAULT_INSTANCE, DeviceModel, Interface, Lag, LoadBalancing, Port


def mtu(model: DeviceModel) -> DeviceModel:
    return _each(model, lambda found: replace(found, mtu_bytes=None))


def port_speed(model: DeviceModel) -> DeviceModel:
    return _each(model, lambda found: replace(found, rate_gbps=None) if isinstance(found, Port) else found)


def fec(model: DeviceModel) -> DeviceModel:
    return _each(model, lambda found: replace(found, fec=None) if isinstance(found, Port) else found)


def vlans(model: DeviceModel) -> DeviceModel:
    return replace(model, vlans=())


def bridging(model: DeviceModel) -> DeviceModel:
    """Ports and LAGs in no VLAN, in the default network instance."""

    def changed(found: Interface) -> Interface:
        if isinstance(found, Port | Lag) and found.vlans is not None:
            return replace(found, vlans=None, network_instance=DEFAULT_INSTANCE)
        return found

    return _each(model, changed)


def members(model: DeviceModel) -> DeviceModel:
    """LAGs without members, and the members as ports that the system binds."""
    names = {name for found in model.interfaces if isinstance(found, Lag) for name in found.members}

    def changed(found: Interface) -> Interface:
        if isinstance(found, Lag):
            return replace(found, members=(), lacp=True)
        return replace(found, network_instance=DEFAULT_INSTANCE) if found.name in names else found

    return _each(model, changed)


def hash_fields(model: DeviceModel) -> DeviceModel:
    return _balancing(model, lambda found: replace(found, fields=()))


def hash_seed(model: DeviceModel) -> DeviceModel:
    return _balancing(model, lambda found: replace(found, seed=None))


def management_vrf(model: DeviceModel) -> DeviceModel:
    """Servers in the default network instance: the system runs their clients in a VRF."""
    return _management(model, network_instance=DEFAULT_INSTANCE)


def ntp(model: DeviceModel) -> DeviceModel:
    return _management(model, ntp=())


def syslog(model: DeviceModel) -> DeviceModel:
    return _management(model, syslog=())


def aaa(model: DeviceModel) -> DeviceModel:
    return _management(model, aaa=())


def gnmi_server(model: DeviceModel) -> DeviceModel:
    return _management(model, gnmi=None)


def banner(model: DeviceModel) -> DeviceModel:
    return _management(model, banner=None)


def _management(model: DeviceModel, **fields: Any) -> DeviceModel:
    if model.management is None:
        return model
    return replace(model, management=replace(model.management, **fields).stated())


def _each(model: DeviceModel, change: Callable[[Interface], Interface]) -> DeviceModel:
    return replace(model, interfaces=tuple(map(change, model.interfaces)))


def _balancing(model: DeviceModel, change: Callable[[LoadBalancing], LoadBalancing]) -> DeviceModel:
    """The model with other load balancing; None of it where everything is then the platform's default."""
    left = change(model.load_balancing or LoadBalancing())
    return replace(model, load_balancing=None if left == LoadBalancing() else left)
