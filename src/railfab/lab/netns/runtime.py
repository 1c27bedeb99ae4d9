"""Files of a lab: node directories under /run, keys, passwords and certificates."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

import yaml

from railfab.endpoints import Endpoint, Endpoints, write_private
from railfab.errors import LabError
from railfab.gnmi.certificates import Authority
from railfab.lab.contract import LabPlace, Progress
from railfab.lab.netns.names import LabNames
from railfab.lab.netns.node import create_directories
from railfab.lab.netns.state import LabNode, NetnsState
from railfab.ssh.host_key import new_host_key

RUNTIME = Path("/run/railfab")
SSH_PORT = 22
GNMI_PORT = 57400
PLATFORM = "frr"
"""The platform whose daemons run in the namespaces."""
USERNAME = "root"
"""vtysh and frr-reload.py need root."""

PASSWORD_BYTES = 18
LOCK_WITHIN_S = 300.0


def runtime_of(names: LabNames) -> Path:
    """The directory of a lab under /run."""
    return RUNTIME / names.tag


@contextmanager
def lab_lock(progress: Progress) -> Iterator[None]:
    """Lock that allows one change of a lab on this machine at a time; released when the process ends.

    Raises LabError when another process does not release it in time.
    """
    RUNTIME.mkdir(mode=0o755, exist_ok=True)
    with (RUNTIME / "lock").open("a+") as lock:
        _wait_for_lock(lock, progress)
        lock.truncate(0)
        lock.write(str(os.getpid()))
        lock.flush()
        yield


def _wait_for_lock(lock: TextIO, progress: Progress) -> None:
    """Lock the file, which contains the pid of the process that holds the lock."""
    deadline, holder = time.monotonic() + LOCK_WITHIN_S, ""
    while True:
        try:
            return fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            before, holder = holder, lock.read().strip()
        if holder != before:
            progress(f"waiting for process {holder}, which changes a lab")
        if time.monotonic() > deadline:
            problem = f"process {holder} has been changing a lab for {LOCK_WITHIN_S:.0f} s"
            raise LabError("lab", problem, f"Wait for it, or end it with kill {holder}")
        time.sleep(0.1)


def node_directory(state: NetnsState, node: str) -> Path:
    """The private directory of one switch."""
    return state.runtime / node


def secret_files(place: LabPlace) -> dict[str, Path]:
    """Files of a lab beside its endpoints file: `credentials`, `known_hosts` and `ca`."""
    names = {"credentials": "credentials.yml", "known_hosts": "known_hosts", "ca": "ca.pem"}
    return {kind: place.state / f"{place.fabric}.lab.{suffix}" for kind, suffix in names.items()}


def write_files(place: LabPlace, state: NetnsState, configurations: Mapping[str, str]) -> None:
    """Write the files of switches and clients: directories, host keys, certificates and a password."""
    for node in state.switches():
        create_directories(
            node_directory(state, node.name), name=node.name, configuration=configurations.get(node.name)
        )
    paths = secret_files(place)
    login = {"username": USERNAME, "password": secrets.token_urlsafe(PASSWORD_BYTES)}
    write_private(paths["credentials"], yaml.safe_dump(login))
    write_private(paths["known_hosts"], "".join(_host_key(state, node) for node in state.switches()))
    write_private(paths["ca"], _certify(state).decode())


def _host_key(state: NetnsState, node: LabNode) -> str:
    """Create the SSH host key of a switch; return its line for known_hosts."""
    private, public = new_host_key()
    _write_root_only(node_directory(state, node.name) / "ssh_host_key", private)
    return f"{address(node)} {public}\n"


def _certify(state: NetnsState) -> bytes:
    """Issue a certificate to each switch; return the CA certificate. The CA key is not stored."""
    authority = Authority(state.fabric)
    for node in state.switches():
        identity = authority.issue(node.name, [address(node)])
        _write_root_only(node_directory(state, node.name) / "gnmi.crt", identity.certificate)
        _write_root_only(node_directory(state, node.name) / "gnmi.key", identity.key)
    return authority.certificate


def _write_root_only(path: Path, content: bytes) -> None:
    """Write a file that only root can read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def address(node: LabNode) -> str:
    """Management address of a switch, as text."""
    return str(node.address.ip) if node.address else ""


def endpoints(place: LabPlace, state: NetnsState) -> Endpoints:
    """Endpoints of the switches of a running lab."""
    files = {kind: str(path.resolve()) for kind, path in secret_files(place).items()}
    nodes = (
        Endpoint(
            name=node.name,
            platform=PLATFORM,
            host=address(node),
            ssh_port=SSH_PORT,
            gnmi_port=GNMI_PORT,
            ca=files["ca"],
            known_hosts=files["known_hosts"],
            credentials=files["credentials"],
            owns_system=True,
        )
        for node in state.switches()
    )
    return Endpoints(fabric=state.fabric, backend="netns", nodes=tuple(nodes))


def remove_files(place: LabPlace, names: LabNames, state_path: Path) -> None:
    """Remove every file of a lab, the state file last, so that an interrupted removal can be repeated."""
    if runtime_of(names).exists():
        shutil.rmtree(runtime_of(names))
    for path in (place.endpoints_file, *secret_files(place).values(), state_path):
        path.unlink(missing_ok=True)
