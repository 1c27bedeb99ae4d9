"""The endpoints file: addresses and ports of the switches of a running lab, twin or inventory.

A lab or a twin writes `<state>/<fabric>.<lab|twin>.json`; `deploy`, `verify` and `collect` read it. It refers to
secrets (a file, an environment variable) and never contains one.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import yaml

from railfab.errors import EndpointError, raise_all

VERSION = 1
STATE_DIR = Path(".railfab")
"""State directory of labs and twins where no other is named."""
PART = ".part"
"""Ending of a file that is being written; one that a killed process left is no content."""
MAX_CHARACTERS = 50_000_000
"""Limit of what is read of an endpoints file: more than any fabric needs, and an end for endless files."""
IN_HOST_DATA = ("gnmi_port", "ca", "known_hosts", "credentials", "skip_verify", "owns_system")
"""Keys that a host of a Nornir hosts.yml has under `data`."""


@dataclass(frozen=True, slots=True)
class Credentials:
    """A user name and a password; `repr()` hides the secrets.

    key_file: OpenSSH private key for SSH; the password is then only used by gNMI, and may be empty.
    aaa_secret: shared with the AAA servers; a deploy sends it with a server that is new on the switch, beside the
        configuration text, which never has it. None where the operator sets it on the switch.
    """

    username: str
    password: str
    key_file: str | None = None
    aaa_secret: str | None = None

    def __repr__(self) -> str:
        return f"Credentials(username={self.username!r}, password=<hidden>)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoint:
    """Address, ports and credentials of one switch.

    ca: PEM file of the CA that signed the gNMI certificate of the switch; None for the trust store of the system.
    known_hosts: OpenSSH known_hosts file; None for that of the user.
    credentials: `env:PREFIX` (variables PREFIX_USERNAME and PREFIX_PASSWORD) or the path of a YAML file
        with `username` and `password`; PREFIX_KEY_FILE or `key_file` names an SSH key, in addition or instead.
        PREFIX_AAA_SECRET or `aaa_secret` is the secret of new AAA servers.
    skip_verify: do not verify the certificate and host key of this target.
    owns_system: whether a deploy also sets what the operating system below the configuration has, such as the MTU of a
        Linux port. True for a switch of a lab; elsewhere the system has an owner, such as the network configuration of
        the distribution, and `verify` names what differs.
    """

    name: str
    platform: str
    host: str
    ssh_port: int | None = None
    gnmi_port: int | None = None
    ca: str | None = None
    known_hosts: str | None = None
    credentials: str = "env:RAILFAB"
    skip_verify: bool = False
    owns_system: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """The switches of one running fabric. backend: `twin`, `netns`, `containerlab` or `inventory`."""

    fabric: str
    backend: str
    nodes: tuple[Endpoint, ...]

    def by_name(self) -> dict[str, Endpoint]:
        return {node.name: node for node in self.nodes}


def state_file(state: Path, fabric: str, kind: str) -> Path:
    """Path of the endpoints file of a lab (`lab`) or a twin (`twin`) of this fabric."""
    return state / f"{fabric}.{kind}.json"


def state_option(state: Path) -> str:
    """The option `--state` of a command, after a space, where the directory is not the default one."""
    return "" if state == STATE_DIR else f" --state {shlex.quote(str(state))}"


def give_to_caller(path: Path) -> None:
    """Change the owner of a file that sudo wrote to the user who called sudo."""
    uid, gid = os.environ.get("SUDO_UID"), os.environ.get("SUDO_GID")
    if os.geteuid() == 0 and uid and gid:
        os.chown(path, int(uid), int(gid), follow_symlinks=False)


def make_folder(path: Path) -> None:
    """Make a folder and its missing parents, each owned by the user who called sudo. Raises OSError."""
    if path.is_dir():
        return
    make_folder(path.parent)
    try:
        path.mkdir(exist_ok=True)
    except FileExistsError:
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path)) from None
    give_to_caller(path)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner can read, atomically; missing folders are made, from several threads too."""
    make_folder(path.parent)
    part = path.with_name(path.name + PART)
    part.unlink(missing_ok=True)
    try:
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(text)
        give_to_caller(part)
        part.replace(path)
    except OSError:
        part.unlink(missing_ok=True)
        raise


def save_endpoints(path: Path, endpoints: Endpoints) -> None:
    """Write the endpoints file."""
    write_private(path, json.dumps({"version": VERSION, **asdict(endpoints)}, indent=2) + "\n")


def load_endpoints(path: Path) -> Endpoints:
    """Read an endpoints file, or a Nornir SimpleInventory `hosts.yml`.

    Raises EndpointError, or Problems, when the file does not exist or is neither.
    """
    document = _document(path)
    try:
        endpoints = _from_document(document) if "nodes" in document else _from_hosts(path.stem, document)
    except (KeyError, TypeError, ValueError) as error:
        remedy = "Each node needs name, platform and host; each host of a hosts.yml hostname and platform"
        raise EndpointError(str(path), f"the file is not a list of endpoints ({error})", remedy) from None
    raise_all([EndpointError(f"{path}: {node.name}", *fault) for node in endpoints.nodes for fault in _faults(node)])
    duplicates = sorted(name for name, count in Counter(node.name for node in endpoints.nodes).items() if count > 1)
    if duplicates:
        raise EndpointError(str(path), f"duplicate names: {', '.join(duplicates)}", "Keep one entry of each")
    return endpoints


def _document(path: Path) -> dict[str, Any]:
    """The mapping in a YAML or JSON file."""
    try:
        with path.open(encoding="utf-8") as file:
            document = yaml.safe_load(file.read(MAX_CHARACTERS))
    except FileNotFoundError:
        raise EndpointError(str(path), "no such file", "Start the lab or the twin first, or name a file") from None
    except OSError as error:
        problem = f"the file cannot be read ({(error.strerror or str(error)).lower()})"
        raise EndpointError(str(path), problem, "Check its permissions") from None
    except UnicodeDecodeError:
        remedy = "Name an endpoints file or a Nornir hosts.yml"
        raise EndpointError(str(path), "the file is not UTF-8 text", remedy) from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        problem = f"invalid YAML ({str(error).splitlines()[0]})"
        raise EndpointError(str(path), problem, "Correct its syntax") from None
    if not isinstance(document, dict):
        remedy = "Name an endpoints file or a Nornir hosts.yml"
        raise EndpointError(str(path), "the file contains no mapping", remedy)
    return document


def _from_document(document: Mapping[str, Any]) -> Endpoints:
    if document["version"] != VERSION:
        raise ValueError(f"version is {document['version']}, not {VERSION}")
    if not isinstance(document["nodes"], list) or not all(isinstance(node, dict) for node in document["nodes"]):
        raise TypeError("nodes is not a list of mappings")
    nodes = tuple(Endpoint(**node) for node in document["nodes"])
    return Endpoints(fabric=document["fabric"], backend=document["backend"], nodes=nodes)


def _from_hosts(fabric: str, hosts: Mapping[str, Any]) -> Endpoints:
    """The hosts of a Nornir SimpleInventory file; gNMI port, files and credentials are in `data`."""
    nodes = []
    for name, host in hosts.items():
        if not isinstance(host, dict):
            raise TypeError(f"{name} is not a mapping")
        extra = host.get("data") or {}
        if not isinstance(extra, dict):
            raise TypeError(f"data of {name} is not a mapping")
        known = {key: extra[key] for key in IN_HOST_DATA if key in extra}
        nodes.append(
            Endpoint(name=name, platform=host["platform"], host=host["hostname"], ssh_port=host.get("port"), **known)
        )
    return Endpoints(fabric=fabric, backend="inventory", nodes=tuple(nodes))


def _faults(node: Endpoint) -> Iterator[tuple[str, str]]:
    """(problem, remedy) of each value of a wrong type or range."""
    for key in ("name", "platform", "host", "credentials"):
        if not isinstance(value := getattr(node, key), str) or not value:
            yield f"{key} {value!r} is not a text", "Write a text"
    for key in ("ca", "known_hosts"):
        if not isinstance(value := getattr(node, key), str | None):
            yield f"{key} {value!r} is not a path", "Name a file"
    for key in ("ssh_port", "gnmi_port"):
        value = getattr(node, key)
        if value is not None and (type(value) is not int or not 1 <= value <= 65_535):
            yield f"{key} {value!r} is not a port number", "Use 1 to 65535"
    for key in ("skip_verify", "owns_system"):
        if not isinstance(value := getattr(node, key), bool):
            yield f"{key} {value!r} is not a boolean", "Use true or false"


def read_credentials(endpoint: Endpoint) -> Credentials:
    """Read the user and password that an endpoint refers to. Raises EndpointError if they are missing."""
    source = endpoint.credentials
    if source.startswith("env:"):
        prefix = source.removeprefix("env:")
        key_file = os.environ.get(f"{prefix}_KEY_FILE")
        missing = [f"{prefix}_{word}" for word in _required(key_file) if f"{prefix}_{word}" not in os.environ]
        if missing:
            problem = f"the environment lacks {' and '.join(missing)}"
            raise EndpointError(endpoint.name, problem, "Export what is missing")
        return Credentials(
            os.environ[f"{prefix}_USERNAME"],
            os.environ.get(f"{prefix}_PASSWORD", ""),
            key_file,
            os.environ.get(f"{prefix}_AAA_SECRET"),
        )
    path = Path(source)
    try:
        document = yaml.safe_load(path.read_text())
        key_file = document.get("key_file")
        username, *password = (str(document[word.lower()]) for word in _required(key_file))
        secret = document.get("aaa_secret")
        return Credentials(
            username,
            password[0] if password else str(document.get("password", "")),
            key_file,
            None if secret is None else str(secret),
        )
    except (OSError, yaml.YAMLError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        remedy = "Write username and password into it, as YAML"
        raise EndpointError(endpoint.name, f"{path} contains no credentials", remedy) from None


def _required(key_file: str | None) -> tuple[str, ...]:
    """The values that are required: a key replaces the password."""
    return ("USERNAME",) if key_file else ("USERNAME", "PASSWORD")
