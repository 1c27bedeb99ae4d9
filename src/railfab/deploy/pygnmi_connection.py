"""The Nornir connection `pygnmi`: a connected gNMIclient, for users' own gNMI tasks.

    def task(task: Task) -> Result:
        client = task.host.get_connection("pygnmi", task.nornir.config)
        return Result(host=task.host, result=client.get(path=["/system/name"], encoding="json_ietf"))

railfab itself reads and changes switches with its own client (`railfab.gnmi`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from nornir.core.configuration import Config
from nornir.core.inventory import ConnectionOptions
from nornir.core.plugins.connections import ConnectionPluginRegister

from railfab.endpoints import Endpoint, read_credentials

NAME = "pygnmi"


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
        from railfab.gnmi.blocking import trust
        from railfab.gnmi.pygnmi_client import pygnmi_client

        endpoint: Endpoint = (extras or {})["endpoint"]
        login = replace(read_credentials(endpoint), username=username or "", password=password or "")
        host = endpoint if hostname is None else replace(endpoint, host=hostname, gnmi_port=port)
        self.connection, folder = pygnmi_client(host, login, trust(endpoint))
        with folder:
            self.connection.connect(timeout=0)

    def close(self) -> None:
        self.connection.close()


def connection_options(endpoint: Endpoint) -> ConnectionOptions:
    """Options of a host with which `get_connection("pygnmi")` connects to its switch."""
    return ConnectionOptions(hostname=endpoint.host, port=endpoint.gnmi_port, extras={"endpoint": endpoint})


def register() -> None:
    """Make the connection known to Nornir, unless another package provides one of this name."""
    if NAME not in ConnectionPluginRegister.available:
        ConnectionPluginRegister.register(NAME, PygnmiConnection)
