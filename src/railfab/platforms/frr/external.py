"""Settings of ports that Linux makes, of a planned model."""

from __future__ import annotations

from railfab.device import DeviceModel, Lag, Port
from railfab.platforms.frr.names import device_name
from railfab.platforms.frr.system import PortSettings, comments


def external(model: DeviceModel) -> str:
    """The settings, as comments of a configuration."""
    ports = {
        device_name(found.name): PortSettings(found.mtu_bytes, found.enabled)
        for found in model.interfaces
        if isinstance(found, Port | Lag) and found.mtu_bytes
    }
    return comments(ports)
