"""The name of a topology file, and the names of interfaces in it that each kind accepts."""

from __future__ import annotations

import re

from railfab.errors import LabError
from railfab.platforms import platform

LINUX_NAME_LENGTH = 15
"""Maximum length of a Linux interface name (IFNAMSIZ - 1, include/uapi/linux/if.h)."""

INTERFACES = {
    "linux": r"(?!eth0$)[^\s/:]+",
    "nokia_srlinux": r"ethernet-\d+/\d+(/\d+)?|e\d+-\d+(-\d+)?|mgmt0",
    "arista_ceos": r"eth[1-9]\d*(_\d+)*|et\d+(_\d+)*|(Ethernet|Et)\d+(/\d+)*",
    "sonic-vs": r"eth[1-9]\d*",
    "sonic-vm": r"eth[1-9]\d*|Ethernet\d+",
    "nvidia_cumulusvx": r"eth[1-9]\d*|swp[1-9]\d*(s\d+)?",
    "juniper_vjunosswitch": r"eth[1-9]\d*|(et|xe|ge)-0/0/\d+",
    "juniper_vjunosevolved": r"eth[1-9]\d*|(et|xe|ge)-0/0/\d+",
    "juniper_cjunosevolved": r"eth([4-9]|[1-9]\d+)|(et|xe|ge)-0/0/\d+",
    "cisco_n9kv": r"eth[1-9]\d*|(Ethernet|Et|Eth)1/\d+",
}
"""Names of data interfaces by kind (containerlab 0.79, nodes/*)."""


def topology_file(fabric: str) -> str:
    """File name of the topology of a lab."""
    return f"{fabric}.clab.yml"


def topology_name(platform_name: str, interface: str) -> str:
    """The name of a switch's interface in a topology file. Raises LabError when the platform has no such interface."""
    names = platform(platform_name).lab.interfaces
    name = names.lab(interface)
    if name is None:
        raise LabError(
            f"interface {interface}",
            f"is not an interface name of platform {platform_name}",
            f"Use {names}",
        )
    return name


def interface_error(kind: str, interface: str) -> tuple[str, str] | None:
    """Problem and remedy of an interface name that the kind does not accept; None when it does."""
    pattern = INTERFACES.get(kind)
    if pattern is not None and re.fullmatch(pattern, interface) is None:
        return f"{interface!r} is not an interface name of kind {kind}", f"Use a name that matches {pattern}"
    if kind == "linux" and len(interface) > LINUX_NAME_LENGTH:
        return f"{interface!r} is longer than {LINUX_NAME_LENGTH} characters", "Use a shorter name"
    return None
