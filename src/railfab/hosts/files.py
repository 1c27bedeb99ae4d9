"""The files of a plan that configure the NICs of hosts; the same for all hosts, so written once."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from importlib.resources import files
from typing import Any

from railfab.hosts.bnxt import bnxt_settings
from railfab.hosts.catalogue import TWO_LOSSLESS_CLASSES, Family, NicModel, needs_settings, nic_models, nic_of
from railfab.hosts.environment import Variable, environment
from railfab.hosts.ionic import PORT, ionic_settings
from railfab.hosts.mlx5 import mlx5_settings
from railfab.hosts.ports import RocePort, frontend_interfaces, roce_ports
from railfab.hosts.settings import Setting, as_document
from railfab.intent import FabricIntent, Lossless, StorageClass
from railfab.topology.model import Net, Topology

SCRIPT, SETTINGS, UNIT = "nic.py", "nic.json", "railfab-nic.service"
DRIVERS: Mapping[Family, str] = {"mlx5": "mlx5_core", "bnxt": "bnxt_en", "ionic": "ionic"}
"""Kernel driver of each family, as `DRIVER` of sysfs names it."""
FAMILIES: Mapping[Family, Callable[[Lossless], Iterator[Setting]]] = {
    "mlx5": mlx5_settings,
    "bnxt": bnxt_settings,
    "ionic": ionic_settings,
}
MARKS: Mapping[str, str] = {
    SCRIPT: "#!/usr/bin/env python3",
    SETTINGS: '{"railfab": "nic settings"',
    "nccl.env": "# NCCL and RCCL",
    UNIT: "# Set the NICs",
}
"""How the first line of each file begins, by which a later plan knows it; also of one that is written no more."""
UNIT_TEXT = """\
# Set the NICs of this host for RoCE at every boot, since most of their settings do not survive one.
# Install: mkdir -p /etc/railfab; cp nic.py nic.json /etc/railfab; cp railfab-nic.service /etc/systemd/system
#          systemctl daemon-reload; systemctl enable --now railfab-nic
# After a reload of the driver: systemctl restart railfab-nic
[Unit]
Description=NIC settings for lossless RoCE
Wants=network-online.target
After=network-online.target openibd.service lldpad.service

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=/usr/bin/env python3 /etc/railfab/nic.py --apply

[Install]
WantedBy=multi-user.target
"""


def nic_settings(family: Family, lossless: Lossless, storage: StorageClass | None = None) -> tuple[Setting, ...]:
    """The settings of a family of NICs for these traffic classes, in the order of writing.

    storage: the class of storage, if any; of a lossy one NICs need no settings, and one that is lossless only the NICs
    of `TWO_LOSSLESS_CLASSES` have.
    """
    if storage is None or not storage.lossless:
        return tuple(FAMILIES[family](lossless))
    return tuple(mlx5_settings(lossless, storage)) if family in TWO_LOSSLESS_CLASSES else ()


def nic_files(topology: Topology, intent: FabricIntent) -> Iterator[tuple[str, str]]:
    """Name and text of the files: the script, its settings, and a unit of systemd.

    None where NICs need no settings: without a lossless class, and with Ultra Ethernet. Raises TopologyError for an
    unknown NIC model.
    """
    nic, ports, lossless = nic_of(intent), roce_ports(topology, intent), intent.profile.lossless
    if lossless is None or not needs_settings(intent) or not ports:
        return
    variables = tuple(environment(topology, intent, ports))
    yield SCRIPT, files(__package__).joinpath(SCRIPT).read_text(encoding="utf-8")
    yield SETTINGS, _settings(topology, ports, lossless, intent.profile.storage_class, variables, nic)
    yield UNIT, UNIT_TEXT


def _settings(
    topology: Topology,
    ports: tuple[RocePort, ...],
    lossless: Lossless,
    storage: StorageClass | None,
    variables: tuple[Variable, ...],
    nic: NicModel | None,
) -> str:
    """What the script wants: JSON with one setting, port or NIC a line."""
    families = [nic.family] if nic is not None and all(port.net is Net.BACKEND for port in ports) else list(FAMILIES)
    if storage is not None and storage.lossless:
        families = [family for family in families if family in TWO_LOSSLESS_CLASSES]
    sections: dict[str, Any] = {
        "nics": {model.name: _model(model) for model in nic_models().values()},
        "ports": [_port(port, nic) for port in ports],
        "frontend": list(frontend_interfaces(topology)),
        "environment": [as_document(variable) for variable in variables],
        "facts": {"ionic": {"port": as_document(PORT)}},
    }
    for family in families:
        sections[family] = [as_document(setting) for setting in nic_settings(family, lossless, storage)]
    head = {"railfab": "nic settings", "version": 1, "fabric": topology.fabric}
    lines = [json.dumps(head)[:-1] + ","]
    for name, content in sections.items():
        lines.append(f'"{name}": {_lines(content)},')
    return "\n".join(lines)[:-1] + "}\n"


def _lines(content: Any) -> str:
    """A list or mapping as JSON, one element a line."""
    if isinstance(content, dict):
        inner = ",\n  ".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in content.items())
        return f"{{\n  {inner}}}"
    inner = ",\n  ".join(map(json.dumps, content))
    return f"[\n  {inner}]" if content else "[]"


def _model(model: NicModel) -> dict[str, Any]:
    return {
        "product": model.product,
        "family": model.family,
        "driver": DRIVERS[model.family],
        "pci": model.pci,
        "subsystem": model.subsystem,
    }


def _port(port: RocePort, nic: NicModel | None) -> dict[str, Any]:
    """A port for the script. nic: the model that it must be; None for any, as on the storage network."""
    return {
        "name": port.name,
        "nic": nic.name if nic is not None and port.net is Net.BACKEND else None,
        "net": port.net,
        "bond": port.bond,
        "mtu": port.mtu,
        "cable_m": port.cable_m,
        "rail": port.rail,
        "plane": port.plane,
    }
