"""Node kinds of containerlab: the platform of each, and the front-panel ports of its interface names.

A platform of railfab states its kind in `lab.yml`; the kinds of others are here. Sources, in containerlab's repository
as of August 2026: the kind names and InterfaceRegexp, InterfaceOffset of nodes/{ceos,vr_veos,sonic,sonic_vm,dell_sonic,
plvision_sonic,nvidia_cumulusvx,cvx,vr_n9kv,vr_vjunosevolved,cjunosevolved,vr_vjunosswitch,vr_vqfx,vr_vmx,crpd}, and
docs/manual/kinds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from railfab.imports.existing import Position
from railfab.platforms import platform, platform_names

WITHOUT_SWITCHING = frozenset(("bridge", "ovs-bridge", "host", "ext-container", "k8s-kind"))
"""Kinds that are not nodes of a fabric: parts of the machine that runs the lab."""

GENERIC = frozenset(("linux",))
"""Kinds that run any platform, and whose interface names are free."""


@dataclass(frozen=True, slots=True)
class KindNames:
    """A kind. names: patterns of interface names to the offset of their cage, so that cages count from 1."""

    platform: str
    names: Mapping[str, int]


ETH = r"eth(?P<cage>[1-9]\d*)"
LANES = r"(?P<cage>[1-9]\d*)(?:[_/](?P<lane>[1-9]\d*))?"
EOS = KindNames("eos", {rf"(?:eth|et|Et|Ethernet){LANES}": 0})
VEOS = KindNames("eos", {ETH: 0, r"(?:Ethernet|Et)1/(?P<cage>[1-9]\d*)": 0})
SONIC = KindNames("sonic", {ETH: 0})
CUMULUS = KindNames("cumulus", {ETH: 0, r"swp(?P<cage>[1-9]\d*)(?:s(?P<breakout>\d+))?": 0})
NXOS = KindNames("nxos", {ETH: 0, r"(?:Ethernet|Eth|Et)\s?1/(?P<cage>[1-9]\d*)(?:/(?P<lane>[1-9]\d*))?": 0})
JUNOS_PORT = r"(?:et|xe|ge)-0/0/(?P<cage>\d+)(?::(?P<breakout>\d+))?"
JUNOS_VM = KindNames("junos", {ETH: 0, JUNOS_PORT: 1})
CJUNOS = KindNames("junos", {ETH: -3, JUNOS_PORT: 1})
CRPD = KindNames("junos", {ETH: 0})

KINDS: Mapping[str, KindNames] = {
    kind: names
    for names, kinds in (
        (EOS, ("arista_ceos", "ceos")),
        (VEOS, ("arista_veos", "vr-veos", "vr-arista_veos")),
        (SONIC, ("sonic-vs", "sonic-vm", "dell_sonic", "plvision_sonic")),
        (CUMULUS, ("nvidia_cumulusvx", "cumulus_cvx", "cvx")),
        (NXOS, ("cisco_n9kv", "vr-n9kv", "vr-cisco_n9kv")),
        (JUNOS_VM, ("juniper_vjunosevolved", "juniper_vjunosswitch", "juniper_vjunosrouter")),
        (JUNOS_VM, ("juniper_vqfx", "vr-vqfx", "vr-juniper_vqfx", "juniper_vmx", "vr-vmx", "vr-juniper_vmx")),
        (CJUNOS, ("juniper_cjunosevolved", "cjunosevolved")),
        (CRPD, ("juniper_crpd", "crpd")),
    )
    for kind in kinds
}
"""Kinds of switches that railfab need not have a platform for."""


@cache
def platforms_by_kind() -> Mapping[str, str]:
    """The platform that boots as each kind, or as an alias of it."""
    labs = {name: platform(name).lab for name in platform_names()}
    kinds = ((kind, name) for name, lab in labs.items() for kind in (lab.kind, *lab.aliases))
    return {kind: name for kind, name in kinds if kind not in GENERIC}


def position(kind: str | None, interface: str) -> Position | None:
    """The front-panel port of an interface name on a kind; None if the name identifies none."""
    return _position_in_lab(kind, interface) or _position_by_pattern(kind, interface)


def _position_in_lab(kind: str | None, interface: str) -> Position | None:
    name = platforms_by_kind().get(kind or "")
    if name is None:
        return None
    lab = platform(name).lab
    return lab.interfaces.position(interface) or lab.kernel.position(interface)


def _position_by_pattern(kind: str | None, interface: str) -> Position | None:
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
    return known.platform if known else platforms_by_kind().get(kind or "")
