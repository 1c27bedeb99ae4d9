"""How a lab of containers comes to be reachable, and goes: what stands around containerlab's own verbs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from railfab.endpoints import Endpoint, Endpoints, save_endpoints, write_private
from railfab.errors import LabError
from railfab.gnmi.certificates import Authority
from railfab.lab.backend import LabPlan
from railfab.lab.containerlab.binary import Container
from railfab.lab.containerlab.gateway import LOOPBACK, Ports, read_ports
from railfab.lab.containerlab.hostkeys import host_key_lines
from railfab.lab.containerlab.state import Behind, Files, LabState, save_state
from railfab.lab.netns import kernel
from railfab.lab.netns.node import silent_daemons
from railfab.lab.netns.runtime import GNMI_PORT, PASSWORD_BYTES, SSH_PORT
from railfab.platforms import LabFacts, platform

GATEWAY = "gateway"
GATEWAY_PROGRAM = "from railfab.lab.containerlab.gateway import main; main()"
"""Not `python -m`, which would load this room's module a second time, and log a warning of it."""

LISTENS_WITHIN_S = 60.0
DAEMONS_WITHIN_S = 120.0
RESTARTED = "restarted since, and a restarted container has lost its links"
REMOVE_FIRST = "Run `railfab lab down`, then up again"


def answers_itself(facts: LabFacts) -> bool:
    """Whether the image has servers of its own, with the password its publisher documents."""
    return facts.password is not None


def require_running(found: Iterable[Container], names: Iterable[str]) -> dict[str, Container]:
    """The containers by node. Raises LabError when one is missing or not running."""
    by_node = {container.node: container for container in found}
    for name in names:
        container = by_node.get(name)
        if container is None or container.state != "running":
            problem = "has no container" if container is None else f"is {container.state} ({container.status})"
            raise LabError(f"node {name}", problem, "Look at `docker logs` of it, then run `railfab lab down`")
    return by_node


def require_unrestarted(found: Mapping[str, Container], state: LabState) -> None:
    """Raises LabError when a switch was started again since it was cabled: nothing answers for it any more."""
    for node in state.behind:
        if found[node.name].pid != node.pid:
            raise LabError(f"node {node.name}", RESTARTED, REMOVE_FIRST)


def furnish(plan: LabPlan, files: Files) -> None:
    """Write passwords, host keys and certificates, before anything listens."""
    authority = Authority(plan.place.fabric)
    write_private(files.ca, authority.certificate.decode())
    for name in sorted({model.platform for model in plan.models.values()}):
        facts = platform(name).lab
        login = {"username": facts.username, "password": facts.password or os.urandom(PASSWORD_BYTES).hex()}
        write_private(files.credentials(name), yaml.safe_dump(login))
    for node in _behind_names(plan):
        identity, keys = authority.issue(node), files.keys(node)
        write_private(keys / "gnmi.crt", identity.certificate.decode())
        write_private(keys / "gnmi.key", identity.key.decode())
        key = Ed25519PrivateKey.generate()
        private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
        write_private(keys / "ssh_host_key", private.decode())
        public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH)
        write_private(keys / "ssh_host_key.pub", public.decode() + "\n")


def _behind_names(plan: LabPlan) -> list[str]:
    """Switches whose containers have no servers of their own."""
    return [name for name, model in plan.models.items() if not answers_itself(platform(model.platform).lab)]


def open_gateway(plan: LabPlan, files: Files, found: Mapping[str, Container]) -> LabState:
    """Start the gateway for the switches that need it, and wait until it listens; the lab's state, saved."""
    behind = tuple(_behind(plan, found[name]) for name in _behind_names(plan))
    state = LabState(fabric=plan.place.fabric, gateway=None, behind=behind)
    save_state(files.state, state)
    if not behind:
        return state
    wait_for_daemons(behind)
    files.listening.unlink(missing_ok=True)
    gateway = _start_gateway(files)
    state = LabState(fabric=state.fabric, gateway=gateway, behind=behind)
    save_state(files.state, state)
    _wait_for(files, gateway)
    return state


def _behind(plan: LabPlan, container: Container) -> Behind:
    started = kernel.started(container.pid) if container.pid else None
    if container.pid is None or started is None:
        remedy = "Run this as root, on the machine of the Docker daemon"
        raise LabError(f"node {container.node}", "shows no process on this machine", remedy)
    model = plan.models[container.node]
    return Behind(name=container.node, platform=model.platform, pid=container.pid, started=started)


def wait_for_daemons(behind: Iterable[Behind], within_s: float = DAEMONS_WITHIN_S) -> None:
    """Wait until every switch can be configured; FRR starts when its ports are there. Raises LabError."""
    deadline = time.monotonic() + within_s
    for node in behind:
        while silent := silent_daemons(node.sockets):
            ended = not kernel.is_running(node.process)
            if ended or time.monotonic() > deadline:
                problem = "its container has ended" if ended else f"{', '.join(silent)} does not answer"
                raise LabError(f"node {node.name}", problem, "Look at `docker logs` of it, then run `railfab lab down`")
            time.sleep(0.1)


def _start_gateway(files: Files) -> kernel.Process:
    place = files.place
    with files.gateway_log.open("ab") as log:
        started = subprocess.Popen(
            [sys.executable, "-c", GATEWAY_PROGRAM, place.fabric, str(place.state.resolve())],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    return kernel.process(GATEWAY, started.pid)


def _wait_for(files: Files, gateway: kernel.Process) -> None:
    deadline = time.monotonic() + LISTENS_WITHIN_S
    while not files.listening.exists():
        if not kernel.is_running(gateway) or time.monotonic() > deadline:
            raise LabError("lab gateway", f"does not listen ({last_line(files.gateway_log)})", REMOVE_FIRST)
        time.sleep(0.05)


def last_line(log: Path) -> str:
    """The last thing a log says."""
    lines = log.read_text(errors="replace").strip().splitlines() if log.exists() else []
    return lines[-1] if lines else "its log is empty"


def close_gateway(state: LabState | None) -> None:
    """End the gateway of a lab."""
    if state is not None and state.gateway is not None:
        kernel.kill([state.gateway])


def publish(plan: LabPlan, files: Files, found: Mapping[str, Container]) -> Endpoints:
    """Write known_hosts and the endpoints file of a lab that runs."""
    ports = read_ports(files.listening)
    nodes = tuple(_endpoint(files, found[name], model.platform, ports) for name, model in plan.models.items())
    write_private(files.known_hosts, "".join(_known_hosts(files, nodes, ports)))
    running = Endpoints(fabric=plan.place.fabric, backend="containerlab", nodes=nodes)
    save_endpoints(plan.place.endpoints_file, running)
    return running


def _endpoint(files: Files, container: Container, platform_name: str, ports: Mapping[str, Ports]) -> Endpoint:
    behind = ports.get(container.node)
    if behind is None and container.ipv4 is None:
        raise LabError(f"node {container.node}", "has no management address", "Give its network an IPv4 range")
    return Endpoint(
        name=container.node,
        platform=platform_name,
        host=LOOPBACK if behind else str(container.ipv4),
        ssh_port=behind.ssh if behind else SSH_PORT,
        gnmi_port=behind.gnmi if behind else GNMI_PORT,
        ca=str(files.ca if behind else files.lab_directory / ".tls" / "ca" / "ca.pem"),
        known_hosts=str(files.known_hosts),
        credentials=str(files.credentials(platform_name)),
    )


def _known_hosts(files: Files, nodes: Sequence[Endpoint], ports: Mapping[str, Ports]) -> list[str]:
    """Host keys: of switches behind the gateway as we made them, of others as they show them at boot."""
    own = [
        f"[{LOOPBACK}]:{ports[node.name].ssh} {(files.keys(node.name) / 'ssh_host_key.pub').read_text()}"
        for node in nodes
        if node.name in ports
    ]
    return own + host_key_lines([node.host for node in nodes if node.name not in ports])


def forget(files: Files) -> None:
    """Remove every file of a lab, the state last."""
    if files.folder.exists():
        shutil.rmtree(files.folder)
    files.place.endpoints_file.unlink(missing_ok=True)
    files.state.unlink(missing_ok=True)
