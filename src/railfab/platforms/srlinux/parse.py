"""Parses SR Linux configuration, rendered by railfab or read from a device, to a device model.

Configuration that railfab does not manage is ignored. Managed configuration is read for its effect: a WRED slope that
no port uses marks nothing, a port outside the network instance routes nothing. Managed configuration that a device
model cannot express is an error with its path.
"""

from __future__ import annotations

from railfab.device import DeviceModel
from railfab.errors import RailfabError, raise_all
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.shared.json_tree import Json
from railfab.platforms.srlinux.interfaces import parse_interfaces
from railfab.platforms.srlinux.qos_parse import parse_qos
from railfab.platforms.srlinux.routing import attached, parse_bfd, parse_bgp
from railfab.platforms.srlinux.tree import stripped, tree_of

PLATFORM_NAME = "srlinux"


def parse(text: str) -> DeviceModel:
    """The device model of a configuration text. Raises ConfigError, or Problems with every error found."""
    return parse_tree(tree_of(text))


def parse_tree(tree: Json) -> DeviceModel:
    """The device model of a configuration as JSON. Raises ConfigError, or Problems with every error found."""
    problems: list[RailfabError] = []
    root = ConfigNode(stripped(tree), "", problems)
    ports = parse_interfaces(root, attached(root))
    timers, bfd_ports = parse_bfd(root)
    bgp = parse_bgp(root, ports.interfaces, bfd_ports)
    qos = parse_qos(root)
    system = root.at("system", "name")
    name = system.needed("host-name", system.text("host-name"), "Configure the switch's name")
    raise_all(list({str(problem): problem for problem in problems}.values()))
    assert name is not None
    assert ports.loopback is not None
    assert bgp is not None
    return DeviceModel(
        name=name,
        platform=PLATFORM_NAME,
        loopback=ports.loopback,
        breakouts=ports.breakouts,
        interfaces=ports.interfaces,
        bgp=bgp,
        bfd=timers,
        qos=qos,
    )
