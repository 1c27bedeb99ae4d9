"""SR Linux configuration, as rendered or as a device gives it, as a device model.

What railfab does not own is passed over. What it owns is read for its effect: a marking slope that nothing binds marks
nothing, a port outside the network instance routes nothing. What the model has no word for is refused, with its path.
"""

from __future__ import annotations

from railfab.device import DeviceModel
from railfab.errors import RailfabError, raise_all
from railfab.platforms.srlinux.interfaces import parse_interfaces
from railfab.platforms.srlinux.node import Node
from railfab.platforms.srlinux.qos_parse import parse_qos
from railfab.platforms.srlinux.routing import attached, parse_bfd, parse_bgp
from railfab.platforms.srlinux.tree import stripped, tree_of

PLATFORM_NAME = "srlinux"


def parse(text: str) -> DeviceModel:
    """The device model that a configuration text means. Raises ConfigError, or Problems with all that are wrong."""
    problems: list[RailfabError] = []
    root = Node(stripped(tree_of(text)), "", problems)
    ports = parse_interfaces(root, attached(root))
    timers, bfd_ports = parse_bfd(root)
    bgp = parse_bgp(root, ports.interfaces, bfd_ports)
    qos = parse_qos(root)
    system = root.at("system", "name")
    name = system.needed("host-name", system.text("host-name"), "Give the switch its name")
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
