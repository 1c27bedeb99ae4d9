"""Fabrics with IPv6, iBGP and VLANs on real FRR: they converge, announce what the policy names, and stay so."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from tests.integration.conftest import RunningLab, wait_for
from tests.lab.fabrics import FRR_POD, VLANS, lab_plan, written
from tests.sampled import sampled

from railfab.device import Family, ObservedBgpSession
from railfab.endpoints import load_endpoints, read_credentials
from railfab.fabric import Design, design
from railfab.lab import backend
from railfab.platforms import platform
from railfab.platforms.frr.reload_output import pending

pytestmark = pytest.mark.lab

LEAF, OTHER_LEAF, SPINE = "pod1-seg1-leaf1", "pod1-seg2-leaf1", "pod1-spine1"
LEAVES = (LEAF, OTHER_LEAF)
HOST, OTHER_HOST = "pod1-seg1-host1", "pod1-seg2-host2"
PROFILES = {
    "ipv6": "family: ipv6",
    "ibgp": "control_plane: ibgp",
    "ipv6-numbered-ibgp": "family: ipv6\n  underlay: numbered\n  control_plane: ibgp",
}
Fabric = tuple[Design, RunningLab]


@pytest.fixture(scope="module", params=sampled(dict(zip(PROFILES, PROFILES, strict=True)), few=["ipv6-numbered-ibgp"]))
def fabric(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fabric]:
    """The FRR pod with another profile, booted with its configurations."""
    named = FRR_POD.read_text().replace("fabric: frr-pod", f"fabric: {request.param}")
    intent = named.replace("profile:\n", f"profile:\n  {PROFILES[request.param]}\n")
    with booted(tmp_path_factory.mktemp(request.param), intent) as fabric:
        yield fabric


@contextmanager
def booted(folder: Path, intent: str) -> Iterator[Fabric]:
    """A lab of an intent, booted with its configurations."""
    path = written(folder, intent)
    drawn = design(path)
    plan = replace(lab_plan(path, folder / "state"), configurations=drawn.configurations())
    backend("netns").up(plan, print)
    try:
        yield drawn, RunningLab(path, plan.place)
    finally:
        backend("netns").down(plan.place, print)


@pytest.fixture
def converged(fabric: Fabric) -> Fabric:
    """The rail switches know every loopback; a spine has no route to another spine, whose AS is its own."""
    drawn, lab = fabric
    loopbacks = {
        f"{model.loopback}/{model.loopback.max_prefixlen}" for model in drawn.models.values() if model.loopback
    }
    wait_for(lambda: all(loopbacks <= routes(lab, name).keys() for name in LEAVES), "routes to all loopbacks")
    return fabric


def routes(lab: RunningLab, switch: str) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for command in ("ip route", "ipv6 route"):
        found |= lab.show(switch, command)
    return found


def sessions(lab: RunningLab, switch: str) -> tuple[ObservedBgpSession, ...]:
    endpoint = load_endpoints(lab.place.endpoints_file).by_name()[switch]
    with platform("frr").session(endpoint, read_credentials(endpoint)) as session:
        return session.observe().sessions


def on_switch(lab: RunningLab, switch: str, program: str, *words: str) -> str:
    """Output of a program that talks to the daemons of a switch, under the switch's hostname, which FRR shows."""
    sockets = ["--vty_socket", str(lab.state.runtime / switch / "run-frr")]
    named = ["unshare", "--uts", "sh", "-c", 'hostname "$0" && exec "$@"', switch]
    return subprocess.run([*named, program, *sockets, *words], capture_output=True, text=True, check=True).stdout


def reaches(lab: RunningLab, node: str, source: str, target: str) -> bool:
    return lab.run(node, "ping", "-c", "1", "-W", "2", "-I", source, target).returncode == 0


def test_every_session_is_established_with_its_families(converged: Fabric) -> None:
    drawn, lab = converged
    for name in (LEAF, SPINE):
        wanted = {(neighbor.peer, neighbor.families) for neighbor in drawn.models[name].neighbors}
        seen = sessions(lab, name)
        assert all(session.established for session in seen), seen
        assert {(found.peer, tuple(family.family for family in found.families)) for found in seen} == wanted


def test_every_loopback_is_reached_from_a_rail_switch(converged: Fabric) -> None:
    drawn, lab = converged
    loopbacks = [str(model.loopback) for model in drawn.models.values()]
    source = str(drawn.models[LEAF].loopback)
    assert [target for target in loopbacks if not reaches(lab, LEAF, source, target)] == []


def test_hosts_reach_each_other_over_both_spines(converged: Fabric) -> None:
    drawn, lab = converged
    ports = {
        node: [port.address.ip for port, _, _ in drawn.topology.ports_of(node) if port.address]
        for node in (HOST, OTHER_HOST)
    }
    pairs = [(str(source), str(target)) for source in ports[HOST] for target in ports[OTHER_HOST]]
    assert [pair for pair in pairs if not reaches(lab, HOST, *pair)] == []
    far = next(port.address for port, _, _ in drawn.topology.ports_of(OTHER_HOST) if port.address)
    hops = routes(lab, LEAF)[str(far.network)][0]["nexthops"]
    assert len(hops) == 2


def test_only_what_the_policy_names_is_announced(converged: Fabric) -> None:
    """BGP originates every connected route, the management network too; the policies decide who is told."""
    drawn, lab = converged
    model = drawn.models[LEAF]
    neighbor = model.neighbors[0]
    words = "ipv6 unicast" if neighbor.families == (Family.IPV6,) else "ipv4 unicast"
    policy = model.policy(neighbor.export_policies[0])
    assert policy is not None
    sent = lab.show(LEAF, f"bgp {words} neighbors {neighbor.peer} advertised-routes")["advertisedRoutes"]
    ranges = [found for rule in policy.rules for found in rule.prefixes]
    assert sent
    assert [prefix for prefix in sent if not any(found.matches(ip_network(prefix)) for found in ranges)] == []
    if words == "ipv4 unicast":
        management = next(found.address for found in lab.state.switches() if found.name == LEAF)
        assert management is not None
        assert str(management.network) in lab.show(LEAF, "bgp ipv4 unicast")["routes"]


def test_what_runs_is_the_model_and_a_second_push_changes_nothing(converged: Fabric, tmp_path: Path) -> None:
    assert_deployed(*converged, tmp_path)


def assert_deployed(drawn: Design, lab: RunningLab, tmp_path: Path) -> None:
    """Every switch runs its model, and frr-reload.py finds nothing to do."""
    for name, text in drawn.configurations().items():
        shown = on_switch(lab, name, "vtysh", "-c", "show running-config no-header")
        assert platform("frr").parse(shown) == drawn.models[name]
        candidate = tmp_path / name
        candidate.write_text(text)
        changes = on_switch(lab, name, "/usr/lib/frr/frr-reload.py", "--test", "--stdout", str(candidate))
        assert pending(changes) == ()


def test_a_far_host_prefix_has_a_next_hop_that_the_switch_reaches(converged: Fabric) -> None:
    """Without an IGP, no switch knows the address of one that is not its neighbour: a reflector is the next hop."""
    drawn, lab = converged
    far = next(port.address for port, _, _ in drawn.topology.ports_of(OTHER_HOST) if port.address)
    family = "ipv6" if far.version == 6 else "ipv4"
    paths = lab.show(LEAF, f"bgp {family} unicast {far.network}")["paths"]
    assert all(path["nexthops"][0]["accessible"] for path in paths), json.dumps(paths)


def test_hosts_in_vlans_reach_every_rail_and_segment(tmp_path: Path) -> None:
    """Their own rail over a bridge, the other rail over its SVI, the other segment by its summary over the spines."""
    with booted(tmp_path, VLANS) as (drawn, lab):
        source, own_rail, other_rail, other_segment = "10.0.1.2", "10.0.1.3", "10.0.1.131", "10.0.2.131"
        wait_for(lambda: reaches(lab, HOST, source, other_segment), "the hosts of the other segment")
        assert reaches(lab, HOST, source, own_rail)
        assert reaches(lab, HOST, source, other_rail)
        hop = lab.run(HOST, "ip", "route", "get", other_rail, "from", source).stdout
        assert "via 10.0.1.1 dev rail1-p0" in hop
        wait_for(lambda: len(routes(lab, LEAF)["10.0.2.0/24"][0]["nexthops"]) == 2, "the second spine")
        assert [prefix for prefix in routes(lab, LEAF) if prefix.startswith("10.0.2.")] == ["10.0.2.0/24"]
        assert_deployed(drawn, lab, tmp_path)
