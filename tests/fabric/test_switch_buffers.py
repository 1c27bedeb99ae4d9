"""Buffers of all switches, planned once for each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from railfab.device import Qos
from railfab.documents import Plan, planned
from railfab.fabric import design
from railfab.topology import Net

FABRICS = Path(__file__).parents[2] / "inventory" / "fabrics"


def lossless_ports(plan: Plan, switch: str) -> int:
    """Ports on networks that carry RoCE."""
    nodes = plan.topology.by_name
    wired = plan.topology.ports_of(switch)
    return sum(Net.MANAGEMENT not in (nodes[port.node].net, nodes[peer.node].net) for port, peer, _ in wired)


@pytest.mark.parametrize("name", ["pod64", "cluster", "multi-pod", "dual-plane", "dual-mlag"])
def test_every_lossless_port_is_in_one_plan(name: str) -> None:
    plan = planned(FABRICS / f"{name}.yml")
    planned_for = {node.name: kind for kind in plan.buffers for node in kind.switches}
    assert len(planned_for) == sum(len(kind.switches) for kind in plan.buffers)
    backend = [node.name for node in plan.topology.switches() if node.net in (Net.BACKEND, Net.STORAGE)]
    assert set(backend) == set(planned_for)
    for switch in backend:
        loads = planned_for[switch].plan.uncut.ports
        assert sum(port.load.count for port in loads) == lossless_ports(plan, switch)


@pytest.mark.parametrize("more", ["", ", pfc: false", ", ecn: false"])
def test_thresholds_are_those_that_switches_are_configured_with(tmp_path: Path, more: str) -> None:
    path = tmp_path / "pod64.yml"
    text = (FABRICS / "pod64.yml").read_text()
    path.write_text(text.replace("cnp_dscp: 48", f"cnp_dscp: 48{more}"))
    models = design(path).models
    for kind in planned(path).buffers:
        for node in kind.switches:
            qos = models[node.name].qos
            assert qos is not None
            assert kind.headroom_pool_percent == qos.headroom_pool_percent
            mine = {
                (found.name, found.kmin_bytes, found.xoff_bytes, found.headroom_percent) for found in kind.thresholds
            }
            assert mine == set(_thresholds(qos))


def _thresholds(qos: Qos) -> Iterator[tuple[str, int, int | None, int | None]]:
    """Profile, Kmin, XOFF and share of the headroom of the lossless class."""
    for profile in qos.profiles:
        (roce,) = profile.thresholds
        assert roce.ecn is not None
        yield profile.name, roce.ecn.kmin_bytes, roce.xoff_bytes, roce.headroom_percent


def test_switches_alike_share_a_plan_and_its_finding() -> None:
    kinds = planned(FABRICS / "multi-pod.yml").buffers
    assert [kind.where.partition(" ")[0] for kind in kinds] == ["pod1-seg1-leaf1", "pod1-spine1", "super1"]
