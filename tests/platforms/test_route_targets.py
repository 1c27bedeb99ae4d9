"""Leaves of two platforms in one EVPN network import the routes of each other's VLANs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from ipaddress import IPv4Address
from itertools import permutations

import pytest
import yaml
from tests.platforms.small_fabrics import design_of

from railfab.device import BgpNeighbor, BgpSpeaker, DeviceModel, Family, Vlan, Vtep, vlan_target
from railfab.fabric.design import render_text
from railfab.platforms import Support, admit, platform, platform_names
from railfab.platforms.admission import support_of

VNI = 10010
PEER = IPv4Address("10.255.9.9")
RENDERING = [name for name in platform_names() if support_of(platform(name).capabilities, "vxlan") is Support.YES]
"""Platforms that configure the VNIs of VLANs themselves; those of FRR are the system's, as its quirks say."""


@dataclass(frozen=True, slots=True)
class Targets:
    """Of one VLAN: what a switch imports, and with what it exports."""

    imported: frozenset[str]
    exported: frozenset[str]


def leaf(name: str) -> DeviceModel:
    """A leaf with an EVPN session and a VLAN with a VNI; every platform has another AS number, as with eBGP."""
    own = next(iter(design_of(name, name).models.values()))
    assert own.bgp is not None
    session = BgpNeighbor(
        peer=PEER, remote_as=64999, timers=own.bgp.neighbors[0].timers, families=(Family.EVPN,), multihop_ttl=3
    )
    bgp: BgpSpeaker = replace(own.bgp, asn=65101 + RENDERING.index(name), neighbors=(*own.bgp.neighbors, session))
    assert own.loopback is not None
    vtep = Vtep(source="loopback0", address=own.loopback)
    model = replace(own, bgp=bgp, vlans=(Vlan(vlan_id=10, name="red", vni=VNI),), vtep=vtep)
    return admit(model, platform(name))


def found(text: str, pattern: str) -> frozenset[str]:
    return frozenset(re.findall(pattern, text))


def of_eos(text: str) -> Targets:
    own = found(text, r"\n   vlan 10\n      rd \S+\n      route-target both (\S+)")
    return Targets(own, own)


def of_nxos(text: str) -> Targets:
    section = text.partition(f"vni {VNI} l2")[2]
    return Targets(found(section, r"route-target import (\S+)"), found(section, r"route-target export (\S+)"))


def of_junos(text: str) -> Targets:
    own = found(text, rf"vni {VNI} {{\s+vrf-target target:([^;]+);")
    return Targets(own, own)


def of_cumulus(text: str) -> Targets:
    tree = yaml.safe_load(text)
    (changes,) = [one["set"] for one in tree if "set" in one]
    own = frozenset(changes["evpn"]["vni"][str(VNI)]["route-target"]["both"])
    return Targets(own, own)


def of_sonic(text: str) -> Targets:
    rows = json.loads(text)["BGP_GLOBALS_EVPN_VNI_RT"]
    own = frozenset(row.split("|")[-1] for row, fields in rows.items() if fields["route-target-type"] == "both")
    return Targets(own, own)


def of_srlinux(text: str) -> Targets:
    def one(direction: str) -> frozenset[str]:
        return found(text.partition("vlan10")[2], rf'"{direction}-rt": "target:([^"]+)"')

    return Targets(one("import"), one("export"))


READERS: dict[str, Callable[[str], Targets]] = {
    "eos": of_eos,
    "nxos": of_nxos,
    "junos": of_junos,
    "cumulus": of_cumulus,
    "sonic": of_sonic,
    "srlinux": of_srlinux,
}


@cache
def targets_of(name: str) -> Targets:
    return READERS[name](render_text(leaf(name)))


@pytest.mark.parametrize(("name", "other"), tuple(permutations(RENDERING, 2)))
def test_a_leaf_imports_what_a_leaf_of_another_platform_exports(name: str, other: str) -> None:
    assert targets_of(other).exported == {vlan_target(VNI)}
    assert targets_of(other).exported <= targets_of(name).imported


def test_every_platform_that_renders_vnis_is_read() -> None:
    assert {*READERS} == {*RENDERING}
