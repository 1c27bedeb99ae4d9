"""Commands as root on a Linux switch over SSH. Each command runs in a channel of its own.

An exec channel gives exact output and an exit status, which a CLI prompt does not.
"""

from __future__ import annotations

import shlex
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError, LoginRefused, Unreachable
from railfab.platforms.shared.known_hosts import trust_known_hosts
from railfab.platforms.shared.login import (
    ANSWER_WITHIN_S,
    ATTEMPTS,
    CHUNK_BYTES,
    CONNECT_WITHIN_S,
    IDLE_POLL_S,
    RETRY_AFTER_S,
    SSH_PORT,
    connect,
    cut,
    login_error,
    not_connected,
    rejected,
    transport,
)

if TYPE_CHECKING:
    from paramiko import SSHClient


KEEPALIVE_EVERY_S, SILENT_AFTER_S = 10.0, 20.0
"""Interval of the keepalives during a command, and the time without an answer after which a switch is lost [s]."""
KEEPALIVE = "keepalive@openssh.com"
"""A global request that a server answers, with a failure if it does not know it (RFC 4254, section 4)."""


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
    """Commands as root on one switch.

    No call lasts longer than its limit: at the limit the connection is closed, and the call raises Unreachable; so it
    is when the SSH server is silent for SILENT_AFTER_S, however long the command may take.
    `close` from another thread ends a call at once, also one that connects.
    """

    def __init__(self, endpoint: Endpoint, credentials: Credentials) -> None:
        self._endpoint = endpoint
        self._credentials = credentials
        self._socket: socket.socket | None = None
        self._client: SSHClient | None = None
        self._closed = False
        self._sudo = False

    def open(self) -> None:
        """Log in, all attempts within one limit. Raises Unreachable or LoginRefused."""
        deadline = time.monotonic() + CONNECT_WITHIN_S
        for attempt in range(1, ATTEMPTS + 1):
            try:
                self._connect(deadline)
                break
            except Unreachable:
                self._cut()
                if self._closed or attempt == ATTEMPTS or time.monotonic() + RETRY_AFTER_S > deadline:
                    raise
                time.sleep(RETRY_AFTER_S)
            except LoginRefused:
                self._cut()
                raise
        self._become_root()

    def close(self) -> None:
        """Close the connection; a call that another thread waits for raises Unreachable."""
        self._closed = True
        self._cut()

    def run(self, command: str, *, stdin: str = "", within_s: float = ANSWER_WITHIN_S) -> CommandResult:
        """Run a shell command as root. Raises Unreachable when the switch does not answer in time.

        stdin: the command reads all of it. Without one its standard input stays open: an end of file that comes after
        the command has ended makes the server close the connection.
        """
        from paramiko.ssh_exception import SSHException

        client = self._client
        if client is None:
            raise self._unreachable("is not connected", "Open the session again")
        if self._sudo:
            command = f'sudo -n env SSH_CONNECTION="$SSH_CONNECTION" sh -c {shlex.quote(command)}'
        with self._limit(within_s) as over, self._kept_alive(client) as silent:
            try:
                return _exec(client, command, stdin, 2 * within_s)  # the limit cuts it first, and is named
            except (SSHException, OSError, EOFError) as error:
                self._cut()
                problem = f"does not answer ({str(error) or 'connection lost'})"
                if silent.is_set():
                    problem = f"does not answer keepalives of SSH within {SILENT_AFTER_S:.0f} s"
                elif over.is_set():
                    problem = f"does not answer within {within_s:.0f} s"
                raise self._unreachable(problem, "Check the connection and the switch's load") from None

    @contextmanager
    def _kept_alive(self, client: SSHClient) -> Iterator[threading.Event]:
        """Send keepalives; when one has no answer in time, cut the connection, and set the event."""
        ended, silent = threading.Event(), threading.Event()

        def watch(transport: Any) -> None:
            while not ended.wait(KEEPALIVE_EVERY_S):
                request = threading.Thread(target=_ask, args=(transport,), daemon=True)
                request.start()
                request.join(SILENT_AFTER_S)
                if request.is_alive() and not ended.is_set():
                    silent.set()
                    self._cut()
                    return

        threading.Thread(target=watch, args=(client.get_transport(),), daemon=True).start()
        try:
            yield silent
        finally:
            ended.set()

    @contextmanager
    def _limit(self, within_s: float) -> Iterator[threading.Event]:
        """Cut the connection at the limit, and set the event."""
        over = threading.Event()

        def cut() -> None:
            over.set()
            self._cut()

        timer = threading.Timer(max(within_s, 0), cut)
        timer.daemon = True
        timer.start()
        try:
            yield over
        finally:
            timer.cancel()

    def _cut(self) -> None:
        cut(self._socket)
        if self._client is not None:
            self._client.close()
            self._client = None

    def _connect(self, deadline: float) -> None:
        from paramiko.ssh_exception import AuthenticationException, SSHException

        left_s = max(deadline - time.monotonic(), 0.1)
        with self._limit(left_s) as over:
            try:
                self._client = self._login(left_s)
            except AuthenticationException as error:
                if over.is_set() or "timeout" in str(error).lower():
                    raise not_connected(self._endpoint) from None
                raise rejected(self._endpoint, self._credentials) from None
            except (SSHException, OSError, EOFError, ValueError) as error:
                raise login_error(self._endpoint, self._credentials, error) from None
        if self._closed:
            raise not_connected(self._endpoint)

    def _login(self, within_s: float) -> SSHClient:
        from paramiko import SSHClient

        endpoint, credentials = self._endpoint, self._credentials
        port = endpoint.ssh_port or SSH_PORT
        client = SSHClient()
        trust_known_hosts(client, endpoint)
        self._socket = connect(endpoint, within_s)
        client.connect(
            endpoint.host,
            port=port,
            sock=self._socket,
            username=credentials.username,
            password=credentials.password or None,
            key_filename=credentials.key_file,
            look_for_keys=False,
            allow_agent=False,
            banner_timeout=within_s,
            auth_timeout=within_s,
            channel_timeout=within_s,
            transport_factory=transport,
        )
        self._socket.settimeout(IDLE_POLL_S)
        return client

    def _unreachable(self, problem: str, remedy: str) -> Unreachable:
        return Unreachable(self._endpoint.name, problem, remedy)

    def _become_root(self) -> None:
        """Check for root, or sudo without a password. Raises LoginRefused, and DeviceError without a Linux shell."""
        answer = self.run("id -u")
        if answer.out.strip() == "0":
            return
        if not answer.out.strip().isdigit():
            self._cut()
            shown = next(iter(answer.output().splitlines()), "nothing")
            problem = f"answers `id -u` with {shown!r}, so it is no Linux shell"
            raise DeviceError(self._endpoint.name, problem, "Check its platform and its address")
        if self.run("sudo -n true").status != 0:
            self._cut()
            problem = f"user {self._credentials.username!r} is not root and sudo asks for a password"
            raise LoginRefused(self._endpoint.name, problem, "Log in as root, or allow sudo without a password")
        self._sudo = True


def _exec(client: SSHClient, command: str, stdin: str, within_s: float) -> CommandResult:
    """Run a command in a channel; standard input and both outputs flow at the same time."""
    transport = client.get_transport()
    if transport is None:
        raise EOFError("connection lost")
    with transport.open_session(timeout=within_s) as channel:
        channel.exec_command(command)
        if stdin:
            threading.Thread(target=_write, args=(channel, stdin.encode()), daemon=True).start()
        out, errors = bytearray(), bytearray()
        reader = threading.Thread(target=_read, args=(channel.recv_stderr, errors), daemon=True)
        reader.start()
        _read(channel.recv, out)
        reader.join()
        status = channel.recv_exit_status()
        if not transport.is_active() and status == -1:
            raise EOFError("connection lost")
        return CommandResult(status, out.decode(errors="replace"), errors.decode(errors="replace"))


def _ask(transport: Any) -> None:
    """Send a keepalive, and wait for its answer; paramiko waits until the connection ends."""
    from paramiko.ssh_exception import SSHException

    with suppress(SSHException, OSError, EOFError, AttributeError):  # a lost connection is named by the command
        transport.global_request(KEEPALIVE, wait=True)


def _write(channel: Any, text: bytes) -> None:
    from paramiko.ssh_exception import SSHException

    with suppress(SSHException, OSError, EOFError):  # the command has ended, or the reader raises the error
        channel.sendall(text)
        channel.shutdown_write()


def _read(receive: Any, sink: bytearray) -> None:
    while chunk := receive(CHUNK_BYTES):
        sink += chunk
