"""The address of each switch beside a gateway that several switches have, on platforms that need one."""

from __future__ import annotations

from ipaddress import ip_interface
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.device.planned import planned_with
from tests.laws import examples

from railfab.device import DeviceModel, Svi, plan
from railfab.device.plan_gateways import switch_addresses
from railfab.errors import RailfabError, each
from railfab.fabric import design
from railfab.intent import load_intent
from railfab.platforms import admit, platform, platform_names
from railfab.topology import Topology, wire

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
CONTROL: dict[str, dict[str, str]] = {
    "mlag": {},
    "esi": {"profile__control_plane": "evpn", "profile__data_plane": "vxlan"},
}


def hosts_of(topology: Topology) -> dict[int, str]:
    """The addresses of hosts by the number of the address."""
    return {int(bond.address): bond.host for bond in topology.bonds if bond.address is not None}


def svis(model: DeviceModel) -> list[Svi]:
    return [interface for interface in model.interfaces if isinstance(interface, Svi)]


@pytest.mark.parametrize("attach", ["mlag", "esi"])
@given(hosts=st.integers(1, 6))
@settings(max_examples=examples(5), deadline=None)
def test_each_switch_has_an_address_that_nothing_else_has_and_that_stays_when_hosts_are_added(
    attach: str, hosts: int
) -> None:
    fields: dict[str, Any] = {"hosts__attach": attach, "backend__subnets": {"pool": "10.0.0.0/12", "switch_prefix": 23}}
    topology, models = planned_with(backend__segments__hosts=hosts, **fields, **CONTROL[attach])
    addresses = [address for model in models.values() for svi in svis(model) for address in svi.addresses]
    gateways = {int(gateway.address) for gateway in topology.gateways}
    assert len(addresses) == len(topology.gateways) == len({int(address) for address in addresses})
    assert {int(address) for address in addresses}.isdisjoint({*gateways, *hosts_of(topology)})
    for gateway in topology.gateways:
        svi = models[gateway.node].interface(f"vlan{gateway.vlan}")
        assert isinstance(svi, Svi)
        (address,) = svi.addresses
        assert address.network == gateway.subnet
        assert address.ip not in (gateway.subnet.network_address, gateway.subnet.broadcast_address)
    assert switch_addresses(planned_with(backend__segments__hosts=hosts + 1, **fields, **CONTROL[attach])[0]) == {
        (gateway.node, gateway.vlan): models[gateway.node].interface(f"vlan{gateway.vlan}").addresses[0]  # type: ignore[union-attr]
        for gateway in topology.gateways
    }


def test_leaves_of_an_overlay_have_addresses_downwards_in_their_order() -> None:
    intent = load_intent(FABRICS / "cluster.yml")
    topology = wire(intent)
    shared = [gateway for gateway in topology.gateways if gateway.anycast and gateway.tenant is not None]
    first = shared[0]
    leaves = [gateway for gateway in shared if (gateway.tenant, gateway.vlan) == (first.tenant, first.vlan)]
    addresses = switch_addresses(topology)
    last = int(first.subnet.broadcast_address)
    assert len(leaves) > 1
    assert [addresses[leaf.node, leaf.vlan] for leaf in leaves] == [
        ip_interface((last - place, first.subnet.prefixlen)) for place in range(1, len(leaves) + 1)
    ]


@pytest.mark.parametrize("name", platform_names())
def test_a_platform_has_it_beside_the_gateway_or_not_at_all(name: str) -> None:
    """An anycast gateway of the others is an address of the switch itself."""
    intent = load_intent(FABRICS / "dual-mlag.yml")
    (first, *_) = plan(wire(intent), intent).values()
    features = platform(name).capabilities.features
    assert (str(features["gateway_addresses"]) == "yes") is (name == "cumulus")
    if str(features.get("mlag")) == "yes" and str(features.get("mlag_without_keepalive")) == "yes":
        stated = {bool(svi.addresses) for svi in svis(admit(first, platform(name)))}
        assert stated == {name == "cumulus"}


@pytest.mark.parametrize(("prefix", "is_refused"), [(26, True), (25, False)])
def test_a_subnet_without_room_for_it_is_refused_in_one_line(tmp_path: Path, prefix: int, is_refused: bool) -> None:
    """Eight rails in a /26 have 8 addresses each: the gateway, 4 hosts, and one is left for two switches."""
    text = (FABRICS / "dual-mlag.yml").read_text().replace("switch_prefix: 24", f"switch_prefix: {prefix}")
    (tmp_path / "fabric.yml").write_text(text.replace("7060dx5-64s", "sn5400") + MANAGED)
    if not is_refused:
        assert design(tmp_path / "fabric.yml").texts
        return
    with pytest.raises(RailfabError) as refused:
        _ = design(tmp_path / "fabric.yml").models
    (problem,) = each(refused.value)
    assert str(problem).partition(": ")[2] == (
        "pod1-seg1-leaf2: platform cumulus does not support gateway_without_address. "
        "Choose another platform, or change backend.subnets in the intent."
    )


MANAGED = "management:\n  leaves: {count: 1, model: 7215-ixs-a1, cable_m: 5}\n"


def test_an_ethernet_segment_works_without_it(tmp_path: Path) -> None:
    """NVIDIA, EVPN Multihoming: the MAC addresses of all SVIs are announced, so that none needs its own address."""
    text = (FABRICS / "dual-esi.yml").read_text().replace("switch_prefix: 24", "switch_prefix: 26")
    (tmp_path / "fabric.yml").write_text(text.replace("7060dx5-64s", "sn5400"))
    models = design(tmp_path / "fabric.yml").models
    assert {bool(svi.addresses) for svi in svis(models["pod1-seg1-leaf2"])} == {False}
