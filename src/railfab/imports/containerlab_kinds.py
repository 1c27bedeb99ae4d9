"""Node kinds of containerlab: the platform of each, and the front-panel ports of its interface names.

Sources, in containerlab's repository as of August 2026: the kind names and InterfaceRegexp, InterfaceOffset of
nodes/{srl,ceos,sonic,sonic_vm,nvidia_cumulusvx,vr_n9kv,vr_vjunosevolved,cjunosevolved}, and docs/manual/kinds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from railfab.imports.existing import Position

WITHOUT_SWITCHING = frozenset(("bridge", "ovs-bridge", "host", "ext-container", "k8s-kind"))
"""Kinds that are not nodes of a fabric: parts of the machine that runs the lab."""


@dataclass(frozen=True, slots=True)
class KindNames:
    """A kind. names: patterns of interface names to the offset of their cage, so that cages count from 1."""

    platform: str | None
    names: Mapping[str, int] = field(default_factory=dict)


ETH = r"eth(?P<cage>[1-9]\d*)"
LANES = r"(?P<cage>[1-9]\d*)(?:[_/](?P<lane>[1-9]\d*))?"
SRLINUX = KindNames(
    "srlinux", {r"e1-(?P<cage>\d+)(?:-(?P<lane>\d+))?": 0, r"ethernet-1/(?P<cage>\d+)(?:/(?P<lane>\d+))?": 0}
)
EOS = KindNames("eos", {rf"(?:eth|et|Et|Ethernet){LANES}": 0})
SONIC = KindNames("sonic", {ETH: 0})
CUMULUS = KindNames("cumulus", {ETH: 0, r"swp(?P<cage>[1-9]\d*)(?:s(?P<breakout>\d+))?": 0})
NXOS = KindNames("nxos", {ETH: 0, r"(?:Ethernet|Eth|Et)1/(?P<cage>[1-9]\d*)(?:/(?P<lane>[1-9]\d*))?": 0})
JUNOS_VM = KindNames("junos", {ETH: 0, r"(?:et|xe|ge)-0/0/(?P<cage>\d+)(?::(?P<breakout>\d+))?": 1})
JUNOS = KindNames("junos", {ETH: -3, r"(?:et|xe|ge)-0/0/(?P<cage>\d+)(?::(?P<breakout>\d+))?": 1})

KINDS: Mapping[str, KindNames] = {
    "nokia_srlinux": SRLINUX,
    "srl": SRLINUX,
    "arista_ceos": EOS,
    "ceos": EOS,
    "sonic-vs": SONIC,
    "sonic-vm": SONIC,
    "nvidia_cumulusvx": CUMULUS,
    "cumulus_cvx": CUMULUS,
    "cvx": CUMULUS,
    "cisco_n9kv": NXOS,
    "vr-n9kv": NXOS,
    "vr-cisco_n9kv": NXOS,
    "juniper_vjunosevolved": JUNOS_VM,
    "juniper_cjunosevolved": JUNOS,
    "cjunosevolved": JUNOS,
}
"""Kinds whose interface names identify a port; not `linux`, whose interface names are free."""


def position(kind: str | None, interface: str) -> Position | None:
    """The front-panel port of an interface name on a kind; None if the name identifies none."""
    known = KINDS.get(kind or "")
    for pattern, offset in known.names.items() if known else ():
        if match := re.fullmatch(pattern, interface):
            parts = match.groupdict()
            lane = parts.get("lane") or (None if parts.get("breakout") is None else int(parts["breakout"]) + 1)
            return int(parts["cage"]) + offset, None if lane is None else int(lane)
    return None


def platform_of(kind: str | None) -> str | None:
    """The platform of a kind; None for kinds that may run any."""
    known = KINDS.get(kind or "")
    return known.platform if known else None
