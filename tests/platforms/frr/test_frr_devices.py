"""Devices of Linux behind a planned switch, which FRR does not make."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import IPv4Address, ip_interface

from tests.platforms.frr.switches import LEAF

from railfab.device import (
    LOOPBACK,
    Lag,
    Loopback,
    NetworkInstance,
    Port,
    Svi,
    Vlan,
    VlanMembership,
    Vtep,
)
from railfab.platforms import admit, platform
from railfab.platforms.frr.devices import DeviceKind, linux_devices

FRR = platform("frr")
GATEWAY = ip_interface("172.20.0.1/24")
OVERLAID = replace(
    LEAF,
    interfaces=(
        Port(name="swp1", network_instance=None, vlans=VlanMembership(untagged=100, tagged=(200,))),
        Port(name="swp2", network_instance="research", addresses=(ip_interface("10.9.0.0/31"),)),
        Port(name="swp3", network_instance=None),
        Loopback(name=LOOPBACK, addresses=(ip_interface("10.192.0.1/32"),)),
        Loopback(name="loopback1", network_instance="research", addresses=(ip_interface("10.9.9.9/32"),)),
        Lag(name="lag1", members=("swp3",), network_instance=None, vlans=VlanMembership(untagged=200), system_mac=None),
        Svi(name="vlan100", vlan=100, mtu_bytes=1500, network_instance="research", gateways=(GATEWAY,)),
    ),
    network_instances=(NetworkInstance(name="research"),),
    vlans=(Vlan(vlan_id=100, name="research", vni=10100), Vlan(vlan_id=200, name="production")),
    vtep=Vtep(source=LOOPBACK, address=IPv4Address("10.192.0.1")),
    bgp=None,
    policies=(),
)


def commands(kind: DeviceKind) -> list[str]:
    return [command for found in linux_devices(OVERLAID) if found.kind is kind for command in found.commands]


def test_a_vni_is_a_device_without_learning_in_the_bridge_of_its_vlan() -> None:
    assert commands(DeviceKind.VXLAN) == [
        "link add vni10100 mtu 1500 type vxlan id 10100 local 10.192.0.1 dstport 4789 nolearning",
        "link set dev vni10100 master vlan100 addrgenmode none",
        "link set dev vni10100 type bridge_slave neigh_suppress on learning off",
        "link set dev vni10100 up",
    ]


def test_the_vni_of_a_vrf_is_a_device_in_a_bridge_of_its_own() -> None:
    found = linux_devices(replace(OVERLAID, network_instances=(NetworkInstance(name="research", vni=20100),)))
    bridge, vxlan = found[-2:]
    assert vxlan.commands[0].startswith("link add vni20100 mtu 1500 type vxlan id 20100 "), "that of its gateways"
    assert (bridge.kind, bridge.commands[1]) == (DeviceKind.BRIDGE, "link set dev br20100 master research")
    assert (vxlan.name, vxlan.commands[1]) == ("vni20100", "link set dev vni20100 master br20100 addrgenmode none")


def test_a_bridge_has_untagged_ports_and_the_mac_address_and_vrf_of_its_gateway() -> None:
    assert commands(DeviceKind.BRIDGE) == [
        "link add vlan100 type bridge",
        "link set dev swp1 master vlan100",
        "link set dev vlan100 address 00:00:5e:00:01:01",
        "link set dev vlan100 master research",
        "link set dev vlan100 up",
        "link add vlan200 type bridge",
        "link set dev vlan200 up",
    ]
    assert commands(DeviceKind.VLAN) == [
        "link add link swp1 name swp1.200 type vlan id 200",
        "link set dev swp1.200 master vlan200 up",
    ]


def test_a_vrf_has_its_ports_and_loopbacks() -> None:
    assert commands(DeviceKind.VRF) == [
        "link add research type vrf table 1001",
        "link set dev research up",
        "link set dev swp2 master research",
    ]
    assert commands(DeviceKind.DUMMY) == [
        "link add lo1 type dummy",
        "link set dev lo1 master research",
        "link set dev lo1 up",
    ]


def test_a_lag_is_a_bond_whose_members_were_down() -> None:
    assert commands(DeviceKind.BOND) == [
        "link add bond1 type bond mode 802.3ad lacp_rate fast miimon 100 xmit_hash_policy layer3+4",
        "link set dev swp3 down",
        "link set dev swp3 master bond1",
        "link set dev bond1 master vlan200",
        "link set dev bond1 up",
    ]
    static, segment = (
        linux_devices(replace(OVERLAID, interfaces=(replace(Lag(name="lag1", members=()), **changed),)))
        for changed in ({"lacp": False}, {"system_mac": "02:00:00:00:00:01"})
    )
    assert " mode balance-xor " in next(found.commands[0] for found in static if found.kind is DeviceKind.BOND)
    assert next(found.commands[0] for found in segment if found.kind is DeviceKind.BOND).endswith(
        " ad_actor_system 02:00:00:00:00:01"
    )


def test_the_configuration_has_them_as_comments_and_frr_the_rest() -> None:
    """FRR has the addresses of gateways; the VRF itself is the system's, as FRR has neither its VNI nor BGP here."""
    text = FRR.external(OVERLAID) if FRR.external else ""
    assert [line.removeprefix("! ip ") for line in text.splitlines() if line.startswith("! ip link add")] == [
        found.commands[0] for found in linux_devices(OVERLAID)
    ]
    model = admit(OVERLAID, FRR)
    svi = model.interface("vlan100")
    assert isinstance(svi, Svi)
    assert (svi.addresses, svi.gateways, svi.network_instance) == ((GATEWAY,), (), "default")
    assert (model.vlans, model.vtep, model.network_instances) == ((), None, ())
    assert FRR.parse(text + FRR.text(FRR.render(model))) == model
