"""The private files of a lab: one directory under /run for its nodes, and keys, passwords and certificates."""

from __future__ import annotations

import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import yaml
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from railfab.endpoints import Endpoint, Endpoints, write_private
from railfab.gnmi.certificates import Authority
from railfab.lab.backend import LabPlace
from railfab.lab.netns.names import LabNames
from railfab.lab.netns.node import lay_out
from railfab.lab.netns.state import LabNode, LabState

RUNTIME = Path("/run/railfab")
SSH_PORT = 22
GNMI_PORT = 57400
USERNAME = "root"
"""vtysh and frr-reload.py need it, as on a switch."""

PASSWORD_BYTES = 18


def runtime_of(names: LabNames) -> Path:
    """The directory of a lab under /run."""
    return RUNTIME / names.tag


@contextmanager
def exclusive() -> Iterator[None]:
    """Only one lab of this machine is brought up or taken down at a time; the lock ends with the process."""
    RUNTIME.mkdir(mode=0o755, exist_ok=True)
    with (RUNTIME / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def node_root(state: LabState, node: str) -> Path:
    """The private directory of one switch."""
    return state.runtime / node


def private_files(place: LabPlace) -> dict[str, Path]:
    """What a lab keeps beside its endpoints file: `credentials`, `known_hosts` and `ca`."""
    names = {"credentials": "credentials.yml", "known_hosts": "known_hosts", "ca": "ca.pem"}
    return {kind: place.state / f"{place.fabric}.lab.{suffix}" for kind, suffix in names.items()}


def furnish(place: LabPlace, state: LabState, configurations: Mapping[str, str]) -> None:
    """Write everything that the switches and their clients read: directories, host keys, certificates, a password."""
    for node in state.switches():
        lay_out(node_root(state, node.name), name=node.name, configuration=configurations.get(node.name))
    paths = private_files(place)
    login = {"username": USERNAME, "password": secrets.token_urlsafe(PASSWORD_BYTES)}
    write_private(paths["credentials"], yaml.safe_dump(login))
    write_private(paths["known_hosts"], "".join(_host_key(state, node) for node in state.switches()))
    write_private(paths["ca"], _certify(state).decode())


def _host_key(state: LabState, node: LabNode) -> str:
    """Make a switch's SSH host key; its line for known_hosts."""
    key = Ed25519PrivateKey.generate()
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption())
    _write_own(node_root(state, node.name) / "ssh_host_key", pem)
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    return f"{address(node)} {public}\n"


def _certify(state: LabState) -> bytes:
    """Issue a certificate to each switch; the authority's own certificate. Its key is gone when this returns."""
    authority = Authority(state.fabric)
    for node in state.switches():
        identity = authority.issue(node.name, [address(node)])
        _write_own(node_root(state, node.name) / "gnmi.crt", identity.certificate)
        _write_own(node_root(state, node.name) / "gnmi.key", identity.key)
    return authority.certificate


def _write_own(path: Path, content: bytes) -> None:
    """Write a file that root alone can read: nothing under /run/railfab is the sudo caller's."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)


def address(node: LabNode) -> str:
    """Management address of a switch, as text."""
    return str(node.address.ip) if node.address else ""


def endpoints(place: LabPlace, state: LabState) -> Endpoints:
    """How the switches of a running lab are reached."""
    files = {kind: str(path.resolve()) for kind, path in private_files(place).items()}
    nodes = (
        Endpoint(
            name=node.name,
            platform="frr",
            host=address(node),
            ssh_port=SSH_PORT,
            gnmi_port=GNMI_PORT,
            ca=files["ca"],
            known_hosts=files["known_hosts"],
            credentials=files["credentials"],
        )
        for node in state.switches()
    )
    return Endpoints(fabric=state.fabric, backend="netns", nodes=tuple(nodes))


def forget(place: LabPlace, names: LabNames, state_path: Path) -> None:
    """Remove every file of a lab, the state last: a crash before that leaves the lab known."""
    if runtime_of(names).exists():
        shutil.rmtree(runtime_of(names))
    for path in (place.endpoints_file, *private_files(place).values(), state_path):
        path.unlink(missing_ok=True)
