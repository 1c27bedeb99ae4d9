"""gNMIclients of pygnmi, which trust what railfab's own client trusts."""

from __future__ import annotations

import logging
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import EndpointError
from railfab.gnmi.trust import Trust

MAX_MESSAGE_BYTES = 64 << 20


def pygnmi_client(
    endpoint: Endpoint, credentials: Credentials, trusted: Trust | None
) -> tuple[Any, TemporaryDirectory[str]]:
    """A client that is not connected yet, and the folder with the files that its connect() reads.

    trusted: what was verified, as of `trust_of`. Connect it with timeout=0: with another, pygnmi may change the ciphers
    of the whole process. Raises EndpointError for a token without TLS.
    """
    from pygnmi.client import gNMIclient

    _silence()
    if trusted is None and credentials.token:
        raise EndpointError(endpoint.name, "pygnmi sends no token without TLS", "Give it a user name and password")
    folder = TemporaryDirectory(prefix="railfab-")
    client = gNMIclient(
        target=(endpoint.host, endpoint.gnmi_port),
        username=credentials.username or "",
        password=credentials.password or "",
        token=credentials.token or "",
        no_qos_marking=True,
        grpc_options=[("grpc.max_receive_message_length", MAX_MESSAGE_BYTES)],
        **_security(trusted, Path(folder.name)),
    )
    return client, folder


def _security(trusted: Trust | None, folder: Path) -> dict[str, Any]:
    """pygnmi's arguments for what was verified. It reads files; without one, it trusts any certificate."""
    if trusted is None:
        return {"insecure": True}
    files = {"root": trusted.pem, "cert": trusted.client_cert or trusted.pem, "key": trusted.client_key}
    for name, content in files.items():
        if content is not None:
            (folder / name).touch(mode=0o600)
            (folder / name).write_bytes(content)
    mutual = {"path_root": str(folder / "root"), "path_key": str(folder / "key")} if trusted.client_key else {}
    return {"path_cert": str(folder / "cert"), "override": trusted.name or "", **mutual}


def _silence() -> None:
    """Remove pygnmi's log handler, which writes to stdout; its exceptions carry the same text."""
    log = logging.getLogger("pygnmi.client")
    log.handlers = [logging.NullHandler()]
    log.propagate = False
