"""VLANs, a route reflector, and EVPN/VXLAN between real FRR switches, in the lab that is committed for it."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from tests.integration.conftest import RunningLab, wait_for
from typer.testing import CliRunner

from railfab.cli import app
from railfab.device import Family
from railfab.fabric import design
from railfab.lab import LabPlace
from railfab.lab.netns.kernel import missing_kinds
from railfab.platforms.frr.devices import DeviceKind

pytestmark = [pytest.mark.lab, pytest.mark.skipif(DeviceKind.VXLAN in missing_kinds(), reason="needs VXLAN and root")]

INTENT = Path(__file__).resolve().parents[2] / "labs" / "frr-evpn" / "intent.yml"
HOST, OTHER_HOST = "pod1-seg1-host1", "pod1-seg2-host2"
LEAF, OTHER_LEAF, REFLECTOR = "front-leaf1", "front-leaf2", "front-spine1"
VNI = "vni10100"


def railfab(lab: RunningLab, *words: str) -> tuple[int, str]:
    """Exit code and output of a command on the lab's intent."""
    verb, *options = words
    state = ["--state", str(lab.place.state)]
    done = CliRunner().invoke(app, [*verb.split(), str(INTENT), *options, *state])
    return done.exit_code, done.output


def tenant_address(lab: RunningLab, host: str) -> str:
    """The address of a host in its tenant."""
    shown = lab.run(host, "ip", "-4", "-o", "addr", "show", "front-p0").stdout
    found = re.search(r"inet ([\d.]+)/", shown)
    assert found is not None, shown
    return found[1]


def reaches(lab: RunningLab, source: str, address: str, port: str = "front-p0") -> bool:
    """Whether a host has an answer to one of two packets; what it knows of its neighbours is forgotten first."""
    lab.run(source, "ip", "neigh", "flush", "all")
    return lab.run(source, "ping", "-c", "2", "-i", "0.2", "-W", "1", "-I", port, address).returncode == 0


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLab]:
    """The lab, up and deployed to by the commands of its README, when all sessions and VTEPs are there."""
    place = LabPlace(fabric="frr-evpn", folder=INTENT.parent, state=tmp_path_factory.mktemp("evpn"))
    found = RunningLab(INTENT, place)
    try:
        for words in (("lab up",), ("deploy", "--on", "lab", "--yes")):
            status, output = railfab(found, *words)
            assert status == 0, output
        wait_for(lambda: remote_vteps(found) == [1, 1], "VTEPs of the other leaf")
        yield found
    finally:
        railfab(found, "lab down")


def remote_vteps(lab: RunningLab) -> list[int]:
    """Number of VTEPs from which each leaf of the frontend has learnt VLAN 100."""
    shown = (lab.show(leaf, "evpn vni") for leaf in (LEAF, OTHER_LEAF))
    return [found.get("10100", {}).get("numRemoteVteps", 0) for found in shown]


def test_every_session_of_every_family_is_established(lab: RunningLab) -> None:
    for name, model in design(INTENT).models.items():
        overlay = [found for found in model.neighbors if Family.EVPN in found.families]
        wait_for(partial(all_established, lab, name, len(model.neighbors) - len(overlay), "ipv4 unicast"), name)
        if overlay:
            wait_for(partial(all_established, lab, name, len(overlay), "l2vpn evpn"), f"EVPN of {name}")


def all_established(lab: RunningLab, name: str, count: int, family: str) -> bool:
    peers = lab.show(name, f"bgp {family} summary").get("peers", {})
    return sum(peer["state"] == "Established" for peer in peers.values()) == count


def test_hosts_in_a_vlan_on_different_switches_reach_each_other(lab: RunningLab) -> None:
    """Bridged over VXLAN: no switch takes from the TTL, and the leaf has the MAC address from the other leaf."""
    address = tenant_address(lab, OTHER_HOST)
    wait_for(lambda: reaches(lab, HOST, address), "an answer over VXLAN")
    done = lab.run(HOST, "ping", "-c", "1", "-W", "2", "-I", "front-p0", address)
    assert "ttl=64" in done.stdout
    (mac,) = re.findall(r"link/ether (\S+)", lab.run(OTHER_HOST, "ip", "-o", "link", "show", "front-p0").stdout)
    forwarding = lab.run(LEAF, "bridge", "fdb", "show", "dev", VNI).stdout
    assert re.search(rf"(?m)^{mac} .*\bdst 10\.192\.0\.2\b", forwarding), forwarding


def test_the_address_of_another_host_behind_a_port_of_a_vlan_is_a_wrong_cable(lab: RunningLab) -> None:
    """As two exchanged host cables look to the switch: its bridge has the MAC address of the address on swp1."""
    leaf, gateway, own, foreign = "pod1-seg1-leaf1", "10.0.1.1", "10.0.1.2", "10.0.1.3"

    def verified(address: str) -> tuple[int, str]:
        lab.run(HOST, "ping", "-c", "1", "-W", "2", "-I", address, gateway)
        return railfab(lab, "verify", "--on", "lab", "--wait", "0", "--limit", leaf)

    lab.run(HOST, "ip", "addr", "add", f"{foreign}/32", "dev", "rail1-p0")
    lab.run(leaf, "ip", "neigh", "flush", "dev", "vlan101")
    try:
        status, output = verified(foreign)
    finally:
        lab.run(HOST, "ip", "addr", "del", f"{foreign}/32", "dev", "rail1-p0")
    assert status == 1
    assert (
        f"error {leaf} swp1: resolves {foreign} of pod1-seg1-host2, the intent says {HOST} rail1-p0. "
        "Correct the cabling, or the addresses of the host. [miscabled]"
    ) in " ".join(output.split())
    status, output = verified(own)
    assert status == 0
    assert f"hosts that ARP identifies, but not their NIC: {leaf} swp1;" in " ".join(output.split())


@pytest.fixture
def moved_host(lab: RunningLab) -> Iterator[str]:
    """An address of the other host in the second VLAN of its tenant, where its leaf has its port for a while."""
    network, gateway, own = "172.20.0.0/24", "172.20.2.1", "172.20.2.9"
    port = next(
        found.z.name
        for found in design(INTENT).topology.links
        if found.a.node == OTHER_HOST and found.a.name == "front-p0"
    )
    moves = (
        (OTHER_LEAF, f"link set dev {port} master vlan101", f"link set dev {port} master vlan100"),
        (OTHER_HOST, f"addr add {own}/24 dev front-p0", f"addr del {own}/24 dev front-p0"),
        (OTHER_HOST, f"rule add from {own} table 99", f"rule del from {own} table 99"),
        (OTHER_HOST, f"route add {network} via {gateway} dev front-p0 table 99", "route flush table 99"),
    )
    for node, made, _ in moves:
        assert lab.run(node, "ip", *made.split()).returncode == 0, made
    yield own
    for node, _, undone in reversed(moves):
        lab.run(node, "ip", *undone.split())


def test_hosts_in_two_vlans_of_a_tenant_reach_each_other_across_leaves(lab: RunningLab, moved_host: str) -> None:
    """Routed by the leaves: by the L3VNI in a VRF, by that of the asking host where the kernel has no VRFs."""
    wait_for(lambda: reaches(lab, OTHER_HOST, "172.20.2.1", moved_host), "an answer of the gateway")
    wait_for(lambda: reaches(lab, HOST, moved_host), "an answer of the other VLAN")
    done = lab.run(HOST, "ping", "-c", "1", "-W", "2", "-I", "front-p0", moved_host)
    assert f"ttl={63 if DeviceKind.VRF in missing_kinds() else 62}" in done.stdout


def test_a_gateway_has_the_same_addresses_on_every_leaf(lab: RunningLab) -> None:
    """Each host has the answer of its own leaf, with the MAC address that all of them have."""
    for host in (HOST, OTHER_HOST):
        assert reaches(lab, host, "172.20.0.1")
        neighbours = lab.run(host, "ip", "neigh", "show", "172.20.0.1").stdout
        assert "00:00:5e:00:01:01" in neighbours


def test_hosts_in_different_vlans_reach_each_other_over_the_route_reflector(lab: RunningLab) -> None:
    """Leaf, reflector, leaf: from rail 1 of one segment to rails 1 and 2 of the other."""
    for address in ("10.0.2.2", "10.0.2.130"):
        assert reaches(lab, HOST, address, "10.0.1.2")
    done = lab.run(HOST, "ping", "-c", "1", "-W", "2", "-I", "10.0.1.2", "10.0.2.2")
    assert "ttl=61" in done.stdout
    table = lab.show("pod1-seg1-leaf1", "bgp ipv4 unicast")["routes"]
    (prefix,) = (found for found in table if found.startswith("10.0.2."))
    paths = lab.show("pod1-seg1-leaf1", f"bgp ipv4 unicast {prefix}")["paths"]
    assert {path["originatorId"] for path in paths} == {"10.255.1.2"}, "reflected (RFC 4456)"


def test_verify_audit_and_a_second_deploy_find_nothing(lab: RunningLab) -> None:
    for words in (("verify", "--on", "lab"), ("audit", "--on", "lab"), ("deploy", "--on", "lab", "--plan")):
        status, output = railfab(lab, *words)
        assert status == 0, output
    assert "7 of 7 switches: 0 would change" in output


@pytest.fixture
def other_vni(lab: RunningLab) -> Iterator[None]:
    """The second leaf with another VNI for the VLAN."""
    replace_vni(lab, "10999")
    yield
    replace_vni(lab, "10100")
    wait_for(lambda: remote_vteps(lab) == [1, 1], "VTEPs of the other leaf")


def replace_vni(lab: RunningLab, number: str) -> None:
    """Make the device of the VLAN on the second leaf anew, with another number and the same name."""
    made = ["type", "vxlan", "id", number, "local", "10.192.0.2", "dstport", "4789", "nolearning"]
    for words in (
        ["link", "del", VNI],
        ["link", "add", VNI, *made],
        ["link", "set", "dev", VNI, "master", "vlan100", "up"],
        ["link", "set", "dev", VNI, "type", "bridge_slave", "neigh_suppress", "on", "learning", "off"],
    ):
        done = lab.run(OTHER_LEAF, "ip", *words)
        assert done.returncode == 0, done.stderr


def test_another_vni_parts_the_hosts_of_a_vlan_and_is_found(lab: RunningLab, other_vni: None) -> None:
    address = tenant_address(lab, OTHER_HOST)
    wait_for(lambda: not reaches(lab, HOST, address), "no answer with another VNI")
    status, output = railfab(lab, "verify", "--on", "lab", "--wait", "0")
    assert status == 1
    assert "front-leaf2 vlan100: has no VNI 10100, its hosts do not reach those of other switches" in output


@pytest.fixture
def stopped_reflector(lab: RunningLab) -> Iterator[None]:
    """The route server of EVPN without its BGP daemon; the other spine still connects the leaves."""
    lab.signal(REFLECTOR, "bgpd", signal.SIGKILL)
    yield
    status, output = railfab(lab, "lab restart", REFLECTOR, "--daemon", "bgpd")
    assert status == 0, output


def test_without_its_reflector_a_vlan_is_parted_and_that_is_found(lab: RunningLab, stopped_reflector: None) -> None:
    address = tenant_address(lab, OTHER_HOST)
    wait_for(lambda: not reaches(lab, HOST, address), "no answer without the reflector")
    assert lab.run(LEAF, "ping", "-c", "1", "-W", "2", "-I", "10.192.0.1", "10.192.0.2").returncode == 0, "underlay"
    status, output = railfab(lab, "verify", "--on", "lab", "--wait", "0", "--limit", "front-leaf*")
    assert status == 1
    assert re.search(r"front-leaf1 and 1 more 10\.193\.255\.254: .* \[bgp-down\]", output), output
