"""The Nornir connection `pygnmi`: a connected gNMIclient, for users' own gNMI tasks.

    def task(task: Task) -> Result:
        client = task.host.get_connection("pygnmi", task.nornir.config)
        return Result(host=task.host, result=client.get(path=["/system/name"], encoding="json_ietf"))

railfab itself reads and changes switches with its own client (`railfab.gnmi`).
"""

from __future__ import annotations

import logging
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from nornir.core.configuration import Config
from nornir.core.inventory import ConnectionOptions
from nornir.core.plugins.connections import ConnectionPluginRegister

from railfab.endpoints import Endpoint, read_credentials
from railfab.errors import EndpointError
from railfab.gnmi.blocking import trust
from railfab.gnmi.trust import Trust

NAME = "pygnmi"
MAX_MESSAGE_BYTES = 64 << 20


class PygnmiConnection:
    """A Nornir ConnectionPlugin. The connection trusts what railfab's own client trusts, for the same endpoint."""

    connection: Any

    def open(
        self,
        hostname: str | None,
        username: str | None,
        password: str | None,
        port: int | None,
        platform: str | None,  # noqa: ARG002
        extras: dict[str, Any] | None = None,
        configuration: Config | None = None,  # noqa: ARG002
    ) -> None:
        """Connect. Raises EndpointError, Unreachable or LoginRefused, and pygnmi's exception for a refused login."""
        from pygnmi.client import gNMIclient

        _silence()
        endpoint: Endpoint = (extras or {})["endpoint"]
        token = read_credentials(endpoint).token
        trusted = trust(endpoint)
        if trusted is None and token:
            raise EndpointError(endpoint.name, "pygnmi sends no token without TLS", "Give it a user name and password")
        with TemporaryDirectory(prefix="railfab-") as folder:
            self.connection = gNMIclient(
                target=(hostname, port),
                username=username or "",
                password=password or "",
                token=token or "",
                no_qos_marking=True,
                grpc_options=[("grpc.max_receive_message_length", MAX_MESSAGE_BYTES)],
                **_security(trusted, Path(folder)),
            )
            self.connection.connect(timeout=0)  # with a timeout, pygnmi may change the ciphers of the whole process

    def close(self) -> None:
        self.connection.close()


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


def connection_options(endpoint: Endpoint) -> ConnectionOptions:
    """Options of a host with which `get_connection("pygnmi")` connects to its switch."""
    return ConnectionOptions(hostname=endpoint.host, port=endpoint.gnmi_port, extras={"endpoint": endpoint})


def register() -> None:
    """Make the connection known to Nornir, unless another package provides one of this name."""
    if NAME not in ConnectionPluginRegister.available:
        ConnectionPluginRegister.register(NAME, PygnmiConnection)


def _silence() -> None:
    """Remove pygnmi's log handler, which writes to stdout; its exceptions carry the same text."""
    log = logging.getLogger("pygnmi.client")
    log.handlers = [logging.NullHandler()]
    log.propagate = False
