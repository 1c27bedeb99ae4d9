"""Creation and removal of an embedded lab; `remove` works after every step of creation."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from railfab.endpoints import Endpoints, save_endpoints
from railfab.errors import LabError, RailfabError, raise_all
from railfab.lab import programs
from railfab.lab.contract import LabPlace, LabPlan, Progress
from railfab.lab.netns import namespaces, processes
from railfab.lab.netns.addresses import management
from railfab.lab.netns.ip_commands import (
    cable_commands,
    device_commands,
    management_commands,
    node_commands,
    uncabled_commands,
)
from railfab.lab.netns.kernel import missing_kinds
from railfab.lab.netns.names import LabNames, lab_names
from railfab.lab.netns.namespaces import ip_batch
from railfab.lab.netns.node import boot, wait_until_ready
from railfab.lab.netns.processes import MARK, Process, log_tail, process
from railfab.lab.netns.runtime import (
    GNMI_PORT,
    SSH_PORT,
    address,
    endpoints,
    node_directory,
    remove_files,
    runtime_of,
    secret_files,
    write_files,
)
from railfab.lab.netns.state import LabNode, NetnsState, lab_state_file, save_state, topology_digest
from railfab.lab.probes import Probe, gnmi_probe, ssh_probe, unanswered
from railfab.text.counted import counted
from railfab.topology import Topology

AGENT = "gnmi agent"
ANSWER_WITHIN_S = 60.0

ANY_NODE = {
    "ipv6/conf/all/accept_dad": "0",  # link-local addresses are usable at once, not after a second or two
    "ipv6/conf/default/accept_dad": "0",
    "ipv6/conf/default/dad_transmits": "0",
    "ipv4/conf/all/rp_filter": "0",
    "ipv4/conf/default/rp_filter": "0",
    "ipv4/conf/all/ignore_routes_with_linkdown": "1",
    "ipv4/conf/default/ignore_routes_with_linkdown": "1",
    "ipv6/conf/all/ignore_routes_with_linkdown": "1",
    "ipv6/conf/default/ignore_routes_with_linkdown": "1",
    "ipv4/fib_multipath_hash_policy": "1",
    "ipv6/fib_multipath_hash_policy": "1",
}
SWITCH = ANY_NODE | {
    "ipv4/ip_forward": "1",
    "ipv6/conf/all/forwarding": "1",
    "ipv6/conf/default/forwarding": "1",
    "ipv6/conf/all/keep_addr_on_down": "1",
    "ipv6/conf/default/keep_addr_on_down": "1",
}


def allocate(plan: LabPlan) -> NetnsState:
    """Allocate names and addresses. Raises LabError or Problems for names in use."""
    names = lab_names(plan.place)
    switches = [node.name for node in plan.topology.switches()]
    _check_free(names, plan.topology, len(switches))
    range_ = management(switches, namespaces.networks())
    ports = {name: names.management_port(index) for index, name in enumerate(switches)}
    return NetnsState(
        fabric=plan.place.fabric,
        tag=names.tag,
        boot=processes.boot_id(),
        topology_digest=topology_digest(plan),
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
    taken_namespaces = {names.namespace(node.name) for node in topology.nodes} & namespaces.namespace_names()
    taken_interfaces = {names.bridge, *map(names.management_port, range(switches))} & namespaces.interface_names()
    problem = "already exists and does not belong to this lab"
    alternative = "or use another --state directory, which gives other names"
    errors: list[RailfabError] = [
        LabError(f"namespace {name}", problem, f"Remove it with `ip netns del {name}`, {alternative}")
        for name in sorted(taken_namespaces)
    ]
    errors += [
        LabError(f"interface {name}", problem, f"Remove it with `ip link del {name}`, {alternative}")
        for name in sorted(taken_interfaces)
    ]
    raise_all(errors)


def build(plan: LabPlan, state: NetnsState, progress: Progress) -> NetnsState:
    """Create the network, boot the nodes and wait until they answer; return the state with the processes.

    The caller removes the lab after an error.
    """
    state_path = lab_state_file(plan.place)
    state.runtime.mkdir(mode=0o755)
    write_files(plan.place, state, plan.configurations)
    progress(f"creating {counted(len(plan.topology.links), 'link')}")
    create_network(plan, state)
    progress(f"booting {counted(len(plan.models), 'switch')}")
    for node in state.switches():
        state = state.with_processes(boot_switch(state, node))
        save_state(state_path, state)
    wait_until_ready({node.name: node_directory(state, node.name) for node in state.switches()}, state.processes)
    progress("starting SSH and gNMI")
    state = state.with_processes(_start_agent(plan.place, state))
    save_state(state_path, state)
    start_ssh_servers(plan.place, state, state.switches())
    wait_for_servers(state, state.switches())
    return state


def create_network(plan: LabPlan, state: NetnsState) -> None:
    """Create namespaces, links, the management bridge, addresses and routes."""
    ip_batch([f"netns add {node.namespace}" for node in state.nodes])
    for node in state.nodes:
        namespaces.set_sysctls(node.namespace, ANY_NODE if node.address is None else SWITCH)
    names = LabNames(state.tag)
    addresses = {node.name: node.address for node in state.nodes if node.address is not None}
    ip_batch(cable_commands(plan.topology, plan.models, names) + management_commands(names, state.gateway, addresses))
    for node in state.nodes:
        model = plan.models.get(node.name)
        devices = [*uncabled_commands(plan.topology, model), *device_commands(model, missing_kinds())] if model else ()
        for version, lines in node_commands(plan.topology, node.name, node.address, devices).items():
            ip_batch(lines, namespace=node.namespace, version=version)


def boot_switch(state: NetnsState, node: LabNode) -> Process:
    """Start the first process of a switch."""
    root = node_directory(state, node.name)
    return boot(root, name=node.name, namespace=node.namespace, tag=state.tag)


def start_ssh_servers(place: LabPlace, state: NetnsState, nodes: Iterable[LabNode]) -> None:
    """Start the SSH servers of running switches. Raises LabError."""
    files = [str(lab_state_file(place).resolve()), str(secret_files(place)["credentials"].resolve())]
    module = [sys.executable, "-m", "railfab.lab.netns.ssh_servers"]
    done = programs.run(["env", f"{MARK}={state.tag}", *module, *files, *(node.name for node in nodes)])
    if done.returncode:
        reason = (done.stderr.strip().splitlines() or ["no output"])[-1]
        raise LabError("SSH servers", f"did not start ({reason})", "Run `railfab lab doctor`")


def _start_agent(place: LabPlace, state: NetnsState) -> Process:
    """Start the gNMI agent of all switches."""
    files = [str(lab_state_file(place).resolve()), str(secret_files(place)["credentials"].resolve())]
    with (state.runtime / "agent.log").open("ab") as log:
        started = subprocess.Popen(
            [sys.executable, "-m", "railfab.lab.agent", *files],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=programs.environment(**{MARK: state.tag}),
            start_new_session=True,
        )
    return process(AGENT, started.pid, state.runtime / "agent.log")


def wait_for_servers(state: NetnsState, nodes: Iterable[LabNode]) -> None:
    """Wait until these switches answer SSH and gNMI. Raises LabError."""
    deadline = time.monotonic() + ANSWER_WITHIN_S
    waiting = [probe for node in nodes for probe in server_probes(node)]
    while waiting := unanswered(waiting):
        ended = [process.purpose for process in state.processes if not processes.is_running(process)]
        if ended or time.monotonic() > deadline:
            probe = waiting[0]
            problem = f"{ended[0]} has ended" if ended else f"no answer after {ANSWER_WITHIN_S:.0f} s"
            tail = log_tail(_log(state, probe))
            raise LabError(f"{probe.node} {probe.service}", f"{problem} ({tail})", "Run `railfab lab doctor`")
        time.sleep(0.1)


def server_probes(node: LabNode) -> tuple[Probe, ...]:
    """Questions to the SSH and gNMI servers of a switch."""
    host = address(node)
    return (ssh_probe(node.name, host, SSH_PORT), gnmi_probe(node.name, host, GNMI_PORT))


def _log(state: NetnsState, probe: Probe) -> Path:
    return node_directory(state, probe.node) / "log" if probe.service == "SSH" else state.runtime / "agent.log"


def publish(place: LabPlace, state: NetnsState) -> Endpoints:
    """Write the endpoints file of a running lab."""
    running = endpoints(place, state)
    save_endpoints(place.endpoints_file, running)
    return running


def remove(place: LabPlace, progress: Progress) -> None:
    """Remove processes, links, namespaces and files of a lab, identified by its tag and not by its state file."""
    names = lab_names(place)
    processes.kill_marked(names.tag)
    _delete("link", filter(names.owns, namespaces.interface_names()))
    own_namespaces = sorted(filter(names.owns, namespaces.namespace_names()))
    for line in _foreign_processes(own_namespaces):
        progress(line)
    _delete("netns", own_namespaces)
    remove_files(place, names, lab_state_file(place))


def _delete(what: str, names: Iterable[str]) -> None:
    ip_batch([f"{what} del {name}" for name in sorted(names)])


def _foreign_processes(names: Iterable[str]) -> list[str]:
    """Progress lines about other users' processes in namespaces of the lab, which are not killed."""
    found = {name: namespaces.pids_in(name) for name in names}
    return [f"not killed in {name}: process {', '.join(map(str, pids))}" for name, pids in found.items() if pids]
