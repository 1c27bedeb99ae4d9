"""Devices that an embedded lab makes for its switches and hosts, and what it leaves out on a kernel without them."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.lab.fabrics import lab_plan
from tests.topology.fabric_intents import fabric

from railfab.device import DeviceModel
from railfab.lab.netns import doctor
from railfab.lab.netns.ip_commands import device_commands, node_commands
from railfab.lab.netns.kernel import NEEDED, WITHOUT, missing_kinds, problems
from railfab.platforms.frr.devices import DeviceKind, linux_devices
from railfab.topology import wire

FRR_EVPN = Path(__file__).resolve().parents[2] / "labs" / "frr-evpn" / "intent.yml"


def leaf(tmp_path: Path) -> DeviceModel:
    """A leaf of the frontend, with two tenants."""
    return lab_plan(FRR_EVPN, tmp_path).models["front-leaf1"]


def test_all_devices_are_made_where_the_kernel_has_them(tmp_path: Path) -> None:
    model = leaf(tmp_path)
    assert device_commands(model) == [command for found in linux_devices(model) for command in found.commands]


def test_nothing_is_put_into_a_device_that_the_kernel_lacks(tmp_path: Path) -> None:
    lines = device_commands(leaf(tmp_path), {DeviceKind.VRF, DeviceKind.VLAN})
    assert not any("type vrf" in line or "type vlan" in line or ".200" in line for line in lines)
    assert not any("research" in line or "production" in line for line in lines)
    assert "link set dev vlan100 up" in lines
    assert "link set dev swp1 master vlan100" in lines
    assert "link set dev vni10100 master vlan100 addrgenmode none" in lines


def test_each_kind_is_needed_or_its_lack_has_an_effect_that_is_said() -> None:
    assert set(DeviceKind) == NEEDED | set(WITHOUT)
    assert not NEEDED & set(WITHOUT)
    for kind in DeviceKind:
        said = problems({kind})
        assert bool(said) is (kind in missing_kinds())
        assert all(f"no {kind} devices" in line and WITHOUT.get(kind, "") in line for line in said)


def test_a_bond_of_a_host_has_its_ports_its_address_and_a_route(tmp_path: Path) -> None:
    topology = wire(
        fabric(
            profile={"control_plane": "evpn", "data_plane": "vxlan"},
            hosts={"gpus": 1, "nic_ports": 2, "rate_gbps": 100, "attach": "esi"},
            backend__segments={"count": 1, "hosts": 2, "rail_switches": 2, "model": "linux-16"},
            backend__spines=None,
        )
    )
    lines = node_commands(topology, "pod1-seg1-host1", None)[4]
    (bond,) = (found for found in topology.bonds if found.host == "pod1-seg1-host1")
    first = lines.index(next(line for line in lines if f"link add {bond.name} type bond mode 802.3ad" in line))
    assert lines[first + 1 : first + 6] == [
        *(f"link set dev {port} {word}" for port in bond.ports for word in ("down", f"master {bond.name}")),
        f"link set dev {bond.name} up",
    ]
    assert f"addr add {bond.address} dev {bond.name}" in lines
    assert any(line.startswith("route add default via ") and f" dev {bond.name} " in line for line in lines)


@pytest.mark.lab
def test_doctor_refuses_only_what_the_lab_needs(tmp_path: Path) -> None:
    found = doctor.lab(lab_plan(FRR_EVPN, tmp_path))
    lacking = {line.problem: line.fatal for line in found if line.subject == "kernel"}
    for kind in (DeviceKind.VRF, DeviceKind.VLAN):
        (said,) = problems({kind}) or ("",)
        assert lacking.get(said, False) is False
        assert (said in lacking) is bool(said)
    assert any(line.subject == "bridge devices" and line.ok for line in found)
