"""A full replace never removes the address or the route over which its own session reaches the switch. Real FRR."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator

import pytest
from tests.integration.frr.bench import Node, eventually, run, settle
from tests.platforms.frr.switches import LEAF, text

from railfab.errors import CommitRefused

pytestmark = pytest.mark.lab

REMEDY = "Move it from FRR to the system's network configuration, or log in over another address"


@pytest.fixture
def leaf(switches: tuple[Node, Node]) -> Node:
    return settle(switches[0], LEAF)


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(CommitRefused) as refused:
        call()
    return str(refused.value)


def address(node: Node) -> str:
    return f"{node.endpoint.host}/30"


def in_frr(node: Node, *lines: str) -> None:
    node.inside("vtysh", *(word for line in ("configure terminal", *lines) for word in ("-c", line)))


def test_a_candidate_without_the_address_of_the_session_is_refused(leaf: Node) -> None:
    node = leaf
    node.inside("ip", "address", "del", address(node), "dev", "mgmt0")
    in_frr(node, "interface mgmt0", f"ip address {address(node)}")
    own = f"interface mgmt0\n ip address {address(node)}\nexit\n!\n"
    with node.session() as session:
        message = refusal(lambda: session.stage(text(LEAF)))
        kept = text(LEAF).replace("interface swp1\n", f"{own}interface swp1\n", 1)
        assert session.stage(kept).diff == ""
        closed = kept.replace(f" ip address {address(node)}\n", f" ip address {address(node)}\n shutdown\n", 1)
        shut = refusal(lambda: session.stage(closed))
    in_frr(node, "interface mgmt0", f"no ip address {address(node)}")
    node.inside("ip", "address", "replace", address(node), "dev", "mgmt0")
    assert message == f"rft-leaf: would lose this SSH session without `ip address {address(node)}`. {REMEDY}."
    assert shut == f"rft-leaf: would lose this SSH session with `interface mgmt0` shut down. {REMEDY}."
    with node.session() as session:
        assert session.stage(text(LEAF)).diff == ""


@pytest.fixture
def behind_a_gateway(leaf: Node) -> Iterator[str]:
    """The client has an address of another network; the gateway by which FRR can reach it."""
    ours = str(leaf.endpoint.host).replace(f".{last(leaf)}", f".{last(leaf) - 1}")
    found = json.loads(subprocess.run(["ip", "-j", "route", "get", leaf.endpoint.host], capture_output=True).stdout)
    device, route = found[0]["dev"], f"{leaf.endpoint.host}/32"
    run("ip", "address", "add", "100.126.0.1/32", "dev", device)
    run("ip", "route", "replace", route, "dev", device, "src", "100.126.0.1")
    routes = [f"ip route {network} {ours}" for network in ("100.126.0.0/24", "100.125.0.0/24")]
    in_frr(leaf, *routes)
    assert eventually(lambda: "100.126.0.0/24" in leaf.inside("ip", "route"))
    yield ours
    run("ip", "route", "del", route, "dev", device)
    run("ip", "address", "del", "100.126.0.1/32", "dev", device)
    in_frr(leaf, *(f"no {route}" for route in routes))


def last(node: Node) -> int:
    return int(node.endpoint.host.rpartition(".")[2])


def test_a_candidate_without_the_route_of_the_session_is_refused(leaf: Node, behind_a_gateway: str) -> None:
    """Another static route may go."""
    line = f"ip route 100.126.0.0/24 {behind_a_gateway}"
    with leaf.session() as session:
        with pytest.raises(CommitRefused) as refused:
            session.stage(text(LEAF))
        kept = session.stage(text(LEAF).replace("interface lo\n", f"{line}\n!\ninterface lo\n", 1))
    assert str(refused.value) == f"rft-leaf: would lose this SSH session without `{line}`. {REMEDY}."
    assert f"-ip route 100.125.0.0/24 {behind_a_gateway}" in kept.diff.splitlines()
