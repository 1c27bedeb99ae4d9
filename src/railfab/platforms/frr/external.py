"""Settings and devices that Linux makes, of a planned model."""

from __future__ import annotations

from railfab.device import DeviceModel, Lag, Port
from railfab.platforms.frr.devices import linux_devices
from railfab.platforms.frr.names import device_name
from railfab.platforms.frr.system import PortSettings, comments

DEVICES = "! Linux devices, which FRR does not make:"


def external(model: DeviceModel) -> str:
    """The settings of ports, and the commands that make the devices, as comments of a configuration."""
    ports = {
        device_name(interface.name): PortSettings(interface.mtu_bytes, interface.enabled)
        for interface in model.interfaces
        if isinstance(interface, Port | Lag) and interface.mtu_bytes
    }
    commands = [f"! ip {command}\n" for device in linux_devices(model) for command in device.commands]
    return "".join([*([f"{DEVICES}\n"] if commands else []), *commands]) + comments(ports)
