"""The MTU of routed ports whose configuration states none."""

from __future__ import annotations

from dataclasses import replace

from railfab.device import DeviceModel, Interface, Port


def with_default_mtu(model: DeviceModel, mtu_bytes: int) -> DeviceModel:
    """The model by which a switch forwards; a parsed one has no MTU there, so that it renders the same configuration.

    mtu_bytes: largest IP packet by default.
    """

    def in_effect(interface: Interface) -> Interface:
        routes = isinstance(interface, Port) and interface.network_instance is not None
        return replace(interface, mtu_bytes=mtu_bytes) if routes and interface.mtu_bytes is None else interface

    interfaces = tuple(map(in_effect, model.interfaces))
    return model if interfaces == model.interfaces else replace(model, interfaces=interfaces)
