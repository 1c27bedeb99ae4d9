"""VRFs, VXLAN and MLAG (sonic-vrf, -vxlan, -mclag): rendered and parsed.

A layer 3 VNI needs a VLAN of its own with an interface in the VRF (SONiC EVPN VXLAN HLD, L3 VNI). Such a transit VLAN
is none of the model: it is the highest free one, for each VRF in the order of their names.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from ipaddress import ip_address

from railfab.device import (
    DEFAULT_INSTANCE,
    LOOPBACK,
    DeviceModel,
    Family,
    Interface,
    Lag,
    Loopback,
    Mlag,
    MlagKeepalive,
    NetworkInstance,
    Svi,
    Vtep,
    vlan_target,
)
from railfab.errors import RailfabError
from railfab.platforms.shared.config_node import ConfigNode
from railfab.platforms.sonic.bgp import FAMILIES, announces_vnis
from railfab.platforms.sonic.canonical import PLACEHOLDER
from railfab.platforms.sonic.names import device_name, instance_name, interface_name, number_in, vrf_name
from railfab.platforms.sonic.tables import Row, Tables, key, merged, nodes, row, stated

VTEP, NVO = "vtep", "nvo"
LAST_VLAN = 4094
BOTH = "both"


def render_overlay(model: DeviceModel) -> Tables:
    vrfs = {vrf_name(instance.name): stated(vni=instance.vni) for instance in model.network_instances}
    return merged(({"VRF": vrfs}, _vxlan(model), _targets(model), *_transits(model), _mlag(model)))


def _vxlan(model: DeviceModel) -> Tables:
    vnis = {vlan.vni: vlan.vlan_id for vlan in model.vlans if vlan.vni is not None}
    used = bool(vnis) or any(instance.vni is not None for instance in model.network_instances)
    if model.vtep is None and not used:
        return {}
    tables: Tables = {
        "VXLAN_TUNNEL": {VTEP: stated(src_ip=model.vtep.address if model.vtep else None)},
        "VXLAN_TUNNEL_MAP": dict(_map(vni, vlan) for vni, vlan in vnis.items()),
    }
    if model.vtep is not None:
        tables["VXLAN_EVPN_NVO"] = {NVO: {"source_vtep": VTEP}}
    return tables


def _map(vni: int, vlan: int) -> tuple[str, Row]:
    return key(VTEP, f"map_{vni}_Vlan{vlan}"), stated(vni=vni, vlan=f"Vlan{vlan}")


def _transits(model: DeviceModel) -> Iterator[Tables]:
    """The transit VLAN of each layer 3 VNI."""
    taken = {vlan.vlan_id for vlan in model.vlans}
    free = (vlan for vlan in range(LAST_VLAN, 1, -1) if vlan not in taken)
    for instance in sorted(model.network_instances, key=_name):
        if instance.vni is not None:
            vlan = next(free)
            yield {
                "VLAN": {f"Vlan{vlan}": stated(vlanid=vlan)},
                "VLAN_INTERFACE": {f"Vlan{vlan}": {"vrf_name": vrf_name(instance.name)}},
                "VXLAN_TUNNEL_MAP": dict([_map(instance.vni, vlan)]),
            }


def _targets(model: DeviceModel) -> Tables:
    """The route targets of the VNIs of VLANs, where EVPN announces them; FRR derives others from the AS of the switch.

    Source: frrcfgd.py, BGP_GLOBALS_EVPN_VNI_RT, which becomes `route-target both RT` below `vni N`.
    """
    if not announces_vnis(model):
        return {}
    family, vnis = FAMILIES[Family.EVPN], (vlan.vni for vlan in model.vlans if vlan.vni is not None)
    rows = {key(DEFAULT_INSTANCE, family, vni, vlan_target(vni)): {"route-target-type": BOTH} for vni in vnis}
    return {"BGP_GLOBALS_EVPN_VNI_RT": rows} if rows else {}


def _name(instance: NetworkInstance) -> str:
    return instance.name


def parse_vnis(tree: Tables, problems: list[RailfabError]) -> tuple[Mapping[int, int], frozenset[int]]:
    """The VNIs of VLANs, and the transit VLANs."""
    layer_3 = {node.number("vni") for _, node in nodes(tree, "VRF", problems)} - {None}
    vnis = {}
    for _, node in nodes(tree, "VXLAN_TUNNEL_MAP", problems):
        vlan, vni = number_in(node.text("vlan") or ""), node.number("vni")
        if vlan is not None and vni is not None:
            vnis[vlan] = vni
    transits = frozenset(vlan for vlan, vni in vnis.items() if vni in layer_3)
    return vnis, transits


def parse_instances(tree: Tables, problems: list[RailfabError]) -> Iterator[NetworkInstance]:
    for (name, *_), node in nodes(tree, "VRF", problems):
        speaker = ConfigNode(row(tree, "BGP_GLOBALS", name), f"BGP_GLOBALS|{name}", problems)
        evpn = row(tree, "BGP_GLOBALS_AF", name, FAMILIES[Family.EVPN])
        targets = ConfigNode(evpn, f"BGP_GLOBALS_AF|{name}", problems)
        yield NetworkInstance(
            name=instance_name(name),
            rd=targets.text("route-distinguisher"),
            import_targets=targets.words("import-rts"),
            export_targets=targets.words("export-rts"),
            vni=node.number("vni") or None,
            router_id=speaker.router_id("router_id"),
        )


def parse_vtep(tree: Tables, problems: list[RailfabError], interfaces: tuple[Interface, ...]) -> Vtep | None:
    """The first tunnel with a source, and the loopback that has its address."""
    for _, node in nodes(tree, "VXLAN_TUNNEL", problems):
        address = node.address("src_ip")
        if address is None:
            continue
        loopbacks = (loopback for loopback in interfaces if isinstance(loopback, Loopback))
        owners = (loopback.name for loopback in loopbacks if address in [local.ip for local in loopback.addresses])
        return Vtep(source=next(owners, LOOPBACK), address=address)
    return None


ICCPD = "iccpd"
"""Container with the session of a pair, which images have disabled (sonic-feature; init_cfg.json.j2)."""


def _mlag(model: DeviceModel) -> Tables:
    """The pair, whose control session (ICCP) runs between the addresses of its keepalive, or those of the peer link. An
    SVI with an address of its own on each switch says so, since both have the same one otherwise."""
    pair = model.mlag
    if pair is None:
        return {}
    source = pair.keepalive.source if pair.keepalive else (pair.address.ip if pair.address else None)
    peer = pair.keepalive.peer if pair.keepalive else pair.peer
    domain = stated(source_ip=source, peer_ip=peer, peer_link=device_name(pair.peer_link))
    lags = (lag for lag in model.interfaces if isinstance(lag, Lag) and lag.mlag_id is not None)
    members = {key(pair.domain, device_name(lag.name)): dict(PLACEHOLDER) for lag in lags}
    own_addresses = (svi for svi in model.interfaces if isinstance(svi, Svi) and svi.addresses)
    return {
        "FEATURE": {ICCPD: {"state": "enabled"}},
        "MCLAG_DOMAIN": {pair.domain: domain},
        "MCLAG_INTERFACE": members,
        "MCLAG_UNIQUE_IP": {device_name(svi.name): {"unique_ip": "enable"} for svi in own_addresses},
    }


def parse_mlag(tree: Tables, problems: list[RailfabError]) -> Mlag | None:
    for (domain, *_), node in nodes(tree, "MCLAG_DOMAIN", problems):
        link, peer = node.text("peer_link"), node.address("peer_ip")
        source = node.text("source_ip")
        return Mlag(
            domain=domain,
            peer_link=interface_name(link or ""),
            keepalive=MlagKeepalive(
                peer=peer, source=ip_address(source) if source else None, network_instance=DEFAULT_INSTANCE
            )
            if peer is not None
            else None,
        )
    return None
