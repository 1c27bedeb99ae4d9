"""The embedded lab with real namespaces, FRR, SSH and gNMI."""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from pygnmi.client import gNMIclient, gNMIException
from tests.integration.conftest import RunningLab, wait_for
from tests.lab.fabrics import lab_plan
from typer.testing import CliRunner

from railfab.cli import app
from railfab.endpoints import Endpoint, load_endpoints, read_credentials
from railfab.lab import LabStart, backend
from railfab.lab.netns.node import unresponsive_daemons

pytestmark = [
    pytest.mark.lab,
    # pygnmi's reader thread raises when a stream is closed
    pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning"),
]

LEAF, OTHER_LEAF = "pod1-seg1-leaf1", "pod1-seg2-leaf2"
HOST, OTHER_HOST = "pod1-seg1-host1", "pod1-seg2-host2"
BGP = "/network-instances/network-instance[name=default]/protocols/protocol[identifier=BGP][name=bgp]/bgp/neighbors"


def endpoint(lab: RunningLab, switch: str) -> Endpoint:
    return load_endpoints(lab.place.endpoints_file).by_name()[switch]


def gnmi(found: Endpoint, password: str | None = None) -> gNMIclient:
    login = read_credentials(found)
    return gNMIclient(
        target=(found.host, found.gnmi_port),
        username=login.username,
        password=password or login.password,
        path_root=found.ca,
    )


def updates(notifications: list[dict[str, Any]]) -> dict[str, Any]:
    return {update["path"]: update["val"] for found in notifications for update in found["update"] or ()}


def test_the_endpoints_file_names_every_switch_and_no_secret(frr_fabric: RunningLab) -> None:
    path = frr_fabric.place.endpoints_file
    endpoints = load_endpoints(path)
    assert (endpoints.fabric, endpoints.backend) == ("frr-pod", "netns")
    assert len(endpoints.nodes) == 6
    assert all(node.platform == "frr" and node.ssh_port == 22 and node.gnmi_port for node in endpoints.nodes)
    login = read_credentials(endpoints.nodes[0])
    assert login.password not in path.read_text()
    assert Path(endpoints.nodes[0].credentials).stat().st_mode & 0o777 == 0o600


def test_no_argument_of_a_process_contains_a_secret(frr_fabric: RunningLab) -> None:
    login = read_credentials(endpoint(frr_fabric, LEAF))
    listing = subprocess.run(["ps", "-eo", "args", "-ww"], capture_output=True, text=True, check=True).stdout
    assert "railfab.lab.netns.ssh_servers" in listing
    assert login.password not in listing


def test_the_ssh_servers_are_forked_from_one_process_and_end_with_their_switch(frr_fabric: RunningLab) -> None:
    listing = subprocess.run(["ps", "-eo", "ppid,args", "-ww"], capture_output=True, text=True, check=True).stdout
    servers = [line.split() for line in listing.splitlines() if "railfab.lab.netns.ssh_servers" in line]
    switches = [node.name for node in load_endpoints(frr_fabric.place.endpoints_file).nodes]
    assert [words[-len(switches) :] for words in servers] == [switches] * len(switches)
    first_processes = {pid for pid, *_ in servers}
    assert len(first_processes) == len(switches), "each is a child of the first process of its switch"


def test_every_node_runs(frr_fabric: RunningLab) -> None:
    status = backend("netns").status(frr_fabric.place)
    assert status.state == "running", [node for node in status.nodes if node.state != "running"]
    assert len(status.nodes) == 6 + 4 + 1


def test_the_check_of_the_targets_has_no_finding(frr_fabric: RunningLab) -> None:
    """Which has no IPv6, so that FRR shows no prefixes of it."""
    command = ["targets", "check", str(frr_fabric.intent), "--on", "lab", "--state", str(frr_fabric.place.state)]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    assert "6 of 6 targets without findings" in done.output


def test_a_second_up_says_that_it_is_up_and_changes_nothing(frr_fabric: RunningLab) -> None:
    progress: list[str] = []
    plan = lab_plan(frr_fabric.intent, frr_fabric.place.state)
    before = frr_fabric.state
    start = backend("netns").up(plan, progress.append)
    assert progress == ["lab frr-pod is up already"]
    assert start == LabStart(endpoints=load_endpoints(frr_fabric.place.endpoints_file), booted=False)
    assert frr_fabric.state == before


@pytest.mark.parametrize("source", ["10.17.0.1", "10.17.1.1", "10.18.0.1", "10.18.1.1"])
@pytest.mark.parametrize("target", ["10.17.2.3", "10.18.3.3"])
def test_hosts_of_different_segments_reach_each_other_over_the_spines(
    frr_fabric: RunningLab, source: str, target: str
) -> None:
    """From every NIC port to ports on both rail switches of the other segment: leaf, spine, leaf."""
    done = frr_fabric.run(HOST, "ping", "-c", "2", "-i", "0.05", "-W", "2", "-I", source, target)
    assert done.returncode == 0, done.stdout
    assert "ttl=61" in done.stdout


def test_rail_switches_of_one_segment_reach_each_other_over_the_spines(frr_fabric: RunningLab) -> None:
    done = frr_fabric.run(HOST, "ping", "-c", "2", "-i", "0.05", "-W", "2", "-I", "10.17.0.1", "10.18.1.3")
    assert done.returncode == 0, done.stdout
    assert "ttl=61" in done.stdout


@pytest.mark.parametrize(("payload_bytes", "passes"), [(8972, True), (8973, False)])
def test_the_mtu_of_the_intent_is_the_path_mtu(frr_fabric: RunningLab, payload_bytes: int, passes: bool) -> None:
    """9000 bytes: 20 of IP, 8 of ICMP, and the payload."""
    size = ["-M", "do", "-s", str(payload_bytes)]
    assert (frr_fabric.run(HOST, "ping", "-c", "1", "-W", "2", *size, "10.18.3.3").returncode == 0) is passes


def test_a_switch_forwards_nothing_to_or_from_the_management_network(frr_fabric: RunningLab) -> None:
    """Otherwise hosts of a lab could reach this machine."""
    bridge = str(frr_fabric.state.gateway.ip)

    def forwards(source: str, port: str, target: str) -> bool:
        return frr_fabric.run(LEAF, "ip", "route", "get", target, "from", source, "iif", port).returncode == 0

    assert forwards("10.17.0.1", "swp1", "10.17.0.3")
    assert not forwards("10.17.0.1", "swp1", bridge)
    assert not forwards(bridge, "mgmt0", "10.17.0.1")
    assert frr_fabric.run(LEAF, "ping", "-c", "1", "-W", "1", bridge).returncode == 0


def test_status_needs_no_root(frr_fabric: RunningLab) -> None:
    """The user who called sudo owns the state file, but cannot open the sockets of the daemons."""
    sockets = frr_fabric.state.runtime / LEAF / "run-frr"
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        os._exit(len(unresponsive_daemons(sockets)))
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_leaf_spreads_over_both_spines(frr_fabric: RunningLab) -> None:
    routes = frr_fabric.show(LEAF, "ip route 10.255.1.4/32")
    hops = [hop for hop in routes["10.255.1.4/32"][0]["nexthops"] if hop.get("fib")]
    assert {hop["interfaceName"] for hop in hops} == {"swp15", "swp16"}


def test_ssh_answers_as_the_switch_with_the_known_host_key(frr_fabric: RunningLab) -> None:
    """A session sees the switch's hostname and FRR, and no other namespaces."""
    output = asyncio.run(over_ssh(endpoint(frr_fabric, LEAF), "hostname; vtysh -c 'show version' | head -1; ip netns"))
    name, version = output.splitlines()
    assert name == LEAF
    assert re.match(rf"FRRouting [\d.]+ \({LEAF}\) on Linux", version)


async def over_ssh(found: Endpoint, command: str) -> str:
    """Output of a command on a switch, whose host key must be in known_hosts."""
    login = read_credentials(found)
    async with asyncssh.connect(
        found.host,
        found.ssh_port or 0,
        username=login.username,
        password=login.password,
        known_hosts=found.known_hosts,
        config=None,
        client_keys=None,
    ) as connection:
        return str((await connection.run(command, check=True)).stdout)


def test_gnmi_counters_move_with_traffic(frr_fabric: RunningLab) -> None:
    path = "/interfaces/interface[name=swp1]/state/counters/in-octets"
    with gnmi(endpoint(frr_fabric, LEAF)) as client:
        before = int(updates(client.get(path=[path])["notification"])[path.lstrip("/")])
        frr_fabric.run(HOST, "ping", "-c", "10", "-i", "0.01", "-s", "1000", "-I", "10.17.0.1", "10.17.2.3")
        time.sleep(0.6)
        after = int(updates(client.get(path=[path])["notification"])[path.lstrip("/")])
    assert 10_000 < after - before < 100_000


def test_gnmi_reports_bgp_and_bfd_states(frr_fabric: RunningLab) -> None:
    with gnmi(endpoint(frr_fabric, LEAF)) as client:
        wait_for(lambda: len(bfd_states(client)) == 2 and set(bfd_states(client)) == {"UP"}, "BFD up in gNMI")
        found = client.get(path=[f"{BGP}/neighbor[neighbor-address=*]/state/session-state"])
    states = updates(found["notification"])
    assert set(states.values()) == {"ESTABLISHED"}
    assert len(states) == 2


def bfd_states(client: gNMIclient) -> list[str]:
    path = "/bfd/interfaces/interface[id=*]/peers/peer[local-discriminator=*]/state/session-state"
    try:
        return list(updates(client.get(path=[path])["notification"]).values())
    except gNMIException:
        return []


def test_gnmi_streams_samples_and_changes(frr_fabric: RunningLab) -> None:
    """A port of the other leaf goes down and up while a client listens."""
    oper = "interfaces/interface[name=swp4]/state/oper-status"
    wish = {
        "subscription": [
            {"path": "/interfaces/interface[name=swp1]/state/counters", "mode": "sample", "sample_interval": 200000000},
            {"path": "/interfaces/interface[name=*]/state/oper-status", "mode": "on_change"},
        ],
        "mode": "stream",
        "encoding": "json_ietf",
    }
    with gnmi(endpoint(frr_fabric, OTHER_LEAF)) as client:
        stream = client.subscribe2(subscribe=wish)
        assert _until(stream, oper, "UP") > 0
        frr_fabric.run(OTHER_LEAF, "ip", "link", "set", "swp4", "down")
        assert _until(stream, oper, "DOWN") > 0
        frr_fabric.run(OTHER_LEAF, "ip", "link", "set", "swp4", "up")
        samples = _until(stream, oper, "UP")
        stream.close()
    assert samples > 0


def _until(stream: Any, path: str, value: str) -> int:
    """Read a stream until a leaf has this value; return the number of updates."""
    seen = 0
    for response in stream:
        for update in response.get("update", {}).get("update", []):
            seen += 1
            prefix = response["update"].get("prefix") or ""
            if f"{prefix}/{update['path']}".strip("/") == path and update["val"] == value:
                return seen
    pytest.fail(f"the stream ended without {path} {value}")


def test_gnmi_refuses_a_wrong_password(frr_fabric: RunningLab) -> None:
    found = endpoint(frr_fabric, LEAF)
    with pytest.raises(gNMIException, match=f"{LEAF}: wrong user or password"), gnmi(found, "wrong") as client:
        client.get(path=["/"])


def test_gnmi_is_read_only(frr_fabric: RunningLab) -> None:
    with (
        pytest.raises(gNMIException, match=r"is read-only over gNMI .* Configure it over SSH"),
        gnmi(endpoint(frr_fabric, LEAF)) as client,
    ):
        client.set(update=[("/interfaces/interface[name=swp1]/config", {"mtu": 1500})], encoding="json_ietf")


@pytest.fixture
def cut_uplink(frr_fabric: RunningLab) -> Iterator[str]:
    frr_fabric.run(LEAF, "ip", "link", "set", "swp16", "down")
    yield "swp16"
    frr_fabric.run(LEAF, "ip", "link", "set", "swp16", "up")
    wait_for(lambda: frr_fabric.established(LEAF) == 2, "the uplink's session is back")


def test_traffic_survives_the_loss_of_an_uplink(frr_fabric: RunningLab, cut_uplink: str) -> None:
    wait_for(lambda: frr_fabric.established(LEAF) == 1, "the session over the cut link is down")
    with gnmi(endpoint(frr_fabric, LEAF)) as client:
        path = f"{BGP}/neighbor[neighbor-address={cut_uplink}]/state/session-state"
        wait_for(lambda: "ESTABLISHED" not in updates(client.get(path=[path])["notification"]).values(), "gNMI says so")
    done = frr_fabric.run(HOST, "ping", "-c", "3", "-i", "0.05", "-W", "2", "-I", "10.17.0.1", "10.17.2.3")
    assert done.returncode == 0, done.stdout
