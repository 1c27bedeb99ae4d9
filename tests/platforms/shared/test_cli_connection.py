"""A login on a CLI: commands and their error texts, host keys, and one line for each way in which it fails."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Timer

import pytest
from paramiko import Channel, Transport
from tests.ssh.dialect import PASSWORD, Dialect, serving

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError, LoginRefused, Unreachable
from railfab.platforms import Dialect as DialectData
from railfab.platforms.eos.session import EosSession
from railfab.platforms.shared.cli_connection import CliConnection
from railfab.ssh import Reply

LIKE_EOS = DialectData(
    netmiko="arista_eos",
    prompts={"enable": r"^leaf1#$", "config": r"^leaf1\(config\)#$"},
    verbs={},
    errors=(r"^% ",),
)
ADMIN = Credentials("admin", PASSWORD)


@pytest.fixture
def endpoint(tmp_path: Path) -> Iterator[Endpoint]:
    with serving(tmp_path) as server:
        known = tmp_path / "known_hosts"
        known.write_text(f"[127.0.0.1]:{server.port} {server.host_key}\n")
        yield Endpoint(
            name="leaf1",
            platform="eos",
            host="127.0.0.1",
            ssh_port=server.port,
            known_hosts=str(known),
            credentials="login.yml",
        )


def unverified(port: int) -> Endpoint:
    return Endpoint(name="leaf1", platform="eos", host="127.0.0.1", ssh_port=port, skip_verify=True, credentials="x")


def opened(endpoint: Endpoint, credentials: Credentials = ADMIN) -> CliConnection:
    connection = CliConnection(endpoint, credentials, LIKE_EOS)
    connection.open()
    return connection


def test_lines_are_typed_in_a_mode_and_shown(endpoint: Endpoint) -> None:
    connection = opened(endpoint)
    connection.type_lines(("configure terminal", "hostname leaf1", "interface Ethernet1", "end"))
    assert connection.run("show running-config") == "hostname leaf1\ninterface Ethernet1"
    connection.close()


def test_a_closed_connection_leaves_no_line_of_the_ssh_library(
    endpoint: Endpoint, caplog: pytest.LogCaptureFixture
) -> None:
    opened(endpoint).close()
    for thread in threading.enumerate():
        if isinstance(thread, Transport):
            thread.join(60)
    assert [record for record in caplog.records if record.name.startswith("paramiko")] == []


def test_an_error_text_of_the_dialect_is_raised_with_the_line(endpoint: Endpoint) -> None:
    connection = opened(endpoint)
    with pytest.raises(DeviceError) as refused:
        connection.type_lines(("configure terminal", "hostname leaf1", "no such command", "interface Ethernet1"))
    assert str(refused.value) == (
        "leaf1: refuses 'no such command' (% Invalid input). Correct it, or check the release of the switch."
    )
    assert connection.run("show running-config") == "hostname leaf1"
    connection.close()


def test_a_pasted_text_arrives_whole_and_the_first_refused_line_is_named(endpoint: Endpoint) -> None:
    connection = opened(endpoint)
    connection.run("configure terminal")
    lines = [f"interface Ethernet{port}" for port in range(1, 251)]
    connection.paste(lines, marker="!")
    with pytest.raises(DeviceError) as refused:
        connection.paste(("hostname leaf1", "no such command", "interface Ethernet1", "worse"), marker="!")
    assert str(refused.value) == (
        "leaf1: refuses 'no such command' (% Invalid input). Correct it, or check the release of the switch."
    )
    assert connection.run("show running-config").splitlines()[:250] == lines
    connection.close()


def test_commands_that_are_sent_at_once_have_an_output_each(endpoint: Endpoint) -> None:
    connection = opened(endpoint)
    outputs = connection.run_together("configure terminal", "hostname leaf1", "end", "show running-config")
    assert outputs == ["", "", "", "hostname leaf1"]
    with pytest.raises(DeviceError, match=r"leaf1: refuses 'worse' \(% Invalid input\)"):
        connection.run_together("bad", "worse", "terminal length 0", unchecked=("bad",))
    assert connection.run("show running-config") == "hostname leaf1"
    connection.close()


class Behind(Dialect):
    """Repeats the prompt and the line where it falls behind, in the form that netmiko has seen of EOS."""

    def answer(self, line: str, more: bool = False) -> Reply:
        reply = super().answer(line, more)
        repeated = f"{reply.prompt}\nterminal length 0\n" if line == "terminal width 511" else ""
        return replace(reply, output=f"{reply.output}{repeated}")


class Early(Dialect):
    """Echoes a line before its prompt too."""

    def answer(self, line: str, more: bool = False) -> Reply:
        reply = super().answer(line, more)
        early = "terminal length 0\n" if line == "terminal width 511" else ""
        return replace(reply, output=f"{early}{reply.output}")


@pytest.mark.parametrize("cli", [Behind, Early])
def test_a_line_that_a_switch_repeats_is_no_output(tmp_path: Path, cli: type[Dialect]) -> None:
    with serving(tmp_path, cli) as server:
        connection = opened(unverified(server.port))
        assert connection.run_together("terminal width 511", "terminal length 0") == [
            "Width set to 511 columns.",
            "Pagination disabled.",
        ]
        connection.close()


class Wordless(Dialect):
    """Takes the commands that prepare a session without a word, as another system does."""

    def answer(self, line: str, more: bool = False) -> Reply:
        reply = super().answer(line, more)
        return replace(reply, output="") if line.startswith("terminal ") else reply


def test_a_system_that_answers_in_another_way_is_named(tmp_path: Path) -> None:
    with serving(tmp_path, Wordless) as server, pytest.raises(DeviceError, match="leaf1: does not answer as eos does"):
        opened(unverified(server.port))


def test_a_login_runs_further_commands_and_refuses_as_the_switch_does(endpoint: Endpoint) -> None:
    connection = CliConnection(endpoint, ADMIN, LIKE_EOS)
    with pytest.raises(DeviceError, match=r"leaf1: refuses 'enable' \(% Invalid input\)"):
        connection.open("enable")
    with pytest.raises(Unreachable, match="leaf1: is not connected"):
        connection.run("show version")


class Locked(Dialect):
    """Asks for a password after `enable`."""

    def answer(self, line: str, more: bool = False) -> Reply:
        return Reply(output="", prompt="Password: ") if line == "enable" else super().answer(line, more)


def test_a_switch_that_asks_for_a_password_after_enable_is_refused(tmp_path: Path) -> None:
    remedy = "Add `aaa authorization exec default local`, which lets users of privilege 15 in without it"
    with serving(tmp_path, Locked) as server, pytest.raises(LoginRefused) as refused:
        EosSession(unverified(server.port), ADMIN).__enter__()
    assert str(refused.value) == f"leaf1: asks for a password after `enable`. {remedy}."


def test_the_prompt_of_another_system_is_named(endpoint: Endpoint) -> None:
    """Also where it looks like one of another mode than that of a login."""
    junos = replace(LIKE_EOS, prompts={"operational": r"^\S+> ?$", "configuration": r"^\S+# ?$"})
    with pytest.raises(DeviceError) as refused:
        CliConnection(endpoint, ADMIN, junos).open()
    assert str(refused.value) == (
        "leaf1: does not answer as eos does after the login. Check its platform in the intent and in the inventory."
    )


def test_a_login_prefers_aes_gcm(endpoint: Endpoint) -> None:
    """paramiko compares the MAC of each packet of other ciphers byte by byte in Python."""
    connection = opened(endpoint)
    channel = getattr(connection._connection, "remote_conn", None)
    assert isinstance(channel, Channel)
    assert channel.get_transport().local_cipher == "aes128-gcm@openssh.com"
    connection.close()


def test_a_wrong_password_is_refused_without_showing_it(endpoint: Endpoint) -> None:
    with pytest.raises(LoginRefused) as refused:
        opened(endpoint, Credentials("admin", "wrong-secret"))
    assert str(refused.value) == "leaf1: rejects user 'admin' or the password. Check login.yml."


def test_an_unknown_host_key_is_refused(endpoint: Endpoint, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(LoginRefused) as refused:
        opened(replace(endpoint, known_hosts=str(empty)))
    assert str(refused.value) == f"leaf1: has a host key that is not in {empty}. Check the key, then add it."


def test_a_missing_known_hosts_file_is_named(endpoint: Endpoint) -> None:
    with pytest.raises(LoginRefused) as refused:
        opened(replace(endpoint, known_hosts="/nowhere/known"))
    assert str(refused.value) == (
        "leaf1: known_hosts file /nowhere/known does not exist. Name an existing file, or leave it out for yours."
    )


def test_a_missing_key_file_is_named(endpoint: Endpoint) -> None:
    with pytest.raises(LoginRefused) as refused:
        opened(endpoint, Credentials("admin", "", key_file="/nowhere/id"))
    assert str(refused.value) == "leaf1: key file /nowhere/id does not exist. Check login.yml."


def test_a_switch_that_is_down_is_unreachable(endpoint: Endpoint) -> None:
    with pytest.raises(Unreachable) as refused:
        opened(replace(endpoint, ssh_port=1))
    assert str(refused.value) == (
        "leaf1: no SSH connection to 127.0.0.1 port 1. Check the address and that the switch is up."
    )


class Slow(Dialect):
    """Thinks for a while about `show tech`."""

    def answer(self, line: str, more: bool = False) -> Reply:
        if line == "show tech":
            time.sleep(3)
        return super().answer(line, more)


def test_an_answer_that_does_not_come_in_time_ends_the_connection(tmp_path: Path) -> None:
    with serving(tmp_path, Slow) as server:
        connection = opened(unverified(server.port))
        with pytest.raises(Unreachable, match="leaf1: does not answer within 1 s"):
            connection.run("show tech", within_s=1)
        with pytest.raises(Unreachable, match="leaf1: is not connected"):
            connection.run("show version")


class Leaving(Dialect):
    """Ends the session at `show tech`."""

    def answer(self, line: str, more: bool = False) -> Reply:
        return Reply(closes=True) if line == "show tech" else super().answer(line, more)


def test_a_switch_that_ends_the_session_is_noticed_at_once(tmp_path: Path) -> None:
    with serving(tmp_path, Leaving) as server:
        connection, began_s = opened(unverified(server.port)), time.monotonic()
        with pytest.raises(Unreachable, match="leaf1: does not answer any more"):
            connection.run("show tech", within_s=300)
        assert time.monotonic() - began_s < 100


def test_a_close_from_another_thread_ends_a_call_at_once(tmp_path: Path) -> None:
    with serving(tmp_path, Slow) as server:
        connection = opened(unverified(server.port))
        Timer(0.5, connection.close).start()
        began_s = time.monotonic()
        with pytest.raises(Unreachable, match="leaf1: does not answer any more"):
            connection.run("show tech")
        assert time.monotonic() - began_s < 2.5
