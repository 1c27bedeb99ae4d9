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

from railfab.endpoints import Endpoint
from railfab.gnmi.blocking import trust

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
        trusted = trust(endpoint)
        with TemporaryDirectory(prefix="railfab-") as folder:
            certificate = Path(folder) / "trusted.pem"
            certificate.write_bytes(trusted.pem)
            self.connection = gNMIclient(
                target=(hostname, port),
                username=username or "",
                password=password or "",
                path_cert=str(certificate),  # without one, pygnmi trusts any certificate
                override=trusted.name or "",
                no_qos_marking=True,
                grpc_options=[("grpc.max_receive_message_length", MAX_MESSAGE_BYTES)],
            )
            self.connection.connect(timeout=0)  # with a timeout, pygnmi may change the ciphers of the whole process

    def close(self) -> None:
        self.connection.close()


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
