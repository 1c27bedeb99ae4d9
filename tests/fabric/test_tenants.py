"""A tenant with a VRF, an L3VNI and two VLANs, on a frontend of each platform."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.oracles.every_switch import oracle_of
from tests.platforms.small_fabrics import switch_model
from tests.topology.fabric_intents import fabric

from railfab.device import DeviceModel, NetworkInstance, Svi
from railfab.errors import UnsupportedFeature
from railfab.fabric import Design
from railfab.fabric.audit import configuration_findings
from railfab.fabric.design import render_text
from railfab.intent.document import Document
from railfab.platforms import admit, platform, platform_names
from railfab.topology import wire

TENANTS = {
    "red": {
        "vlan": 110,
        "subnet": "10.64.0.0/20",
        "l3vni": 50_110,
        "vlans": {"db": {"vlan": 111, "subnet": "10.64.16.0/20"}},
    },
    "blue": {"vlan": 120, "subnet": "10.65.0.0/20"},
}


def frontend_of(name: str) -> Design:
    """A fabric whose frontend has switches of one platform; each host has one port, so no LAG that a platform lacks."""
    switch = {"model": switch_model(name), "platform": name}
    frontend = {
        "nic_ports": 1,
        "rate_gbps": 400,
        "leaves": {"count": 2, **switch},
        "spines": {"count": 2, "rate_gbps": 400, **switch},
        "tenants": TENANTS,
    }
    growth = {"hosts": 4, "segments": 2}
    intent = fabric(frontend=frontend, backend__growth=growth, profile__underlay="numbered")
    return Design(document=Document(Path("tenants.yml"), {}), intent=intent, topology=wire(intent))


@pytest.mark.parametrize("name", platform_names())
def test_a_tenant_is_rendered_on_every_platform_and_read_back(name: str) -> None:
    """The VLANs behind FRR are Linux devices, which it does not configure (`tests/integration/test_evpn_lab.py`)."""
    parsed = platform(name).parse(render_text(frontend_of(name).models["front-leaf1"]))
    assert {found.name: found.vni for found in parsed.network_instances} == {"blue": None, "red": 50_110}
    if name == "frr":
        return
    assert {found.vlan_id: found.vni for found in parsed.vlans} == {110: 10_110, 111: 10_111, 120: 10_120}
    svis = {found.vlan: found for found in parsed.interfaces if isinstance(found, Svi)}
    assert {vlan: svi.network_instance for vlan, svi in svis.items()} == {110: "red", 111: "red", 120: "blue"}


def test_another_l3vni_than_that_of_the_other_leaves_is_found() -> None:
    fabric = frontend_of("eos")
    text = fabric.texts["front-leaf1"].replace("vxlan vrf red vni 50110", "vxlan vrf red vni 50999")
    (found,) = configuration_findings(fabric, {"front-leaf1": text})
    assert found.code == "wrong-overlay"
    assert "vxlan vrf red vni 50999" in found.more[0]


@pytest.mark.parametrize(("name", "most"), [("cumulus", 15), ("frr", 15), ("sonic", 12)])
def test_a_tenant_with_a_name_too_long_for_linux_is_refused_by_name(name: str, most: int) -> None:
    model = frontend_of(name).models["front-leaf1"]
    admit(_with_tenant(model, "t" * most), platform(name))
    refused = f"front-leaf1: vrf_name_length {most + 1} is above platform {name}'s limit of {most}"
    with pytest.raises(UnsupportedFeature, match=refused):
        admit(_with_tenant(model, "t" * (most + 1)), platform(name))


def _with_tenant(model: DeviceModel, name: str) -> DeviceModel:
    return replace(model, network_instances=(NetworkInstance(name=name),))


@pytest.mark.parametrize("name", ["cumulus", "frr", "nxos"])
def test_the_oracle_of_a_platform_takes_a_tenant(name: str, oracles: Path, tmp_path: Path) -> None:
    found = oracle_of(name)
    assert found is not None
    _, judge = found
    models = frontend_of(name).models
    assert judge(oracles, tmp_path)([models["front-leaf1"], models["front-spine1"]]) == []
