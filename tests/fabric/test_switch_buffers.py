"""Buffers of all switches, planned once for each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from railfab.device import PortThresholds, Qos
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
    models, paused = design(path).models, "pfc: false" not in more
    for kind in planned(path).buffers:
        for node in kind.switches:
            qos = models[node.name].qos
            assert qos is not None
            assert kind.headroom_pool_percent == qos.headroom_pool_percent
            mine = {
                (
                    found.name,
                    found.kmin_bytes,
                    *((found.xoff_bytes, found.headroom_percent) if paused else (None, None)),
                )
                for found in kind.thresholds
            }
            assert mine == set(_thresholds(qos))


def _paused(found: PortThresholds) -> tuple[int, int]:
    return found.xoff_bytes, found.headroom_percent


def _thresholds(qos: Qos) -> Iterator[tuple[str, int, int | None, int | None]]:
    """Profile, Kmin, XOFF and share of the headroom of the lossless class."""
    for profile in qos.profiles:
        (roce,) = profile.thresholds
        assert roce.ecn is not None
        yield profile.name, roce.ecn.kmin_bytes, roce.xoff_bytes, roce.headroom_percent


def test_switches_alike_share_a_plan_and_its_finding() -> None:
    kinds = planned(FABRICS / "multi-pod.yml").buffers
    assert [kind.where.partition(" ")[0] for kind in kinds] == ["pod1-seg1-leaf1", "pod1-spine1", "super1"]


def changed(tmp_path: Path, **replaced: str) -> Path:
    """pod64 with other texts in place of some of its words."""
    text = (FABRICS / "pod64.yml").read_text()
    for before, after in replaced.items():
        text = text.replace(before.replace("__", ": "), after)
    path = tmp_path / "pod64.yml"
    path.write_text(text)
    return path


def kmins(path: Path) -> dict[str, int]:
    """Kmin by speed and cable."""
    return {found.name: found.kmin_bytes for kind in planned(path).buffers for found in kind.thresholds}


def test_thresholds_of_every_port_follow_from_the_longest_path(tmp_path: Path) -> None:
    """Uplinks of 2 km make it 50 us, also for the ports of hosts on 5 m; a third tier with the same cables 17.2 us."""
    assert kmins(FABRICS / "pod64.yml") == {"100g-5m": 150_000, "400g-40m": 540_000}
    assert kmins(changed(tmp_path, cable_m__40="cable_m: 2000")) == {"100g-5m": 625_000, "400g-2000m": 2_500_000}
    assert kmins(FABRICS / "multi-pod.yml")["100g-5m"] == 215_000


def test_a_pair_without_spines_counts_its_peer_link(tmp_path: Path) -> None:
    """After a failure traffic crosses it: 9 m and two switches, 7.1 us."""
    (path,) = {kind.plan.traits.path for kind in planned(FABRICS / "dual-mlag.yml").buffers}
    assert (path.switches, path.cable_m) == (2, 9)
    assert path.round_trip_ns(9216) == 7_100


def test_sr_linux_gives_a_port_no_less_headroom_than_by_itself() -> None:
    """1 % of 132 MB reserved, and 10 % of that for a queue, at any speed (srl_nokia-qos)."""
    found = planned(FABRICS / "pod64.yml").buffers
    assert all(port.headroom_bytes >= 132_000 for kind in found for port in kind.thresholds)
    assert all(kind.headroom_pool_percent >= 1 for kind in found)


def test_stated_thresholds_are_those_of_the_switches(tmp_path: Path) -> None:
    path = changed(
        tmp_path, cnp_dscp__48="cnp_dscp: 48, ecn: {400: {kmin_bytes: 1MB, kmax_bytes: 4MB, pmax_percent: 20}}"
    )
    (host, uplink) = (found.thresholds[0].ecn for found in design(path).models["pod1-seg1-leaf1"].qos.profiles)
    assert (host.kmin_bytes, host.kmax_bytes, host.pmax_percent) == (150_000, 450_000, 10)
    assert (uplink.kmin_bytes, uplink.kmax_bytes, uplink.pmax_percent) == (1_000_000, 4_000_000, 20)


RAMP = "{kmin_bytes: 1MB, kmax_bytes: 4MB}"


@pytest.mark.parametrize(
    ("stated", "code", "where", "text"),
    [
        (
            "ecn_by_role: {leaf: {400: {kmin_bytes: 100kB, kmax_bytes: 4MB}}}",
            "ecn-too-early",
            "ecn_by_role.leaf.400",
            "State ecn_by_role.leaf.400: {kmin_bytes: 540000, kmax_bytes: 4000000}",
        ),
        (
            "ecn_by_role: {spine: {400: {kmin_bytes: 1MB, kmax_bytes: 900MB}}}",
            "ecn-too-late",
            "",
            "State ecn_by_role.spine.400: {kmin_bytes: 1000000, kmax_bytes: ",
        ),
        (
            f"ecn_by_role: {{spine: {{100: {RAMP}}}}}",
            "ecn-unused",
            "ecn_by_role.spine.100",
            "no lossless port of a spine has 100 Gb/s, so its thresholds are not used. Remove it, or state the speed "
            "that is meant: 400",
        ),
        (
            f"ecn_by_role: {{super_spine: {{400: {RAMP}}}}}",
            "ecn-unused",
            "ecn_by_role.super_spine.400",
            "no lossless port of a super-spine has 400 Gb/s, so its thresholds are not used. Remove it",
        ),
        (
            f"ecn: {{400: {RAMP}}}, ecn_by_role: {{leaf: {{400: {RAMP}}}, spine: {{400: {RAMP}}}}}",
            "ecn-unused",
            "ecn.400",
            "ecn_by_role states the thresholds of all ports with 400 Gb/s, so these are not used. Remove it",
        ),
    ],
)
def test_stated_thresholds_of_a_role_are_checked_for_its_switches(
    tmp_path: Path, stated: str, code: str, where: str, text: str
) -> None:
    (finding,) = design(changed(tmp_path, cnp_dscp__48=f"cnp_dscp: 48, {stated}")).findings[:1]
    assert finding.code == code
    assert finding.where == (f"profile.lossless.{where}" if where else "pod1-spine1 and 3 more")
    assert text in finding.line


@pytest.mark.parametrize(
    ("stated", "code", "remedy"),
    [
        ("400: {kmin_bytes: 100kB, kmax_bytes: 4MB}", "ecn-too-early", "State 400: {kmin_bytes: 540000, kmax_bytes: "),
        ("400: {kmin_bytes: 1MB, kmax_bytes: 900MB}", "ecn-too-late", "State 400: {kmin_bytes: 1000000, kmax_bytes: "),
        (
            "200: {kmin_bytes: 1MB, kmax_bytes: 4MB}",
            "ecn-unused",
            "Remove it, or state the speed that is meant: 1",
        ),
    ],
)
def test_stated_thresholds_are_checked_with_a_remedy_that_was_tried(
    tmp_path: Path, stated: str, code: str, remedy: str
) -> None:
    (finding,) = design(changed(tmp_path, cnp_dscp__48=f"cnp_dscp: 48, ecn: {{{stated}}}")).findings[:1]
    assert finding.code == code
    assert finding.remedy.startswith(remedy)
