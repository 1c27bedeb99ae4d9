"""What hosts are told, as text, and as a kernel takes it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import pytest
from tests.documents.designs import NAMES, intent, topology

from railfab.documents.host_routes import host_batches
from railfab.intent import FabricIntent
from railfab.topology import wire


def batches(name: str) -> dict[str, str]:
    return dict(host_batches(topology(name), intent(name)))


def test_every_port_of_a_routed_host_has_its_own_way_out() -> None:
    lines = batches("pod64")["pod1-seg2-host4.batch"].splitlines()
    assert lines[:3] == [
        "# pod1-seg2-host4: addresses, routes and source rules.",
        "# Give its interfaces these names (ip link property add dev NAME altname rail1-p0), then:",
        "# ip -force -batch pod1-seg2-host4.batch (existing rules are reported and kept)",
    ]
    assert lines[-4:] == [
        "link set dev rail8-p1 mtu 9216 up",
        "address replace 10.24.3.7/31 dev rail8-p1",
        "route replace 10.16.0.0/12 via 10.24.3.6 dev rail8-p1 table 1016",
        "rule add priority 1016 from 10.24.3.7 table 1016",
    ]
    assert len(lines) == 3 + 4 * 16


def test_hosts_in_a_vlan_go_by_its_gateway() -> None:
    assert (
        "route replace 10.0.0.0/16 via 10.0.1.17 dev rail2-p0 table 1002"
        in batches("multi-rail")["pod1-seg1-host1.batch"]
    )


def test_a_subnet_is_reached_without_its_gateway() -> None:
    lines = batches("multi-rail")["pod1-seg1-host1.batch"].splitlines()
    assert "route replace 10.0.1.16/28 dev rail2-p0 table 1002" in lines


def test_other_networks_are_in_the_main_table_too_and_all_else_goes_by_the_frontend() -> None:
    lines = batches("cluster")["pod1-seg1-host1.batch"].splitlines()
    for line in (
        "link set dev front-bond mtu 9166 up",
        "route replace default via 172.20.0.1 dev front-bond table 2001",
        "route replace default via 172.20.0.1 dev front-bond metric 1",
        "route replace 10.208.0.0/12 via 10.216.0.128 dev store-p1 table 3002",
        "route replace 10.208.0.0/12 via 10.216.0.128 dev store-p1 metric 2",
        "link set dev mgmt0 up",
        "route replace 10.224.0.0/16 via 10.224.160.1 dev mgmt0 metric 1",
    ):
        assert line in lines
    assert not any("bmc" in line for line in lines)


def test_hosts_with_lags_set_their_bonds_up_first() -> None:
    lines = batches("dual-mlag")["pod1-seg1-host1.batch"].splitlines()
    assert lines[3:10] == [
        "link add name bond1 type bond mode 802.3ad lacp_rate fast miimon 100 xmit_hash_policy layer3+4",
        "link set dev rail1-p0 down",
        "link set dev rail1-p0 master bond1",
        "link set dev rail1-p1 down",
        "link set dev rail1-p1 master bond1",
        "link set dev bond1 mtu 9216 up",
        "address replace 10.0.1.2/27 dev bond1",
    ]


@pytest.mark.parametrize("name", NAMES)
def test_every_host_with_addresses_has_a_batch(name: str) -> None:
    assert list(batches(name)) == [f"{host.name}.batch" for host in topology(name).hosts()]


@pytest.fixture
def namespace() -> Iterator[str]:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("needs root and iproute2; run the tests with sudo")
    name = f"rf-batch-{uuid4().hex[:8]}"
    subprocess.run(["ip", "netns", "add", name], check=True)
    yield name
    subprocess.run(["ip", "netns", "delete", name], check=True)


def ip(namespace: str, *arguments: str, code: int = 0, cwd: Path | None = None) -> str:
    done = subprocess.run(["ip", "-n", namespace, *arguments], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    return done.stdout


def follow(namespace: str, folder: Path, text: str, code: int = 0) -> None:
    """Run what the third line of a batch says to run."""
    command = text.splitlines()[2].removeprefix("# ip ").partition(" (")[0]
    ip(namespace, *command.split(), code=code, cwd=folder)


def plug(namespace: str, names: list[str]) -> None:
    """Interfaces of these names, each with something at its other end."""
    for number, name in enumerate(names):
        ip(namespace, "link", "add", "name", name, "type", "veth", "peer", "name", f"far{number}")
        ip(namespace, "link", "set", "dev", f"far{number}", "up")


def ipv6() -> FabricIntent:
    pod64 = intent("pod64")
    return pod64.model_copy(update={"profile": pod64.profile.model_copy(update={"family": "ipv6"})})


@pytest.mark.parametrize("fabric", [intent("pod64"), intent("multi-rail"), ipv6()], ids=["routed", "vlan", "ipv6"])
def test_the_kernel_takes_a_batch_and_sends_each_address_by_its_own_port(
    namespace: str, tmp_path: Path, fabric: FabricIntent
) -> None:
    topology = wire(fabric)
    name, text = next(host_batches(topology, fabric))
    host = name.partition(".")[0]
    ports = [link.a for link in topology.links if link.a.node == host]
    plug(namespace, [port.name for port in ports])
    (tmp_path / name).write_text(text)
    follow(namespace, tmp_path, text)
    assert topology.pools is not None
    far = str(topology.pools.hosts[-2])  # type: ignore[union-attr]
    for port in ports:
        assert port.address is not None
        (route,) = json.loads(ip(namespace, "-json", "route", "get", far, "from", str(port.address.ip)))
        assert route["dev"] == port.name
    near = ports[0].address.network  # type: ignore[union-attr]
    if near.num_addresses > 2:
        (route,) = json.loads(ip(namespace, "-json", "route", "get", str(near[-2]), "from", str(ports[0].address.ip)))
        assert "gateway" not in route
    rules = [ip(namespace, family, "rule", "show") for family in ("-4", "-6")]
    follow(namespace, tmp_path, text, code=1)
    assert [ip(namespace, family, "rule", "show") for family in ("-4", "-6")] == rules


def test_the_kernel_takes_a_batch_with_bonds(namespace: str, tmp_path: Path) -> None:
    name, text = next(iter(batches("dual-mlag").items()))
    host = name.partition(".")[0]
    bond = next(line for line in text.splitlines() if line.startswith("link add"))
    probe = subprocess.run(["ip", "-n", namespace, *bond.split()], capture_output=True, text=True, check=False)
    if probe.returncode:
        assert probe.stderr == "Error: Unknown device type.\n"  # `ip` has understood it, and the kernel cannot
        pytest.skip("needs the kernel's bonding driver; run: modprobe bonding")
    ip(namespace, "link", "delete", "dev", "bond1")
    plug(namespace, [link.a.name for link in topology("dual-mlag").links if link.a.node == host])
    (tmp_path / name).write_text(text)
    follow(namespace, tmp_path, text)
    found = json.loads(ip(namespace, "-json", "link", "show", "master", "bond1"))
    assert {port["ifname"] for port in found} == {"rail1-p0", "rail1-p1"}
