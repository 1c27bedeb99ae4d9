"""The gNMI agent: state of Linux and FRR as OpenConfig leaves."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator
from ipaddress import IPv4Interface
from pathlib import Path

import pytest

from railfab.errors import LabError
from railfab.gnmi.paths import elements
from railfab.gnmi.target import DataType, Edit, Operation, PathNotFound, RequestRefused
from railfab.lab.agent import LinuxSwitch, Measurement, bfd_metrics, bgp_metrics, encode, interface_metrics
from railfab.lab.agent.__main__ import FirstProcesses
from railfab.lab.agent.linux_metrics import LinkFacts
from railfab.lab.agent.sources import vty_json
from railfab.lab.netns.processes import Process, started
from railfab.lab.netns.state import NetnsState, save_state
from railfab.platforms import TelemetryRule, platform

MAP = platform("frr").telemetry
BGP = "/network-instances/network-instance[name=default]/protocols/protocol[identifier=BGP][name=bgp]/bgp/neighbors"

# Linux 6, a veth in a namespace.
PROC_NET_DEV = """\
Inter-|   Receive                                       |  Transmit
 face |bytes packets errs drop fifo frame compressed multicast|bytes packets errs drop fifo colls carrier compressed
    lo:    0       0    0    0    0     0          0         0     0       0    0    0    0     0       0          0
  swp1: 1296      14    1    2    0     0          0         0  1546      17    3    4    0     0       0          0
 mgmt0: 9876543210 21   0    0    0     0          0         0   876       9    0    0    0     0       0          0
"""

# FRR 8.4.4, shortened to the keys that are read and some that are not.
NEIGHBORS = {
    "swp16": {
        "bgpNeighborAddr": "fe80::d012:4bff:fe74:a0c1",
        "bgpState": "Established",
        "addressFamilyInfo": {
            "ipv4Unicast": {"acceptedPrefixCounter": 16, "sentPrefixCounter": 22},
            "ipv6Unicast": {"acceptedPrefixCounter": 3, "sentPrefixCounter": 4},
        },
        "connectionsEstablished": 2,
    },
    "swp15": {"bgpState": "OpenSent", "connectionsEstablished": 0},
}
BFD_PEERS = [{"peer": "fe80::1", "interface": "swp15", "id": 3641955581, "status": "up"}]
BFD_COUNTERS = [{"peer": "fe80::1", "interface": "swp15", "session-up": 1, "session-down": 4}]


def facts(name: str, **changes: object) -> LinkFacts:
    values = {"operstate": "up", "flags": 0x1003, "carrier_changes": 3, "speed_mbps": 10000} | changes
    return LinkFacts(name=name, **values)  # type: ignore[arg-type]


def test_interface_counters_and_states_become_openconfig_leaves() -> None:
    readings = interface_metrics(PROC_NET_DEV, {"swp1": facts("swp1"), "mgmt0": facts("mgmt0", speed_mbps=-1)})
    leaves, on_change = encode(MAP, readings)
    swp1 = "/interfaces/interface[name=swp1]"
    assert {path: value for path, value in leaves.items() if path.startswith(swp1)} == {
        f"{swp1}/state/counters/in-octets": 1296,
        f"{swp1}/state/counters/in-errors": 1,
        f"{swp1}/state/counters/in-discards": 2,
        f"{swp1}/state/counters/out-octets": 1546,
        f"{swp1}/state/counters/out-errors": 3,
        f"{swp1}/state/counters/out-discards": 4,
        f"{swp1}/state/counters/link-transitions": 3,
        f"{swp1}/state/oper-status": "UP",
        f"{swp1}/state/admin-status": "UP",
        f"{swp1}/ethernet/state/port-speed": "SPEED_10GB",
    }
    assert leaves["/interfaces/interface[name=mgmt0]/state/counters/in-octets"] == 9876543210
    assert "/interfaces/interface[name=mgmt0]/ethernet/state/port-speed" not in leaves
    assert on_change >= {f"{swp1}/state/oper-status", f"{swp1}/state/admin-status"}
    assert f"{swp1}/state/counters/in-octets" not in on_change


@pytest.mark.parametrize(
    ("operstate", "flags", "oper", "admin"),
    [
        ("up", 0x1003, "UP", "UP"),
        ("down", 0x1002, "DOWN", "DOWN"),
        ("lowerlayerdown", 0x1003, "DOWN", "UP"),
        ("unknown", 0x1003, "UP", "UP"),
        ("unknown", 0x1002, "DOWN", "DOWN"),
    ],
)
def test_states_of_an_interface(operstate: str, flags: int, oper: str, admin: str) -> None:
    readings = interface_metrics(PROC_NET_DEV, {"swp1": facts("swp1", operstate=operstate, flags=flags)})
    leaves, _ = encode(MAP, readings)
    state = "/interfaces/interface[name=swp1]/state"
    assert (leaves[f"{state}/oper-status"], leaves[f"{state}/admin-status"]) == (oper, admin)


def test_bgp_sessions_are_named_by_their_interface() -> None:
    leaves, on_change = encode(MAP, bgp_metrics(NEIGHBORS))
    up, opening = (f"{BGP}/neighbor[neighbor-address={port}]" for port in ("swp16", "swp15"))
    family = f"{up}/afi-safis/afi-safi[afi-safi-name="
    assert leaves == {
        f"{up}/state/session-state": "ESTABLISHED",
        f"{up}/state/established-transitions": 2,
        f"{family}IPV4_UNICAST]/state/prefixes/received": 16,
        f"{family}IPV4_UNICAST]/state/prefixes/sent": 22,
        f"{family}IPV6_UNICAST]/state/prefixes/received": 3,
        f"{family}IPV6_UNICAST]/state/prefixes/sent": 4,
        f"{opening}/state/session-state": "OPENSENT",
        f"{opening}/state/established-transitions": 0,
    }
    assert f"{up}/state/session-state" in on_change


def test_no_bgp_instance_gives_no_leaf() -> None:
    """FRR prints `{"warning": "..."}` or an empty object then."""
    assert encode(MAP, bgp_metrics({"warning": "No BGP instance"}))[0] == {}
    assert encode(MAP, bgp_metrics({}))[0] == {}


def test_bfd_failures_are_matched_to_their_session() -> None:
    leaves, _ = encode(MAP, bfd_metrics(BFD_PEERS, BFD_COUNTERS))
    peer = "/bfd/interfaces/interface[id=swp15]/peers/peer[local-discriminator=3641955581]"
    assert leaves == {f"{peer}/state/session-state": "UP", f"{peer}/state/failure-transitions": 4}
    assert len(encode(MAP, bfd_metrics(BFD_PEERS, []))[0]) == 1


@pytest.mark.parametrize("rule", MAP.rules, ids=lambda rule: f"{rule.metric}-{rule.path[-20:]}")
def test_the_collector_decodes_the_encoded_value(rule: TelemetryRule) -> None:
    """Every rule of the map: number to leaf and back."""
    names = dict.fromkeys(("interface", "peer", "daemon"), "x") | dict(rule.labels)
    for number in sorted(set(rule.states.values())) if rule.states else (0.0, 1.0, 2.0**40):
        leaves, _ = encode(MAP, [Measurement(rule.metric, names, number, {"local-discriminator": "1"})])
        readable = {(rule.states[value] if rule.states else value * rule.scale) for value in leaves.values()}
        assert readable == {number}


def test_a_measurement_without_a_rule_has_no_leaf() -> None:
    assert encode(MAP, [Measurement("fabric_queue_depth_bytes", {"interface": "swp1", "queue": "3"}, 7)])[0] == {}


@pytest.fixture
def interface() -> Iterator[None]:
    """An interface besides the loopback; the network namespace of tests as root has none."""
    if {path.name for path in Path("/sys/class/net").iterdir()} != {"lo"}:
        yield
        return
    subprocess.run(["ip", "link", "add", "rft-veth0", "type", "veth", "peer", "name", "rft-veth1"], check=True)
    yield
    subprocess.run(["ip", "link", "del", "rft-veth0"], check=True)


def _switch(tmp_path: Path, *, pid: int | None = None) -> LinuxSwitch:
    pid = pid or os.getpid()
    holder = Process(purpose="leaf1", pid=pid, started=started(pid) or 0)
    return LinuxSwitch("leaf1", holder=lambda: holder, sockets=tmp_path, daemons=("zebra", "bgpd"), map_=MAP)


@pytest.mark.usefixtures("interface")
def test_a_switch_without_daemons_still_reports_its_interfaces(tmp_path: Path) -> None:
    switch = _switch(tmp_path)
    leaves = [found.leaf for found in switch.refresh().select(())]
    names = {step.keys[0][1] for leaf in leaves for step in leaf.path if step.name == "interface"}
    assert names
    assert "lo" not in names


def daemon_states(switch: LinuxSwitch) -> dict[str, object]:
    view = switch.refresh()
    state = "/components/component[name={}]/state/oper-status"
    return {name: view.get(elements(state.format(name)), DataType.ALL)[0].value for name in switch.daemons}


def test_a_dead_daemon_is_a_leaf_and_not_a_missing_one(tmp_path: Path) -> None:
    daemon = Daemon(tmp_path / "bgpd.vty")
    assert daemon_states(_switch(tmp_path)) == {"zebra": "INACTIVE", "bgpd": "ACTIVE"}
    daemon.close()
    assert daemon_states(_switch(tmp_path)) == {"zebra": "INACTIVE", "bgpd": "INACTIVE"}


def test_a_frozen_daemon_is_inactive(tmp_path: Path) -> None:
    """It accepts connections, or the kernel for it, and never answers."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
        listener.bind(str(tmp_path / "bgpd.vty"))
        listener.listen()
        assert daemon_states(_switch(tmp_path)) == {"zebra": "INACTIVE", "bgpd": "INACTIVE"}


def test_a_switch_that_has_ended_has_inactive_daemons_and_nothing_else(tmp_path: Path) -> None:
    ended = Process(purpose="l", pid=1, started=-1)
    switch = LinuxSwitch("leaf1", holder=lambda: ended, sockets=tmp_path, daemons=("bgpd",), map_=MAP)
    assert daemon_states(switch) == {"bgpd": "INACTIVE"}
    assert len(switch.refresh().select(())) == 1
    with pytest.raises(PathNotFound, match=r"leaf1: nothing at /interfaces\. Check the path and its keys\."):
        switch.refresh().get(elements("/interfaces"), DataType.ALL)


def test_the_agent_finds_the_new_process_of_a_restarted_switch(tmp_path: Path) -> None:
    path = tmp_path / "state.json"
    state = NetnsState(
        fabric="f",
        tag="rf0",
        boot="b",
        topology_digest="d",
        bridge="br",
        gateway=IPv4Interface("172.31.0.1/24"),
        runtime=tmp_path,
        nodes=(),
    )
    processes, (first, second) = FirstProcesses(path), (Process(purpose="leaf1", pid=n, started=n) for n in (7, 8))
    assert processes.of("leaf1") is None
    for process in (first, second):
        save_state(path, state.with_processes(process))
        assert processes.of("leaf1") == process
    path.write_text("half a fi")
    assert processes.of("leaf1") == second


def test_the_agent_refuses_a_set(tmp_path: Path) -> None:
    edit = Edit(Operation.UPDATE, elements("/interfaces/interface[name=swp1]/config/mtu"), 1500)
    with pytest.raises(RequestRefused) as raised:
        _switch(tmp_path).set([edit])
    assert str(raised.value) == "leaf1: is read-only over gNMI (1 edits refused). Configure it over SSH."


class Daemon:
    """A vty socket that takes `enable` and answers one command, in pieces, as FRR does."""

    def __init__(self, path: Path, *pieces: bytes) -> None:
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(str(path))
        self._listener.listen()
        self.asked = b""
        self._thread = threading.Thread(target=self._serve, args=(pieces,))
        self._thread.start()

    def _serve(self, pieces: tuple[bytes, ...]) -> None:
        client, _ = self._listener.accept()
        with client:
            assert client.recv(4096) == b"enable\0"
            client.sendall(b"\0\0\0\0")
            self.asked = client.recv(4096)
            for piece in pieces:
                client.sendall(piece)

    def close(self) -> None:
        self._thread.join()
        self._listener.close()


def test_an_answer_in_several_chunks_is_joined(tmp_path: Path) -> None:
    text = json.dumps(NEIGHBORS).encode()
    daemon = Daemon(tmp_path / "bgpd.vty", text[:10], text[10:] + b"\0\0", b"\0", b"\0")
    assert vty_json(tmp_path / "bgpd.vty", "show bgp json") == NEIGHBORS
    daemon.close()
    assert daemon.asked == b"show bgp json\0"


@pytest.mark.parametrize("pieces", [(b"% Unknown command\n\0\0\0\2",), (b'{"half": ',), ()])
def test_an_answer_that_is_not_json_is_a_one_line_error(tmp_path: Path, pieces: tuple[bytes, ...]) -> None:
    daemon = Daemon(tmp_path / "bgpd.vty", *pieces)
    with pytest.raises(
        LabError, match=r"^bgpd\.vty of .*: does not answer 'show x' \(.*\)\. Check it with `railfab lab status`\.$"
    ):
        vty_json(tmp_path / "bgpd.vty", "show x")
    daemon.close()


def test_a_missing_daemon_is_a_one_line_error(tmp_path: Path) -> None:
    with pytest.raises(LabError, match=r"does not answer 'show x' \(.*No such file"):
        vty_json(tmp_path / "bgpd.vty", "show x")
