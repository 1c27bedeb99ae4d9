"""SSH host keys in OpenSSH's format. They are made and read without asyncssh, whose import takes half a second."""

from __future__ import annotations

import os
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_ssh_private_key,
)

from railfab.errors import LabError


def new_host_key() -> tuple[bytes, str]:
    """A new private key as the content of its file, and its public key: type and key, as in known_hosts."""
    key = Ed25519PrivateKey.generate()
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    return key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()), public


def public_host_key(where: str, path: Path) -> str:
    """The public key of a private key file: type and key, as in known_hosts.

    The file is created on first use, readable by its owner only, so that clients always see the same key.
    Raises LabError when it cannot be read.
    """
    try:
        if not path.exists():
            _write_private(path, new_host_key()[0])
        key = load_ssh_private_key(path.read_bytes(), None)
        return key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()
    except (OSError, ValueError) as error:
        raise LabError(where, f"cannot use the host key {path} ({error})", "Remove the file to get a new key") from None


def _write_private(path: Path, content: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(content)
