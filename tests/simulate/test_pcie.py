"""PCIe as a ceiling of the NICs of a fabric: in closed form, at max-min fair rates, in packets, and in the network that
the twin simulates, too."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from railfab.fabric import Design, design
from railfab.fabric.routed import routed
from railfab.forwarding import LinkTable
from railfab.intent import Job
from railfab.simulate import simulate_job
from railfab.simulate.memo import Memo
from railfab.simulate.named_faults import faults
from railfab.workload import estimate

POD64 = Path(__file__).parents[2] / "inventory" / "fabrics" / "pod64.yml"
PORTS_GBPS = 2 * 100
"""Of each NIC of pod64."""
RING = Job.model_validate(
    {
        "version": 1,
        "job": "ring",
        "phases": [{"collective": {"op": "allreduce", "algorithm": "ring", "bytes": "256MB"}}],
    }
)


@pytest.fixture
def with_pcie(tmp_path: Path) -> Callable[[int | None], Design]:
    def make(gbps: int | None) -> Design:
        document = yaml.safe_load(POD64.read_text())
        document["hosts"] |= {} if gbps is None else {"pcie_gbps": gbps}
        (path := tmp_path / "made.yml").write_text(yaml.safe_dump(document))
        return design(path)

    return make


def closed_form_s(fabric: Design) -> float:
    return estimate(RING, fabric.intent, fabric.topology).step_s


def max_min_s(fabric: Design) -> float:
    return simulate_job(RING, fabric).step.step_s


def packets_s(fabric: Design) -> float:
    return simulate_job(RING, fabric, packets=Memo(None)).step.step_s


@pytest.mark.parametrize("step_s", [closed_form_s, max_min_s, packets_s])
def test_a_ring_takes_as_much_longer_as_pcie_carries_less(
    step_s: Callable[[Design], float], with_pcie: Callable[[int | None], Design]
) -> None:
    whole, wide, half = (step_s(with_pcie(gbps)) for gbps in (None, PORTS_GBPS, PORTS_GBPS // 2))
    assert wide == whole
    assert half == pytest.approx(2 * whole, rel=0.03)


def test_it_limits_both_directions_of_the_ports_of_hosts_and_no_cable(
    with_pcie: Callable[[int | None], Design],
) -> None:
    fabric = with_pcie(PORTS_GBPS // 2)
    links, network = LinkTable(fabric.topology), routed(fabric).state.network
    into = links.nics ^ 1
    assert set(network.rate_gbps[links.nics].tolist()) == {50.0}
    assert set(network.rate_gbps[into].tolist()) == {100.0}
    assert set(network.rx_gbps[network.far[into]].tolist()) == {50.0}
    assert network.pfc_sent[into].any(axis=1).all()


@pytest.mark.parametrize("packets", [None, Memo(None)])
@pytest.mark.parametrize(
    ("pcie_gbps", "healthy_gbps", "left_gbps"), [(None, 200, 100), (100, 100, 100), (150, 150, 100)]
)
def test_a_port_that_is_left_has_all_of_pcie(
    packets: Memo | None,
    pcie_gbps: int | None,
    healthy_gbps: int,
    left_gbps: int,
    with_pcie: Callable[[int | None], Design],
) -> None:
    """A ring is as slow as its slowest NIC, which has lost one of two ports of 100 Gb/s."""
    fabric = with_pcie(pcie_gbps)
    cut = faults(["cable=pod1-seg1-host1:rail1-p0"], fabric.topology)
    healthy, left = (simulate_job(RING, fabric, change=change, packets=packets).step.step_s for change in (None, cut))
    assert left / healthy == pytest.approx(healthy_gbps / left_gbps, rel=0.03)


def test_ports_share_pcie_while_both_are_up(with_pcie: Callable[[int | None], Design]) -> None:
    fabric = with_pcie(150)
    links = LinkTable(fabric.topology)
    ends = [links.egress["pod1-seg1-host1", f"rail1-p{port}"] for port in (0, 1)]
    cut = faults(["cable=pod1-seg1-host1:rail1-p0"], fabric.topology)
    before, after = (routed(fabric, change).state.network for change in (None, cut))
    assert before.rate_gbps[ends].tolist() == [75.0, 75.0]
    assert before.rx_gbps[before.near[ends]].tolist() == [75.0, 75.0]
    assert after.rate_gbps[ends[1]] == 100.0
    assert after.rx_gbps[after.near[ends[1]]] > 100.0
    rest = np.setdiff1d(links.nics, ends)
    assert set(after.rate_gbps[rest].tolist()) == {75.0}
