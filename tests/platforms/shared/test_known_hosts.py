"""Host keys of switches: names as OpenSSH writes them, and a file that is read once."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from paramiko import RejectPolicy, SSHClient
from paramiko.hostkeys import HostKeyEntry, HostKeys

from railfab.endpoints import Endpoint
from railfab.platforms.shared.known_hosts import trust_known_hosts

PORT = 2201
LEAF = f"[192.0.2.1]:{PORT}"
HASHED = HostKeys.hash_host(LEAF)


def key() -> str:
    return Ed25519PrivateKey.generate().public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def trusted(path: Path, *, port: int = PORT) -> list[str]:
    """The keys that a client accepts of a switch, as text."""
    client = SSHClient()
    trust_known_hosts(
        client, Endpoint(name="leaf1", platform="eos", host="192.0.2.1", ssh_port=port, known_hosts=str(path))
    )
    assert isinstance(client._policy, RejectPolicy)
    keys = client.get_host_keys().lookup(LEAF if port == PORT else "192.0.2.1") or {}
    return [f"{kind} {key.get_base64()}" for kind, key in keys.items()]


@pytest.mark.parametrize("name", [LEAF, f"leaf1,{LEAF}", HASHED], ids=["plain", "one of two", "hashed"])
def test_the_key_of_a_switch_is_taken_and_no_other(tmp_path: Path, name: str) -> None:
    wanted, path = key(), tmp_path / "known_hosts"
    path.write_text(f"# switches\n\n[192.0.2.2]:{PORT} {key()}\n{name} {wanted}\nno key\n{LEAF} ssh-ed25519 %\n")
    assert trusted(path) == [wanted]
    assert trusted(path, port=22) == []


def test_of_two_keys_of_a_kind_the_first_counts(tmp_path: Path) -> None:
    first, path = key(), tmp_path / "known_hosts"
    path.write_text(f"{LEAF} {first}\n{LEAF} {key()}\n")
    assert trusted(path) == [first]


def test_a_file_is_read_once_until_it_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    from_line = HostKeyEntry.from_line

    def counted(line: str, number: int) -> HostKeyEntry:
        read.append(number)
        return from_line(line, number)

    monkeypatch.setattr(HostKeyEntry, "from_line", counted)
    path = tmp_path / "known_hosts"
    path.write_text(f"{LEAF} {key()}\n")
    for _ in range(3):
        trusted(path)
    assert read == [1]
    added = key()
    path.write_text(f"{LEAF} {added}\n")
    os.utime(path, ns=(1, 1))
    assert trusted(path) == [added]
