"""Linux devices behind a planned model that FRR does not make: VRFs, bonds, bridges, VLANs on ports, and VXLAN.

One bridge for each VLAN, named as its SVI, and one VXLAN device in it, as in FRR's user guide (doc/user/evpn.rst,
"Traditional Bridges and Traditional VXLAN Devices"), so that a kernel without VLAN filtering is enough.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from railfab.device import DEFAULT_INSTANCE, LOOPBACK, DeviceModel, Interface, Lag, Loopback, Port, Svi, Vtep
from railfab.platforms.frr.names import SVI_DEVICE, device_name

VXLAN_PORT = 4789
"""IANA's port; without it, Linux uses another one (ip-link(8))."""

FIRST_TABLE = 1001
"""Routing table of the first VRF; the next ones have the next tables."""

GATEWAY_MAC = "00:00:5e:00:01:01"
"""MAC address of anycast gateways for which the model has none: that of virtual router 1 (RFC 9568, section 8.2), which
SR Linux derives from the number 1 too."""


class DeviceKind(StrEnum):
    """Kinds of Linux devices, as `ip link add type` names them."""

    BOND = "bond"
    BRIDGE = "bridge"
    DUMMY = "dummy"
    VLAN = "vlan"
    VRF = "vrf"
    VXLAN = "vxlan"


@dataclass(frozen=True, slots=True, kw_only=True)
class LinuxDevice:
    """One device, and the commands of `ip` that make it and put it where it belongs, without `ip`."""

    kind: DeviceKind
    name: str
    commands: tuple[str, ...]


def linux_devices(model: DeviceModel) -> tuple[LinuxDevice, ...]:
    """The devices of a planned model, each after those that it is in."""
    return (
        *_vrfs(model),
        *_dummies(model),
        *_bridges(model),
        *(_bond(lag) for lag in model.interfaces if isinstance(lag, Lag)),
        *_tagged(model),
        *_vxlans(model),
    )


def vxlan_name(vni: int) -> str:
    """Linux's name of the device of a VNI: `vni10100`."""
    return f"vni{vni}"


def bridge_name(vlan_id: int) -> str:
    """The bridge of a VLAN, which is its SVI too: `vlan100`."""
    return f"{SVI_DEVICE}{vlan_id}"


def _vrfs(model: DeviceModel) -> Iterator[LinuxDevice]:
    for table, instance in enumerate(model.network_instances, start=FIRST_TABLE):
        name = instance.name
        ports = (port for port in model.interfaces if isinstance(port, Port) and port.network_instance == name)
        bound = (command for port in ports for command in _in_vrf(port))
        commands = (f"link add {name} type vrf table {table}", f"link set dev {name} up", *bound)
        yield LinuxDevice(kind=DeviceKind.VRF, name=name, commands=commands)


def _dummies(model: DeviceModel) -> Iterator[LinuxDevice]:
    """Loopbacks beside Linux's own."""
    for interface in model.interfaces:
        if isinstance(interface, Loopback) and interface.name != LOOPBACK:
            name = device_name(interface.name)
            commands = (f"link add {name} type dummy", *_in_vrf(interface), f"link set dev {name} up")
            yield LinuxDevice(kind=DeviceKind.DUMMY, name=name, commands=commands)


def _bond(lag: Lag) -> LinuxDevice:
    """A LAG; its members must be down when they join."""
    name, mode = device_name(lag.name), "802.3ad lacp_rate fast" if lag.lacp else "balance-xor"
    system = f" ad_actor_system {lag.system_mac}" if lag.system_mac is not None else ""
    joined = (f"link set dev {member} {word}" for member in lag.members for word in ("down", f"master {name}"))
    commands = (
        f"link add {name} type bond mode {mode} miimon 100 xmit_hash_policy layer3+4{system}",
        *joined,
        *_in_vrf(lag),
        *_bridged(lag),
        f"link set dev {name} up",
    )
    return LinuxDevice(kind=DeviceKind.BOND, name=name, commands=commands)


def _bridges(model: DeviceModel) -> Iterator[LinuxDevice]:
    """A bridge for each VLAN, with the ports that have it untagged."""
    svis = {svi.vlan: svi for svi in model.interfaces if isinstance(svi, Svi)}
    for vlan in model.vlans:
        name, svi = bridge_name(vlan.vlan_id), svis.get(vlan.vlan_id)
        ports = [port for port in model.interfaces if isinstance(port, Port)]
        joined = (command for port in ports for command in _bridged(port) if command.endswith(f" {name}"))
        commands = (
            f"link add {name} type bridge",
            *joined,
            *_gateway_mac(svi),
            *_in_vrf(svi),
            f"link set dev {name} up",
        )
        yield LinuxDevice(kind=DeviceKind.BRIDGE, name=name, commands=commands)


def _bridged(interface: Port | Lag) -> tuple[str, ...]:
    """The command that puts a port into the bridge of its untagged VLAN."""
    vlans = interface.vlans
    if vlans is None or vlans.untagged is None:
        return ()
    return (f"link set dev {device_name(interface.name)} master {bridge_name(vlans.untagged)}",)


def _gateway_mac(svi: Svi | None) -> tuple[str, ...]:
    """The MAC address that a gateway has on every switch of its VLAN."""
    if svi is None or not svi.gateways:
        return ()
    return (f"link set dev {device_name(svi.name)} address {svi.gateway_mac or GATEWAY_MAC}",)


def _tagged(model: DeviceModel) -> Iterator[LinuxDevice]:
    """A device on a port or LAG for each VLAN that it has tagged, in the bridge of the VLAN."""
    for interface in model.interfaces:
        vlans = interface.vlans if isinstance(interface, Port | Lag) else None
        for vlan in vlans.tagged if vlans is not None else ():
            below = device_name(interface.name)
            name = f"{below}.{vlan}"
            commands = (
                f"link add link {below} name {name} type vlan id {vlan}",
                f"link set dev {name} master {bridge_name(vlan)} up",
            )
            yield LinuxDevice(kind=DeviceKind.VLAN, name=name, commands=commands)


def _vxlans(model: DeviceModel) -> Iterator[LinuxDevice]:
    """A device for each VNI of a VLAN, and a bridge with one for that of a VRF, with the MTU of its gateways."""
    if model.vtep is None:
        return
    svis = [svi for svi in model.interfaces if isinstance(svi, Svi)]
    mtus = {svi.vlan: svi.mtu_bytes for svi in svis}
    for vlan in model.vlans:
        if vlan.vni is not None:
            yield _vxlan(vlan.vni, model.vtep, bridge_name(vlan.vlan_id), mtus.get(vlan.vlan_id))
    for instance in model.network_instances:
        if instance.vni is not None:
            name = f"br{instance.vni}"
            commands = (
                f"link add {name} type bridge",
                f"link set dev {name} master {instance.name}",
                f"link set dev {name} addrgenmode none up",
            )
            yield LinuxDevice(kind=DeviceKind.BRIDGE, name=name, commands=commands)
            vrf_mtus = (svi.mtu_bytes or 0 for svi in svis if svi.network_instance == instance.name)
            yield _vxlan(instance.vni, model.vtep, name, max(vrf_mtus, default=0) or None)


def _vxlan(vni: int, vtep: Vtep, bridge: str, mtu_bytes: int | None) -> LinuxDevice:
    """A device without learning: FRR installs what it has from EVPN."""
    name, mtu = vxlan_name(vni), f" mtu {mtu_bytes}" if mtu_bytes else ""
    commands = (
        f"link add {name}{mtu} type vxlan id {vni} local {vtep.address} dstport {VXLAN_PORT} nolearning",
        f"link set dev {name} master {bridge} addrgenmode none",
        f"link set dev {name} type bridge_slave neigh_suppress on learning off",
        f"link set dev {name} up",
    )
    return LinuxDevice(kind=DeviceKind.VXLAN, name=name, commands=commands)


def _in_vrf(interface: Interface | None) -> Iterable[str]:
    if interface is None or interface.network_instance in (None, DEFAULT_INSTANCE):
        return ()
    return (f"link set dev {device_name(interface.name)} master {interface.network_instance}",)
