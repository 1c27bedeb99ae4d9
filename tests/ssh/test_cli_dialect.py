"""A CLI dialect behind the SSH server, as the real netmiko and OpenSSH's client meet it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import netmiko
import paramiko
import pytest
from tests.ssh.dialect import PASSWORD, Dialect, serving

from railfab.ssh import Cli, CliUser


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    with serving(tmp_path) as server:
        yield server.port


@pytest.fixture
def switch(port: int) -> Iterator[netmiko.BaseConnection]:
    with netmiko.ConnectHandler(
        device_type="arista_eos", host="127.0.0.1", port=port, username="admin", password=PASSWORD, conn_timeout=30
    ) as connection:
        yield connection


def client(port: int) -> paramiko.SSHClient:
    made = paramiko.SSHClient()
    made.set_missing_host_key_policy(paramiko.AutoAddPolicy())
    made.connect("127.0.0.1", port, username="admin", password=PASSWORD, look_for_keys=False, allow_agent=False)
    return made


def test_a_cli_answers_with_its_output_and_prompt(switch: netmiko.BaseConnection) -> None:
    assert switch.find_prompt() == "leaf1#"
    assert switch.send_command("show running-config") == ""


def test_netmiko_enters_config_mode_and_leaves_it(switch: netmiko.BaseConnection) -> None:
    switch.send_config_set(["hostname leaf1", "interface Ethernet1"])
    assert not switch.check_config_mode()
    assert switch.send_command("show running-config") == "hostname leaf1\ninterface Ethernet1"


def test_the_error_text_of_the_dialect_reaches_netmiko(switch: netmiko.BaseConnection) -> None:
    with pytest.raises(netmiko.ConfigInvalidException):
        switch.send_config_set(["hostname leaf1", "no such command"], error_pattern="% Invalid input")


def test_sessions_do_not_share_their_mode(port: int, switch: netmiko.BaseConnection) -> None:
    switch.config_mode()
    with client(port) as other:
        shell = other.invoke_shell()
        assert received(shell, "leaf1#").endswith("leaf1#")


def test_an_exec_request_has_output_and_exit_status(port: int) -> None:
    with client(port) as connection:
        answers = {"show nonsense": (b"% Invalid input\n", 1), "terminal length 0": (b"Pagination disabled.\n", 0)}
        for command, expected in answers.items():
            _, out, _ = connection.exec_command(command)
            assert (out.read(), out.channel.recv_exit_status()) == expected


def test_input_is_echoed_edited_and_ended_as_on_a_terminal(port: int) -> None:
    with client(port) as connection:
        shell = connection.invoke_shell()
        assert received(shell, "leaf1#") == "Last login: never\r\nleaf1#"
        shell.send(b"show nonsensf\x7fe\r")
        assert received(shell, "leaf1#") == "show nonsensf\b \be\r\n% Invalid input\r\nleaf1#"
        shell.send(b"half a li\x03")
        assert received(shell, "leaf1#") == "half a li^C\r\nleaf1#"
        shell.send(b"\x04")
        assert shell.recv_exit_status() == 1, "of the last command, as of a shell"


@pytest.mark.parametrize("ends", [b"\r", b"\n", b"\r\n"])
def test_a_line_ends_once_however_the_client_writes_it(port: int, ends: bytes) -> None:
    with client(port) as connection:
        shell = connection.invoke_shell()
        received(shell, "leaf1#")
        for byte in b"show nonsense" + ends + b"exit" + ends:
            shell.send(bytes([byte]))
        assert shell.makefile().read().decode() == "show nonsense\r\n% Invalid input\r\nleaf1#exit\r\n"


def test_a_cli_gives_no_access_to_the_files_of_the_server(port: int) -> None:
    with client(port) as connection, pytest.raises((paramiko.SSHException, EOFError)):
        connection.open_sftp()


def test_a_line_without_end_closes_the_session(port: int) -> None:
    with client(port) as connection:
        shell = connection.invoke_shell()
        shell.sendall(b"x" * (1 << 17))
        shell.settimeout(60)
        assert shell.recv_exit_status() == 0


def received(shell: paramiko.Channel, until: str) -> str:
    """Output up to and with this text."""
    shell.settimeout(60)
    found = ""
    while not found.endswith(until):
        found += shell.recv(1).decode()
    return found


def test_the_dialect_is_a_cli() -> None:
    made: Cli = Dialect(CliUser(name="admin"))
    assert made.greeting().prompt == "leaf1#"
