"""Commands over SSH on a real server, in a process that is frozen."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import paramiko
import pytest

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import Unreachable
from railfab.platforms.shared import root_shell
from railfab.platforms.shared.root_shell import RootShell

END_OF_FILE = b"\x60"
"""SSH_MSG_CHANNEL_EOF (RFC 4254, 9)."""

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="needs root; run the tests with sudo")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """The process of an SSH server, and its port."""
    folder = tmp_path_factory.mktemp("server")
    login = folder / "login.yml"
    login.write_text("{username: root, password: of a test}\n")
    command = [sys.executable, "-m", "railfab.ssh", "--host", "127.0.0.1", "--port", "0"]
    files = ["--host-key", str(folder / "key"), "--credentials", str(login)]
    with subprocess.Popen([*command, *files], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield process, int(process.stdout.readline().split()[-1])
        finally:
            process.send_signal(signal.SIGCONT)
            process.kill()


@pytest.fixture
def shell(server: tuple[subprocess.Popen[str], int], monkeypatch: pytest.MonkeyPatch) -> Iterator[RootShell]:
    monkeypatch.setattr(root_shell, "KEEPALIVE_EVERY_S", 0.1)
    endpoint = Endpoint(name="leaf1", platform="frr", host="127.0.0.1", ssh_port=server[1], skip_verify=True)
    opened = RootShell(endpoint, Credentials("root", "of a test"))
    opened.open()
    yield opened
    opened.close()


def test_a_login_prefers_aes_gcm(shell: RootShell) -> None:
    assert shell._client is not None
    transport = shell._client.get_transport()
    assert transport is not None
    assert transport.local_cipher == "aes128-gcm@openssh.com"


def test_keepalives_leave_a_command_that_is_silent_for_long_alone(shell: RootShell) -> None:
    assert shell.run("sleep 2; echo done").out == "done\n"


def test_a_command_without_input_that_ends_at_once_keeps_the_connection(
    shell: RootShell, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server closes the connection at an end of file for a channel that is closed, as it comes from a slow client."""
    send = paramiko.Transport._send_user_message  # type: ignore[attr-defined]

    def send_late(transport: paramiko.Transport, message: paramiko.Message) -> None:
        if message.asbytes()[:1] == END_OF_FILE and threading.current_thread() is not transport:
            time.sleep(0.2)
        send(transport, message)

    monkeypatch.setattr(paramiko.Transport, "_send_user_message", send_late)
    assert shell.run("id -u").out == "0\n"
    assert shell.run("sleep 1; id -u").out == "0\n"


def test_a_server_that_freezes_during_a_command_is_lost_long_before_the_limit_of_the_command(
    shell: RootShell, server: tuple[subprocess.Popen[str], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(root_shell, "SILENT_AFTER_S", 1.0)
    process, _ = server
    threading.Timer(0.3, process.send_signal, (signal.SIGSTOP,)).start()
    began_s = time.monotonic()
    with pytest.raises(Unreachable) as lost:
        shell.run("sleep 400", within_s=400)
    assert time.monotonic() - began_s < 60
    assert str(lost.value) == (
        "leaf1: does not answer keepalives of SSH within 1 s. Check the connection and the switch's load."
    )
    process.send_signal(signal.SIGCONT)
