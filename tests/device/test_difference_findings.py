"""A switch may have more than its intent: findings are about what changes the fabric."""

from __future__ import annotations

from dataclasses import replace
from ipaddress import ip_interface

import pytest
from tests.platforms.small_fabrics import design_of

from railfab.device import (
    DeviceModel,
    HashField,
    Lag,
    LoadBalancing,
    ManagementAccess,
    Port,
    PortQos,
    Remote,
    Svi,
    Vlan,
    VlanMembership,
    deviations,
)
from railfab.device.difference_findings import FIVE_TUPLE
from railfab.findings import Severity

LEAF = design_of("nxos", "nxos", numbered=True).models["pod1-seg1-leaf1"]
SPARE = Port(name="Ethernet1/30", enabled=False, vlans=VlanMembership(untagged=999))
SVI = Svi(name="vlan999", vlan=999, enabled=False, addresses=(ip_interface("192.0.2.1/24"),))


def _severities(changed: DeviceModel, intended: DeviceModel = LEAF) -> list[Severity]:
    return [finding.severity for finding in deviations(changed, intended)]


def _with_interface(interface: Port | Lag | Svi) -> DeviceModel:
    return replace(LEAF, interfaces=(*LEAF.interfaces, interface))


@pytest.mark.parametrize("spare", [SPARE, SVI, Lag(name="lag9", members=(), enabled=False)], ids=lambda it: it.name)
def test_an_interface_of_others_is_an_error_only_up_and_in_the_fabric(
    spare: Port | Lag | Svi,
) -> None:
    assert _severities(_with_interface(spare)) == [Severity.NOTE]
    active = replace(spare, enabled=True, network_instance="default")
    of_fabric = replace(active, addresses=(ip_interface("10.17.200.1/24"),))
    assert _severities(_with_interface(of_fabric)) == [Severity.ERROR]
    if not isinstance(spare, Port):
        outside = replace(active, addresses=(ip_interface("192.0.2.1/24"),))
        assert _severities(_with_interface(outside)) == [Severity.NOTE]


def test_qos_of_a_spare_port_is_a_note() -> None:
    assert LEAF.qos is not None
    qos = replace(LEAF.qos, ports=(*LEAF.qos.ports, PortQos(interface=SPARE.name, pfc=(3,))))
    assert _severities(replace(_with_interface(SPARE), qos=qos)) == [Severity.NOTE, Severity.NOTE]


def test_management_that_the_intent_leaves_to_the_operator_is_a_note() -> None:
    servers = ManagementAccess(ntp=("192.0.2.1",), banner="Authorized users only")
    assert _severities(replace(LEAF, management=servers)) == [Severity.NOTE]
    stated = replace(LEAF, management=replace(servers, banner=None))
    assert _severities(replace(LEAF, management=servers), stated) == [Severity.NOTE]
    assert _severities(replace(LEAF, management=replace(servers, ntp=("192.0.2.9",))), stated)[0] is Severity.ERROR


def test_a_vlan_of_the_operator_is_a_note_and_one_with_another_name_is_the_same() -> None:
    named = replace(LEAF, vlans=(Vlan(vlan_id=101, name="rail1"),))
    assert _severities(named) == [Severity.NOTE]
    renamed = replace(LEAF, vlans=(Vlan(vlan_id=101, name="RAIL-ONE"),))
    assert _severities(renamed, named) == [Severity.NOTE]
    assert _severities(LEAF, named) == [Severity.ERROR]


def test_a_limit_of_routes_that_only_warns_is_a_note() -> None:
    assert LEAF.bgp is not None
    first, *others = LEAF.bgp.neighbors
    limited = replace(LEAF.bgp, neighbors=(replace(first, prefix_limit=1000), *others))
    assert _severities(replace(LEAF, bgp=limited)) == [Severity.NOTE]
    assert _severities(LEAF, replace(LEAF, bgp=limited)) == [Severity.ERROR]


def test_the_hash_of_the_five_fields_is_the_default_and_another_one_an_error() -> None:
    fields = tuple(field for field in HashField if field in FIVE_TUPLE)
    assert _severities(replace(LEAF, load_balancing=LoadBalancing(fields=fields))) == [Severity.NOTE]
    assert _severities(replace(LEAF, load_balancing=LoadBalancing(fields=fields[:2]))) == [Severity.ERROR]
    assert _severities(replace(LEAF, load_balancing=LoadBalancing(fields=fields, seed=1))) == [Severity.ERROR]


def test_the_intervals_of_lldp_are_a_note() -> None:
    assert _severities(replace(LEAF, lldp=replace(LEAF.lldp, hello_s=20, hold_multiplier=5))) == [Severity.NOTE] * 2
    assert _severities(replace(LEAF, lldp=replace(LEAF.lldp, enabled=False))) == [Severity.ERROR]


def test_a_routed_port_without_an_address_reaches_nothing_and_is_a_note() -> None:
    bare = Port(name="Ethernet1/31", network_instance="default")
    assert _severities(_with_interface(bare)) == [Severity.NOTE]
    assert _severities(_with_interface(replace(bare, unnumbered=True))) == [Severity.ERROR]


def test_a_session_with_any_other_as_number_is_a_note() -> None:
    assert LEAF.bgp is not None
    first, *others = LEAF.bgp.neighbors
    for remote, severity in ((Remote.EXTERNAL, Severity.NOTE), (Remote.INTERNAL, Severity.ERROR)):
        bgp = replace(LEAF.bgp, neighbors=(replace(first, remote_as=remote), *others))
        assert _severities(replace(LEAF, bgp=bgp)) == [severity]
