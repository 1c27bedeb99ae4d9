"""Commands as root on a Linux switch: netmiko logs in, and each command runs in an exec channel of its connection.

An exec channel gives exact output and an exit status, which a CLI prompt does not.
"""

from __future__ import annotations

import shlex
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError, LoginRefused, Unreachable

if TYPE_CHECKING:
    from netmiko import BaseConnection

SSH_PORT = 22
CONNECT_WITHIN_S = 15
ANSWER_WITHIN_S = 120
ATTEMPTS = 2
"""Attempts to connect: first connections to many switches on one busy machine sometimes fail."""
RETRY_AFTER_S = 1.0

NO_HOST_KEY = ("not found in known_hosts", "Host key for server")
"""Texts of paramiko's errors for an unknown and for a changed host key."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """Output and exit status of a command."""

    status: int
    out: str
    errors: str

    def output(self) -> str:
        """Standard output followed by standard error."""
        return "\n".join(part.strip() for part in (self.out, self.errors) if part.strip())


class RootShell:
    """Commands as root on one switch."""

    def __init__(self, endpoint: Endpoint, credentials: Credentials) -> None:
        self._endpoint = endpoint
        self._credentials = credentials
        self._connection: BaseConnection | None = None
        self._sudo = False

    def open(self) -> None:
        """Log in. Raises Unreachable or LoginRefused."""
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._connection = self._connect()
                break
            except Unreachable:
                if attempt == ATTEMPTS:
                    raise
                time.sleep(RETRY_AFTER_S)
        self._become_root()

    def close(self) -> None:
        """Close the connection at once; netmiko's disconnect would wait 10 s for a prompt."""
        if self._connection is not None:
            self._connection.paramiko_cleanup()
            self._connection = None

    def run(self, command: str, *, stdin: str = "", within_s: float = ANSWER_WITHIN_S) -> CommandResult:
        """Run a shell command as root. Raises DeviceError when the switch does not answer."""
        if self._connection is None:
            raise DeviceError(self._endpoint.name, "is not connected", "Open the session first")
        if self._sudo:
            command = f"sudo -n sh -c {shlex.quote(command)}"
        try:
            return self._exec(self._connection, command, stdin, within_s)
        except (OSError, EOFError) as error:
            problem = f"does not answer ({str(error) or type(error).__name__})"
            raise DeviceError(self._endpoint.name, problem, "Check the connection and the switch's load") from None

    def _exec(self, connection: BaseConnection, command: str, stdin: str, within_s: float) -> CommandResult:
        from paramiko.ssh_exception import SSHException

        client = connection.remote_conn_pre
        assert client is not None
        try:
            writer, out, errors = client.exec_command(command, timeout=within_s)
            writer.write(stdin)
            writer.channel.shutdown_write()
            stdout, stderr = out.read().decode(errors="replace"), errors.read().decode(errors="replace")
            return CommandResult(out.channel.recv_exit_status(), stdout, stderr)
        except SSHException as error:
            raise OSError(str(error)) from None

    def _connect(self) -> BaseConnection:
        from netmiko import ConnectHandler, NetmikoAuthenticationException, NetmikoBaseException
        from paramiko.ssh_exception import SSHException

        endpoint, name = self._endpoint, self._endpoint.name
        try:
            return ConnectHandler(
                device_type="linux",
                host=endpoint.host,
                port=endpoint.ssh_port or SSH_PORT,
                username=self._credentials.username,
                password=self._credentials.password or None,
                use_keys=self._credentials.key_file is not None,
                key_file=self._credentials.key_file,
                ssh_strict=not endpoint.skip_verify,
                system_host_keys=endpoint.known_hosts is None and not endpoint.skip_verify,
                alt_host_keys=endpoint.known_hosts is not None and not endpoint.skip_verify,
                alt_key_file=endpoint.known_hosts or "",
                conn_timeout=CONNECT_WITHIN_S,
                auth_timeout=CONNECT_WITHIN_S,
                banner_timeout=CONNECT_WITHIN_S,
            )
        except NetmikoAuthenticationException:
            secret = "key" if self._credentials.key_file else "password"
            problem = f"rejects user {self._credentials.username!r} or the {secret}"
            raise LoginRefused(name, problem, f"Check {endpoint.credentials}") from None
        except (NetmikoBaseException, SSHException, OSError, ValueError) as error:
            raise self._not_connected(error) from None

    def _not_connected(self, error: Exception) -> Unreachable | LoginRefused:
        endpoint = self._endpoint
        if any(sign in str(error) for sign in NO_HOST_KEY):
            known = endpoint.known_hosts or "your known_hosts file"
            return LoginRefused(endpoint.name, f"has a host key that is not in {known}", "Check the key, then add it")
        key_file = self._credentials.key_file
        if key_file is not None and not Path(key_file).is_file():
            return LoginRefused(
                endpoint.name,
                f"key file {key_file} does not exist",
                f"Check {endpoint.credentials}",
            )
        where = f"{endpoint.host} port {endpoint.ssh_port or SSH_PORT}"
        return Unreachable(
            endpoint.name, f"no SSH connection to {where}", "Check the address and that the switch is up"
        )

    def _become_root(self) -> None:
        """Check for root, or for sudo without a password."""
        if self.run("id -u").out.strip() == "0":
            return
        if self.run("sudo -n true").status != 0:
            self.close()
            problem = f"user {self._credentials.username!r} is not root and sudo asks for a password"
            raise LoginRefused(self._endpoint.name, problem, "Log in as root, or allow sudo without a password")
        self._sudo = True
