"""How an embedded lab comes to be and goes: each step leaves a state that `remove` can undo."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from railfab.endpoints import Endpoints, save_endpoints
from railfab.errors import LabError, RailfabError, raise_all
from railfab.lab.backend import LabPlace, LabPlan, Progress
from railfab.lab.netns import kernel
from railfab.lab.netns.addresses import management
from railfab.lab.netns.kernel import MARK, Process, ip_batch, last_words, process
from railfab.lab.netns.names import LabNames, lab_names
from railfab.lab.netns.node import boot, wait_until_ready
from railfab.lab.netns.runtime import (
    GNMI_PORT,
    SSH_PORT,
    address,
    endpoints,
    forget,
    furnish,
    node_root,
    private_files,
    runtime_of,
)
from railfab.lab.netns.state import LabNode, LabState, lab_state_file, save_state, wiring_digest
from railfab.lab.netns.wiring import cable_lines, management_lines, node_lines
from railfab.topology import Role, Topology

AGENT = "gnmi agent"
ANSWER_WITHIN_S = 60.0

ANY_NODE = {
    "ipv6/conf/all/accept_dad": "0",  # a link-local address is usable at once, not after a second or two
    "ipv6/conf/default/accept_dad": "0",
    "ipv6/conf/default/dad_transmits": "0",
    "ipv4/conf/all/rp_filter": "0",
    "ipv4/conf/default/rp_filter": "0",
    "ipv4/conf/all/ignore_routes_with_linkdown": "1",
    "ipv4/conf/default/ignore_routes_with_linkdown": "1",
    "ipv4/fib_multipath_hash_policy": "1",
}
SWITCH = ANY_NODE | {
    "ipv4/ip_forward": "1",
    "ipv6/conf/all/forwarding": "1",
    "ipv6/conf/default/forwarding": "1",
    "ipv6/conf/all/keep_addr_on_down": "1",
    "ipv6/conf/default/keep_addr_on_down": "1",
}


def claim(plan: LabPlan) -> LabState:
    """Choose names and addresses that nothing on this machine has. Raises LabError, or Problems, for those taken."""
    names = lab_names(plan.place)
    switches = [node.name for node in plan.topology.switches()]
    _check_free(names, plan.topology, len(switches))
    range_ = management(switches, kernel.networks())
    ports = {name: names.management_port(index) for index, name in enumerate(switches)}
    return LabState(
        fabric=plan.place.fabric,
        tag=names.tag,
        boot=kernel.boot_id(),
        wiring=wiring_digest(plan),
        bridge=names.bridge,
        gateway=range_.gateway,
        runtime=runtime_of(names),
        nodes=tuple(
            LabNode(
                name=node.name,
                kind=node.role.value,
                namespace=names.namespace(node.name),
                address=range_.addresses.get(node.name),
                management_port=ports.get(node.name),
            )
            for node in plan.topology.nodes
        ),
    )


def _check_free(names: LabNames, topology: Topology, switches: int) -> None:
    namespaces = {names.namespace(node.name) for node in topology.nodes} & kernel.namespaces()
    ports = {names.bridge, *map(names.management_port, range(switches))} & kernel.interfaces()
    problem = "exists, and this lab did not make it"
    elsewhere = "or use another --state directory, which gives other names"
    taken: list[RailfabError] = [
        LabError(f"namespace {name}", problem, f"Remove it with `ip netns del {name}`, {elsewhere}")
        for name in sorted(namespaces)
    ]
    taken += [
        LabError(f"interface {name}", problem, f"Remove it with `ip link del {name}`, {elsewhere}")
        for name in sorted(ports)
    ]
    raise_all(taken)


def build(plan: LabPlan, state: LabState, progress: Progress) -> LabState:
    """Boot what was claimed and wait until it answers; the state with its processes. The caller undoes a failure."""
    state_path = lab_state_file(plan.place)
    state.runtime.mkdir(mode=0o755)
    furnish(plan.place, state, plan.configurations)
    progress(f"cabling {len(plan.topology.links)} links")
    wire_up(plan, state)
    progress(f"booting {len(plan.models)} switches")
    for node in state.switches():
        state = state.with_processes(_boot(plan.place, state, node))
        save_state(state_path, state)
    wait_until_ready({node.name: node_root(state, node.name) for node in state.switches()}, state.processes)
    progress("starting SSH and gNMI")
    state = state.with_processes(_start_agent(plan.place, state))
    save_state(state_path, state)
    _wait_for_servers(state)
    return state


def wire_up(plan: LabPlan, state: LabState) -> None:
    """Make namespaces, cables, the management bridge, and every node's addresses and routes."""
    ip_batch([f"netns add {node.namespace}" for node in state.nodes])
    for node in state.nodes:
        kernel.set_sysctls(node.namespace, ANY_NODE if node.kind == Role.HOST else SWITCH)
    names = LabNames(state.tag)
    addresses = {node.name: node.address for node in state.nodes if node.address is not None}
    ip_batch(cable_lines(plan.topology, plan.models, names) + management_lines(names, state.gateway, addresses))
    for node in state.nodes:
        ip_batch(node_lines(plan.topology, node.name, node.address), namespace=node.namespace)


def _boot(place: LabPlace, state: LabState, node: LabNode) -> Process:
    root = node_root(state, node.name)
    credentials = private_files(place)["credentials"].resolve()
    server = ssh_command(address(node), root / "ssh_host_key", credentials)
    return boot(root, name=node.name, namespace=node.namespace, tag=state.tag, ssh_server=server)


def ssh_command(host: str, host_key: Path, credentials: Path) -> list[str]:
    """The SSH server that stands inside a switch; the password stays in its file."""
    files = ["--host-key", str(host_key), "--credentials", str(credentials)]
    return [sys.executable, "-m", "railfab.ssh", "--host", host, "--port", str(SSH_PORT), *files]


def _start_agent(place: LabPlace, state: LabState) -> Process:
    """Start the one gNMI agent of all switches."""
    files = [str(lab_state_file(place).resolve()), str(private_files(place)["credentials"].resolve())]
    with (state.runtime / "agent.log").open("ab") as log:
        started = subprocess.Popen(
            [sys.executable, "-m", "railfab.lab.agent", *files],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=os.environ | {MARK: state.tag},
            start_new_session=True,
        )
    return process(AGENT, started.pid, state.runtime / "agent.log")


def _wait_for_servers(state: LabState) -> None:
    """Wait until every switch answers SSH and gNMI. Raises LabError."""
    deadline = time.monotonic() + ANSWER_WITHIN_S
    waiting = [(node, port) for node in state.switches() for port in (SSH_PORT, GNMI_PORT)]
    while waiting := [(node, port) for node, port in waiting if not answers(address(node), port)]:
        ended = [process.purpose for process in state.processes if not kernel.is_running(process)]
        if ended or time.monotonic() > deadline:
            node, port = waiting[0]
            where, log = f"{node.name} port {port}", _log(state, node, port)
            problem = f"{ended[0]} has ended" if ended else "nothing answers"
            raise LabError(where, f"{problem} ({last_words(log)})", "Run `railfab lab doctor`")
        time.sleep(0.1)


def _log(state: LabState, node: LabNode, port: int) -> Path:
    return state.runtime / "agent.log" if port == GNMI_PORT else node_root(state, node.name) / "log"


def answers(host: str, port: int) -> bool:
    """Whether a server accepts connections there."""
    try:
        with socket.create_connection((host, port), timeout=0.5):
            return True
    except OSError:
        return False


def publish(place: LabPlace, state: LabState) -> Endpoints:
    """Write the endpoints file of a lab that runs."""
    running = endpoints(place, state)
    save_endpoints(place.endpoints_file, running)
    return running


def remove(place: LabPlace, progress: Progress) -> None:
    """Undo all of a lab that was made since this machine booted: processes, cables, namespaces, files.

    What it made is what bears its tag, whether a state file names it or not.
    """
    names = lab_names(place)
    kernel.kill_marked(names.tag)
    _delete("link", filter(names.owns, kernel.interfaces()))
    namespaces = sorted(filter(names.owns, kernel.namespaces()))
    for line in _strangers(namespaces):
        progress(line)
    _delete("netns", namespaces)
    forget(place, names, lab_state_file(place))


def _delete(what: str, names: Iterable[str]) -> None:
    ip_batch([f"{what} del {name}" for name in sorted(names)])


def _strangers(names: Iterable[str]) -> list[str]:
    """Processes that somebody else runs in namespaces of the lab: they are left alone, and said."""
    found = {name: kernel.pids_in(name) for name in names}
    return [f"left alone in {name}: process {', '.join(map(str, pids))}" for name, pids in found.items() if pids]
