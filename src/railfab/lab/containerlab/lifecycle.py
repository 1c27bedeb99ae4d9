"""Steps around `containerlab deploy` and `destroy`: credentials, gateway, endpoints and removal of files."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from railfab.endpoints import Endpoint, Endpoints, save_endpoints, write_private
from railfab.errors import LabError
from railfab.gnmi.certificates import Authority
from railfab.lab.containerlab.binary import Container
from railfab.lab.containerlab.gateway import LOOPBACK, Ports, read_ports
from railfab.lab.containerlab.host_keys import host_key_lines
from railfab.lab.containerlab.state import ContainerlabState, GatewaySwitch, LabPaths, save_state
from railfab.lab.contract import LabPlan
from railfab.lab.daemons import restart_daemon, restarted_with
from railfab.lab.netns import processes
from railfab.lab.netns.node import DAEMONS, unresponsive_daemons
from railfab.lab.netns.runtime import GNMI_PORT, PASSWORD_BYTES, SSH_PORT
from railfab.lab.probes import daemon_probe, failed_services, gnmi_probe, ssh_probe
from railfab.platforms import LabFacts, platform
from railfab.ssh.host_key import new_host_key

GATEWAY = "gateway"
GATEWAY_PROGRAM = "from railfab.lab.containerlab.gateway import main; main()"
"""Not `python -m`, which would import this module twice and log a warning."""

LISTENS_WITHIN_S = 60.0
DAEMONS_WITHIN_S = 120.0
FRR_SCRIPT = "/usr/lib/frr/watchfrr.sh"
"""Starts a daemon with the options in /etc/frr/daemons and loads its configuration (FRR tools/watchfrr.sh)."""
RESTARTED = "was restarted, and a restarted container loses its links"
RESTART_LAB = "Run `railfab lab down`, then `railfab lab up`; `railfab lab restart` keeps the links"


def has_own_servers(facts: LabFacts) -> bool:
    """Whether the image has its own SSH and gNMI servers, with a password documented by its publisher."""
    return facts.password is not None


def require_running(found: Iterable[Container], names: Iterable[str]) -> dict[str, Container]:
    """The containers by node. Raises LabError when one is missing or not running."""
    by_node = {container.node: container for container in found}
    for name in names:
        container = by_node.get(name)
        if container is None or container.state != "running":
            problem = "has no container" if container is None else f"is {container.state} ({container.status})"
            raise LabError(f"node {name}", problem, "Check its `docker logs`, then run `railfab lab down`")
    return by_node


def require_unrestarted(found: Mapping[str, Container], state: ContainerlabState) -> None:
    """Raise LabError when a switch was restarted, because its links and its servers are lost then."""
    for node in state.gateway_switches:
        if found[node.name].pid != node.pid:
            raise LabError(f"node {node.name}", RESTARTED, RESTART_LAB)


def write_credentials(plan: LabPlan, files: LabPaths) -> None:
    """Write passwords, host keys and certificates."""
    authority = Authority(plan.place.fabric)
    write_private(files.ca, authority.certificate.decode())
    for name in sorted({model.platform for model in plan.models.values()}):
        facts = platform(name).lab
        login = {"username": facts.username, "password": facts.password or os.urandom(PASSWORD_BYTES).hex()}
        write_private(files.credentials(name), yaml.safe_dump(login))
    for node in _gateway_switch_names(plan):
        identity, keys = authority.issue(node), files.keys(node)
        write_private(keys / "gnmi.crt", identity.certificate.decode())
        write_private(keys / "gnmi.key", identity.key.decode())
        private, public = new_host_key()
        write_private(keys / "ssh_host_key", private.decode())
        write_private(keys / "ssh_host_key.pub", public + "\n")


def _gateway_switch_names(plan: LabPlan) -> list[str]:
    """Names of the switches without their own servers."""
    return [name for name, model in plan.models.items() if not has_own_servers(platform(model.platform).lab)]


def open_gateway(plan: LabPlan, files: LabPaths, found: Mapping[str, Container]) -> ContainerlabState:
    """Start the gateway for the switches that need it, wait until it listens, and save the state."""
    switches = tuple(_gateway_switch(plan, found[name]) for name in _gateway_switch_names(plan))
    state = ContainerlabState(fabric=plan.place.fabric, gateway=None, gateway_switches=switches)
    save_state(files.state, state)
    if not switches:
        return state
    wait_for_daemons(switches)
    files.listening.unlink(missing_ok=True)
    gateway = _start_gateway(files)
    state = ContainerlabState(fabric=state.fabric, gateway=gateway, gateway_switches=switches)
    save_state(files.state, state)
    _wait_for(files, gateway)
    return state


def _gateway_switch(plan: LabPlan, container: Container) -> GatewaySwitch:
    started = processes.started(container.pid) if container.pid else None
    if container.pid is None or started is None:
        remedy = "Run the command as root, on the machine of the Docker daemon"
        raise LabError(f"node {container.node}", "has no process on this machine", remedy)
    model = plan.models[container.node]
    return GatewaySwitch(name=container.node, platform=model.platform, pid=container.pid, started=started)


def wait_for_daemons(switches: Iterable[GatewaySwitch], within_s: float = DAEMONS_WITHIN_S) -> None:
    """Wait until FRR of every switch can be configured; it starts when the ports exist. Raises LabError."""
    deadline = time.monotonic() + within_s
    for node in switches:
        while failed := unresponsive_daemons(node.sockets):
            ended = not processes.is_running(node.process)
            if ended or time.monotonic() > deadline:
                problem = "its container has ended" if ended else f"no answer from {', '.join(failed)}"
                raise LabError(f"node {node.name}", problem, "Check its `docker logs`, then run `railfab lab down`")
            time.sleep(0.1)


def restart_one_daemon(state: ContainerlabState, node: str, daemon: str) -> None:
    """Restart a daemon of FRR with the image's own script. Raises LabError."""
    switch = next((found for found in state.gateway_switches if found.name == node), None)
    if switch is None:
        problem = "runs no daemons of FRR"
        raise LabError(f"switch {node}", problem, f"Run `railfab lab restart {node}` without --daemon")
    for name in restarted_with(daemon, DAEMONS):
        restart_daemon(
            node,
            name,
            first_process=switch.pid,
            sockets=switch.sockets,
            log=Path("/dev/null"),
            start=[FRR_SCRIPT, "start", name],
        )


def unanswering_services(files: LabPaths, state: ContainerlabState) -> dict[str, list[str]]:
    """FRR daemons and servers of the gateway that do not answer, by switch; all are asked at the same time."""
    ports, probes = read_ports(files.listening), []
    for node in state.gateway_switches:
        probes += [daemon_probe(node.name, daemon, node.sockets) for daemon in DAEMONS]
        if node.name in ports:
            probes.append(ssh_probe(node.name, LOOPBACK, ports[node.name].ssh))
            probes.append(gnmi_probe(node.name, LOOPBACK, ports[node.name].gnmi))
    return failed_services(probes)


def _start_gateway(files: LabPaths) -> processes.Process:
    place = files.place
    with files.gateway_log.open("ab") as log:
        started = subprocess.Popen(
            [sys.executable, "-c", GATEWAY_PROGRAM, place.fabric, str(place.state.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    return processes.process(GATEWAY, started.pid)


def _wait_for(files: LabPaths, gateway: processes.Process) -> None:
    deadline = time.monotonic() + LISTENS_WITHIN_S
    while not files.listening.exists():
        if not processes.is_running(gateway) or time.monotonic() > deadline:
            raise LabError("lab gateway", f"does not listen ({last_line(files.gateway_log)})", RESTART_LAB)
        time.sleep(0.05)


def last_line(log: Path) -> str:
    """The last line of a log."""
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return lines[-1] if lines else "empty log"


def close_gateway(state: ContainerlabState | None) -> None:
    """End the gateway of a lab."""
    if state is not None and state.gateway is not None:
        processes.kill([state.gateway])


def publish(plan: LabPlan, files: LabPaths, found: Mapping[str, Container]) -> Endpoints:
    """Write known_hosts and the endpoints file of a running lab."""
    ports = read_ports(files.listening)
    nodes = tuple(_endpoint(files, found[name], model.platform, ports) for name, model in plan.models.items())
    write_private(files.known_hosts, "".join(_known_hosts(files, nodes, ports)))
    running = Endpoints(fabric=plan.place.fabric, backend="containerlab", nodes=nodes)
    save_endpoints(plan.place.endpoints_file, running)
    return running


def _endpoint(files: LabPaths, container: Container, platform_name: str, ports: Mapping[str, Ports]) -> Endpoint:
    gateway = ports.get(container.node)
    if gateway is None and container.ipv4 is None:
        raise LabError(
            f"node {container.node}", "has no management address", "Set ipv4_subnet in containerlab.yml to a range"
        )
    return Endpoint(
        name=container.node,
        platform=platform_name,
        host=LOOPBACK if gateway else str(container.ipv4),
        ssh_port=gateway.ssh if gateway else SSH_PORT,
        gnmi_port=gateway.gnmi if gateway else GNMI_PORT,
        ca=str(files.ca if gateway else files.lab_directory / ".tls" / "ca" / "ca.pem"),
        known_hosts=str(files.known_hosts),
        credentials=str(files.credentials(platform_name)),
        owns_system=gateway is not None,
    )


def _known_hosts(files: LabPaths, nodes: Sequence[Endpoint], ports: Mapping[str, Ports]) -> list[str]:
    """Lines of known_hosts: generated keys of switches served by the gateway, keys read from the other switches."""
    own = [
        f"[{LOOPBACK}]:{ports[node.name].ssh} {(files.keys(node.name) / 'ssh_host_key.pub').read_text()}"
        for node in nodes
        if node.name in ports
    ]
    return own + host_key_lines([node.host for node in nodes if node.name not in ports])


def remove_files(files: LabPaths) -> None:
    """Remove every file of a lab, the state file last."""
    if files.folder.exists():
        shutil.rmtree(files.folder)
    files.place.endpoints_file.unlink(missing_ok=True)
    files.state.unlink(missing_ok=True)
