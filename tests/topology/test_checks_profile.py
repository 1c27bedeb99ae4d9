"""Choices of the profile that do not go together, and every committed design."""

from pathlib import Path
from typing import Any

import pytest
from tests.topology.edits import shown
from tests.topology.fabric_intents import fabric
from tests.topology.test_designs import NOTES

from railfab.intent import FabricIntent, load_intent
from railfab.topology import findings, wire

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"
TOPOLOGY = wire(fabric())


def lines(**profile: Any) -> list[str]:
    intent = fabric(profile=profile)
    return [shown(found) for found in findings(TOPOLOGY, intent) if found.where.startswith("profile.")]


@pytest.mark.parametrize(
    ("interval_ms", "multiplier", "after_ms", "enough_ms"),
    [(50, 3, 150, 100), (50, 10, 500, 100), (100, 2, 200, 150), (99, 4, 396, 100)],
)
def test_bfd_that_is_too_quick(interval_ms: int, multiplier: int, after_ms: int, enough_ms: int) -> None:
    assert lines(bfd={"interval_ms": interval_ms, "multiplier": multiplier}) == [
        f"warning profile.bfd: {interval_ms} ms x {multiplier} takes a session down after {after_ms} ms, which "
        f"short congestion can exceed. Use an interval of at least {enough_ms} ms."
    ]


@pytest.mark.parametrize("bfd", [{"interval_ms": 100, "multiplier": 3}, {"interval_ms": 300, "multiplier": 3}, False])
def test_bfd_that_is_slow_enough_or_off(bfd: object) -> None:
    assert lines(bfd=bfd) == []


VXLAN = {"control_plane": "evpn", "data_plane": "vxlan"}


@pytest.mark.parametrize(
    ("profile", "line"),
    [
        (
            VXLAN | {"mtu": 1549, "lossless": False},
            "error profile.mtu: 1549 leaves 1499 after 50 bytes of VXLAN, less than the 1500 that hosts expect. "
            "Raise mtu to 1550 or more.",
        ),
        (
            VXLAN | {"mtu": 1569, "lossless": False, "family": "ipv6"},
            "error profile.mtu: 1569 leaves 1499 after 70 bytes of VXLAN, less than the 1500 that hosts expect. "
            "Raise mtu to 1570 or more.",
        ),
        (
            VXLAN | {"mtu": 4205},
            "warning profile.mtu: 4205 leaves 4155 after 50 bytes of VXLAN, too few for RoCE packets of 4156: "
            "NICs send smaller ones. Raise mtu to 4206 or more.",
        ),
        (
            {"mtu": 1500},
            "warning profile.mtu: 1500 leaves 1500 for an IP packet, too few for RoCE packets of 4156: NICs "
            "send smaller ones. Raise mtu to 4156 or more.",
        ),
    ],
)
def test_an_mtu_that_vxlan_and_roce_do_not_fit(profile: dict[str, Any], line: str) -> None:
    assert lines(**profile) == [line]


@pytest.mark.parametrize(
    "profile",
    [
        VXLAN | {"mtu": 1550, "lossless": False},
        VXLAN | {"mtu": 4206},
        {"mtu": 1500, "lossless": {"traffic": {"packet_bytes": 1024, "message_bytes": "1MB"}}},
        {"mtu": 1500, "lossless": {"pfc": False}, "transport": "uet"},
        {"mtu": 1500, "lossless": False},
        {"mtu": 4156},
    ],
)
def test_an_mtu_that_suffices(profile: dict[str, Any]) -> None:
    assert lines(**profile) == []


def test_ultra_ethernet_with_pauses() -> None:
    assert lines(transport="uet") == [
        "warning profile.lossless.pfc: Ultra Ethernet does not need a lossless network, and PFC pauses "
        "interfere with its congestion control. Set profile.lossless.pfc: false."
    ]
    assert lines(transport="uet", lossless={"pfc": False}) == []
    assert lines(transport="uet", lossless=False) == []


def test_storage_over_roce_needs_what_ultra_ethernet_does_not() -> None:
    storage = {"protocol": "roce", "leaves": {"count": 2, "model": "7220-ixr-d5"}}
    shared = fabric(profile={"transport": "uet", "mtu": 1500}, storage=storage)
    found = [shown(one) for one in findings(TOPOLOGY, shared) if one.where.startswith("profile.")]
    assert len(found) == 1
    assert "too few for RoCE packets of 4156" in found[0]


SMALL = [path for path in sorted(FABRICS.glob("*.yml")) if path.stat().st_size and "gpu" not in path.stem]


@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_nobody_has_anything_to_say_of_a_committed_design(path: Path) -> None:
    """But for the note of a pair alone."""
    intent: FabricIntent = load_intent(path)
    assert [str(finding.code) for finding in findings(wire(intent), intent)] == NOTES.get(path.stem, [])


def test_a_host_model_with_another_number_of_gpus() -> None:
    intent = fabric(hosts__model="gpu-server-4")
    assert [shown(found) for found in findings(wire(intent), intent)] == [
        "warning hosts.model: gpu-server-4 has 4 GPUs, but hosts.gpus is 8. Use a model with 8 GPUs, or "
        "set hosts.gpus: 4 or power_w, units and gpu_memory_gb."
    ]


def test_a_default_host_model_of_fewer_gpus_than_hosts_have() -> None:
    intent = fabric(hosts={"gpus": 72, "nic_per": 9, "nic_ports": 2, "rate_gbps": 100})
    assert [shown(found) for found in findings(wire(intent), intent)] == [
        "warning hosts.model: gpu-server-8 has 8 GPUs, but hosts.gpus is 72, so the power is "
        "underestimated. Use a model with 72 GPUs, or set hosts.gpus: 8 or power_w, units and "
        "gpu_memory_gb."
    ]


@pytest.mark.parametrize(("pcie_gbps", "problems"), [(400, 0), (399, 1)])
def test_pcie_that_carries_less_than_the_ports_of_a_nic(pcie_gbps: int, problems: int) -> None:
    intent = fabric(hosts={"nic_ports": 2, "rate_gbps": 200, "pcie_gbps": pcie_gbps})
    expected = [
        "warning hosts.pcie_gbps: PCIe carries 399 of the 400 Gb/s of a NIC, so that NICs pause the fabric. "
        "Set hosts.pcie_gbps: 400 (with a wider PCIe), or use slower ports, or fewer."
    ]
    assert [shown(finding) for finding in findings(wire(intent), intent)] == expected[:problems]


def test_a_default_host_model_says_nothing_of_smaller_hosts() -> None:
    intent = fabric(hosts__gpus=4, backend__spines__links_per_leaf=1)
    assert findings(wire(intent), intent) == ()
