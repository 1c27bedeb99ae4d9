"""Host keys of switches, from files that are read once, however many switches a run logs in to."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from railfab.endpoints import Endpoint
from railfab.platforms.shared.login import SSH_PORT

if TYPE_CHECKING:
    from paramiko import SSHClient
    from paramiko.hostkeys import HostKeyEntry

_reading = Lock()


def trust_known_hosts(client: SSHClient, endpoint: Endpoint) -> None:
    """Have a client accept the keys that `known_hosts` has of a switch, and no other; any where it is not verified.

    Raises OSError for a file of the endpoint that cannot be read; your own file may be missing.
    """
    from paramiko import AutoAddPolicy, RejectPolicy

    if endpoint.skip_verify:
        client.set_missing_host_key_policy(AutoAddPolicy())
        return
    client.set_missing_host_key_policy(RejectPolicy())
    path = Path(endpoint.known_hosts) if endpoint.known_hosts else Path("~/.ssh/known_hosts").expanduser()
    if endpoint.known_hosts is None and not path.is_file():
        return
    port = endpoint.ssh_port or SSH_PORT
    name = endpoint.host if port == SSH_PORT else f"[{endpoint.host}]:{port}"
    with _reading:
        known = _read(path, path.stat().st_mtime_ns)
    entries = [*known.get(name, ()), *(hashed for hashed in known.get("", ()) if _names(hashed, name))]
    for entry in reversed(entries):  # of two keys of a kind the first counts
        client.get_host_keys().add(name, entry.key.get_name(), entry.key)


@lru_cache(maxsize=4)
def _read(path: Path, _changed_ns: int) -> dict[str, list[HostKeyEntry]]:
    """The entries of a file by name; those of hashed names under the empty one."""
    from paramiko.hostkeys import HostKeyEntry, InvalidHostKey
    from paramiko.ssh_exception import SSHException

    entries: dict[str, list[HostKeyEntry]] = {}
    for number, line in enumerate(path.read_text(errors="replace").splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            entry = HostKeyEntry.from_line(line.strip(), number)
        except (SSHException, InvalidHostKey):
            continue  # a line that is no key
        for name in entry.hostnames if entry is not None else ():
            entries.setdefault("" if name.startswith("|1|") else name, []).append(entry)
    return entries


def _names(entry: HostKeyEntry, name: str) -> bool:
    """Whether a hashed name of an entry is this one."""
    from paramiko.hostkeys import HostKeys

    return any(hashed == HostKeys.hash_host(name, hashed) for hashed in entry.hostnames if hashed.startswith("|1|"))
