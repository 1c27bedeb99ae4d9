"""The SSH server with common clients: asyncssh, netmiko and, where installed, OpenSSH."""

from __future__ import annotations

import asyncio
import shutil
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import asyncssh
import netmiko
import paramiko
import pytest
from tests.twin.twins import until

from railfab.process.listeners import in_use

PASSWORD = "quite-secret-9"


@dataclass(frozen=True)
class Running:
    process: subprocess.Popen[str]
    port: int
    folder: Path

    def client(self, **how: object) -> paramiko.SSHClient:
        client = paramiko.SSHClient()
        client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
        login = {"username": "admin", "password": PASSWORD, "look_for_keys": False, "allow_agent": False} | how
        client.connect("127.0.0.1", self.port, **login)  # type: ignore[arg-type]
        return client

    def run(self, command: str, text: bytes = b"") -> tuple[int, bytes, bytes]:
        with self.client() as client:
            stdin, stdout, stderr = client.exec_command(command)
            stdin.write(text)
            stdin.channel.shutdown_write()
            out, errors = stdout.read(), stderr.read()
            return stdout.channel.recv_exit_status(), out, errors


def start(folder: Path, *more: str, port: int = 0) -> subprocess.Popen[str]:
    (folder / "login.yml").write_text(f"username: admin\npassword: {PASSWORD}\n")
    files = ["--host-key", str(folder / "host.key"), "--credentials", str(folder / "login.yml")]
    command = [sys.executable, "-m", "railfab.ssh", "--host", "127.0.0.1", "--port", str(port), *files, *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def running(process: subprocess.Popen[str], folder: Path) -> Running:
    assert process.stdout is not None
    words = process.stdout.readline().split()
    assert words[:2] == ["listening", "on"], process.stderr.read() if process.stderr else ""
    return Running(process, int(words[-1]), folder)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = tmp_path_factory.mktemp("ssh")
    key = asyncssh.generate_private_key("ssh-ed25519")
    key.write_private_key(str(folder / "user.key"))
    (folder / "user.key").chmod(0o600)
    key.write_public_key(str(folder / "user.key.pub"))
    process = start(folder, "--authorized-keys", str(folder / "user.key.pub"))
    with process:
        yield running(process, folder)
        process.terminate()


def test_a_command_answers_with_its_bytes_and_its_exit_status(server: Running) -> None:
    assert server.run("printf 'a\\nb'; printf oops >&2; exit 3") == (3, b"a\nb", b"oops")


def test_stdin_and_stdout_are_byte_exact(server: Running) -> None:
    sent = bytes(range(256)) * 4096
    assert server.run("cat", sent) == (0, sent, b"")


def test_a_command_killed_by_a_signal_is_no_success(server: Running) -> None:
    assert server.run("kill -9 $$")[0] == -1


@pytest.mark.parametrize(("number", "name"), [(10, "USR1"), (15, "TERM")])
def test_the_client_learns_the_signal_that_killed_a_command(server: Running, number: int, name: str) -> None:
    async def ended() -> asyncssh.SSHCompletedProcess:
        login = {"username": "admin", "password": PASSWORD, "known_hosts": None, "client_keys": None}
        async with asyncssh.connect("127.0.0.1", server.port, **login) as connection:
            return await connection.run(f"kill -{number} $$")

    found = asyncio.run(ended())
    assert found.exit_signal is not None
    assert found.exit_signal[0] == name


def test_a_session_does_not_get_the_environment_of_the_server(server: Running) -> None:
    names = {line.split(b"=")[0] for line in server.run("env")[1].splitlines()}
    of_sshd = {b"HOME", b"USER", b"LOGNAME", b"PATH", b"LANG", b"SHELL", b"SSH_CONNECTION"}
    assert names <= of_sshd | {b"PWD", b"SHLVL", b"_", b"OLDPWD"}


def test_a_session_knows_the_ends_of_its_connection(server: Running) -> None:
    client, client_port, address, port = server.run('printf %s "$SSH_CONNECTION"')[1].decode().split()
    assert (client, address) == ("127.0.0.1", "127.0.0.1")
    assert int(client_port) != int(port)


@pytest.mark.parametrize(
    "how", [{"password": "wrong"}, {"username": "root"}, {"username": ""}], ids=["password", "user", "nobody"]
)
def test_only_the_user_with_the_right_password_can_log_in(server: Running, how: dict[str, str]) -> None:
    with pytest.raises(paramiko.AuthenticationException):
        server.client(**how)


def test_only_an_authorized_key_can_log_in(server: Running) -> None:
    key = paramiko.Ed25519Key.from_private_key_file(str(server.folder / "user.key"))
    with server.client(password=None, pkey=key) as client:
        assert client.exec_command("echo in")[1].read() == b"in\n"
    with pytest.raises(paramiko.SSHException):
        server.client(password=None, pkey=paramiko.RSAKey.generate(2048))
    with pytest.raises(paramiko.SSHException):
        server.client(username="guest", password=None, pkey=key)


def test_files_copied_by_sftp_keep_their_mode(server: Running, tmp_path: Path) -> None:
    with server.client() as client, client.open_sftp() as sftp:
        with sftp.open(str(tmp_path / "candidate.conf"), "w") as file:
            file.chmod(0o600)
            file.write("hostname leaf1\n")
        assert sftp.listdir(str(tmp_path)) == ["candidate.conf"]
    assert (tmp_path / "candidate.conf").read_text() == "hostname leaf1\n"
    assert stat.S_IMODE((tmp_path / "candidate.conf").stat().st_mode) == 0o600


@pytest.mark.skipif(shutil.which("scp") is None, reason="needs scp: apt-get install openssh-client")
@pytest.mark.parametrize("protocol", ["-O", "-s"], ids=["scp", "sftp"])
def test_openssh_copies_a_file_here_and_back(server: Running, tmp_path: Path, protocol: str) -> None:
    (tmp_path / "here").write_text("text\n")
    key = ["-i", str(server.folder / "user.key"), "-o", "IdentitiesOnly=yes", "-o", "UserKnownHostsFile=/dev/null"]
    base = ["scp", "-q", protocol, "-o", "StrictHostKeyChecking=no", *key, "-P", str(server.port)]
    there = f"admin@127.0.0.1:{tmp_path / 'there'}"
    subprocess.run([*base, str(tmp_path / "here"), there], check=True, timeout=20)
    subprocess.run([*base, there, str(tmp_path / "back")], check=True, timeout=20)
    assert (tmp_path / "back").read_text() == "text\n"


@pytest.fixture
def device(server: Running) -> Iterator[netmiko.BaseConnection]:
    """Netmiko's linux driver; disconnected at once, because as root its `disconnect` waits 10 s for a prompt."""
    device = netmiko.ConnectHandler(
        device_type="linux", host="127.0.0.1", port=server.port, username="admin", password=PASSWORD
    )
    yield device
    device.paramiko_cleanup()


def test_netmikos_linux_driver_gets_answers(device: netmiko.BaseConnection) -> None:
    assert str(device.send_command("echo $((6 * 7))")).strip() == "42"
    assert str(device.send_command("tty")).strip().startswith("/dev/pts/")
    assert str(device.send_command("stty size")).strip() == "1000 511"
    assert [int(line) for line in str(device.send_command("seq 2000")).split()] == list(range(1, 2001))


def test_netmiko_copies_a_file(device: netmiko.BaseConnection, tmp_path: Path) -> None:
    (tmp_path / "here.conf").write_text("hostname leaf1\n")
    result = netmiko.file_transfer(
        device, source_file=str(tmp_path / "here.conf"), dest_file="there.conf", file_system=str(tmp_path)
    )
    assert result["file_verified"]
    assert (tmp_path / "there.conf").read_text() == "hostname leaf1\n"


def test_an_interactive_shell_ends_with_its_own_status(server: Running) -> None:
    with server.client() as client:
        channel = client.invoke_shell()
        channel.sendall(b"exit 5\n")
        assert channel.recv_exit_status() == 5


def test_a_job_in_the_background_does_not_hold_a_shell_open(server: Running) -> None:
    with server.client() as client:
        channel = client.invoke_shell()
        channel.settimeout(10)
        channel.sendall(b"sleep 30 & disown; exit 0\n")
        began = time.monotonic()
        assert channel.recv_exit_status() == 0
    assert time.monotonic() - began < 10


def test_a_detached_job_outlives_the_connection(server: Running, tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    server.run(f"setsid sh -c 'sleep 0.5; echo done > {mark}' >/dev/null 2>&1 </dev/null &")
    assert not mark.exists()
    until(mark.exists)


def test_a_shell_is_hung_up_when_its_client_vanishes(server: Running, tmp_path: Path) -> None:
    mark = tmp_path / "pid"
    mark.touch()
    client = server.client()
    client.invoke_shell().sendall(f"echo $$ > {mark}; exec sleep 600\n".encode())
    until(lambda: bool(mark.read_text()))
    process = Path("/proc") / mark.read_text().strip()
    assert process.exists()
    client.close()
    until(lambda: not process.exists())


def test_the_host_key_is_kept_and_readable_by_its_owner_only(tmp_path: Path) -> None:
    keys = []
    for _ in range(2):
        with start(tmp_path) as process, running(process, tmp_path).client() as client:
            transport = client.get_transport()
            assert transport is not None
            keys.append(transport.get_remote_server_key().get_base64())
            process.terminate()
    assert keys[0] == keys[1]
    assert stat.S_IMODE((tmp_path / "host.key").stat().st_mode) == 0o600


def test_the_server_ends_cleanly_on_sigterm(tmp_path: Path) -> None:
    with start(tmp_path) as process:
        running(process, tmp_path)
        process.terminate()
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == ""


def refusal(process: subprocess.Popen[str]) -> str:
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 2
    return errors.strip()


def test_a_port_in_use_is_a_one_line_error(server: Running, tmp_path: Path) -> None:
    where = f"SSH server 127.0.0.1 port {server.port}"
    problem = f"cannot listen ({in_use(server.port)})"
    assert (
        refusal(start(tmp_path, port=server.port))
        == f"{where}: {problem}. Use a free port and an address of this machine."
    )


def test_an_address_of_another_machine_is_a_one_line_error(tmp_path: Path) -> None:
    process = start(tmp_path, "--host", "192.0.2.1")
    problem = "cannot listen (cannot assign requested address)"
    assert (
        refusal(process) == f"SSH server 192.0.2.1 port 0: {problem}. Use a free port and an address of this machine."
    )


def test_a_bad_host_key_is_a_one_line_error(tmp_path: Path) -> None:
    (tmp_path / "host.key").write_text("nonsense")
    found = refusal(start(tmp_path))
    assert found.startswith(f"SSH server 127.0.0.1 port 0: cannot use the host key {tmp_path / 'host.key'} (")
    assert found.endswith("Remove the file to get a new key.")


def test_bad_authorized_keys_are_a_one_line_error(tmp_path: Path) -> None:
    (tmp_path / "keys").write_text("nonsense\n")
    found = refusal(start(tmp_path, "--authorized-keys", str(tmp_path / "keys")))
    assert found.startswith("SSH server 127.0.0.1 port 0: cannot read the authorized keys (")
    assert found.endswith("Use the format of OpenSSH's authorized_keys.")


def test_missing_authorized_keys_are_a_one_line_error(tmp_path: Path) -> None:
    found = refusal(start(tmp_path, "--authorized-keys", str(tmp_path / "none")))
    problem = f"cannot read {tmp_path / 'none'} (No such file or directory)"
    assert found == f"SSH server 127.0.0.1: {problem}. Use a readable file."


def test_credentials_show_in_no_argument(server: Running) -> None:
    assert PASSWORD.encode() not in (Path("/proc") / str(server.process.pid) / "cmdline").read_bytes()


def test_access_does_not_show_its_secrets() -> None:
    from railfab.ssh.server import SshAccess

    shown = repr(SshAccess(username="admin", password=PASSWORD, authorized_keys="ssh-ed25519 AAAA"))
    assert shown == "SshAccess(username='admin')"
