"""A login at a virtual Linux switch, as RootShell, netmiko and a person meet it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import netmiko
import pytest
from tests.ssh.dialect import PASSWORD, serving

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError, LoginRefused
from railfab.platforms.shared.command_table import CommandTable
from railfab.platforms.shared.linux_files import CommandFailed
from railfab.platforms.shared.root_shell import RootShell
from railfab.platforms.shared.virtual_cli import CliGrammar
from railfab.platforms.shared.virtual_host import VirtualHost
from railfab.platforms.shared.virtual_shell import VirtualShell
from railfab.ssh import END_OF_TEXT, CliUser
from railfab.twin.switch_timers import SwitchTimers

GRAMMAR = CliGrammar(
    modes={"user": "{user}@{host}:~$ ", "root": "root@{host}:/home/{user}# "},
    configures=frozenset(),
    texts={
        "not_root": "Root privileges are required for this operation",
        "unknown": "Error: No such command '{word}'.",
    },
    filters={},
    table=CommandTable(
        [
            {"in": "user root", "line": "show version", "says": "SONiC Software Version: SONiC.twin"},
            {"in": "user root", "line": "vtysh -c {command}", "does": "vtysh"},
            {"in": "root", "line": "config save -y", "does": "save"},
            {"in": "root", "line": "config load {file}", "does": "load"},
        ]
    ),
)
NEVER = str


class Device:
    """A switch with a clock."""

    def __init__(self) -> None:
        self.name = "leaf1"
        self.boots = 0
        self.timers = SwitchTimers("leaf1")


class Login(VirtualShell):
    """Keeps what it has saved in a file."""

    def vtysh(self, command: str) -> str:
        return f"<{command}>"

    def save(self) -> str:
        self.host.files.write("/etc/saved", "yes")
        return "Running command: save"

    def load(self, file: str) -> str:
        text = self.host.files.read(self.path(file))
        if "bad" in text:
            raise CommandFailed("Error: bad", 2, out="loading")
        return text


@pytest.fixture
def device() -> Device:
    return Device()


@pytest.fixture
def host(device: Device) -> VirtualHost:
    return VirtualHost.of(device, ["/home/admin"])  # type: ignore[arg-type]


@pytest.fixture
def login(host: VirtualHost) -> Login:
    return Login(GRAMMAR, host, CliUser(name="admin"))


@pytest.fixture
def root(host: VirtualHost) -> Login:
    return Login(GRAMMAR, host, CliUser(name="root"))


def out(shell: Login, line: str, stdin: str = "") -> tuple[int, str, str]:
    """Exit status and both outputs of an exec request."""
    reply = shell.execute(line, lambda: stdin)
    return reply.status, reply.output, reply.errors


def test_words_that_are_no_command_are_answered_as_a_shell_does(login: Login) -> None:
    assert out(login, "nmap -sS host") == (127, "", "-bash: nmap: command not found\n")
    assert out(login, "show nothing") == (2, "", "Error: No such command 'nothing'.\n")


def test_the_first_word_is_typed_in_full_and_later_ones_may_be_shortened(login: Login) -> None:
    assert out(login, "show ver") == (0, "SONiC Software Version: SONiC.twin\n", "")
    assert out(login, "sho version")[0] == 127


def test_a_quoted_argument_is_one_parameter(login: Login) -> None:
    assert out(login, "vtysh -c 'show bgp  summary json'") == (0, "<show bgp  summary json>\n", "")


def test_commands_of_root_need_it(login: Login) -> None:
    assert out(login, "config save -y") == (1, "", "Root privileges are required for this operation\n")
    assert out(login, "sudo config save -y && cat /etc/saved") == (0, "Running command: save\nyes", "")


def test_a_user_who_only_reads_has_no_sudo(host: VirtualHost) -> None:
    viewer = Login(GRAMMAR, host, CliUser(name="viewer", writes=False))
    assert out(viewer, "sudo -n true") == (1, "", "sudo: a password is required\n")
    assert out(viewer, "sudo config save -y") == (1, "", "viewer is not in the sudoers file.\n")
    assert out(viewer, "echo text > /etc/motd") == (1, "", "-bash: /etc/motd: Permission denied\n")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("true && echo yes || echo no", (0, "yes\n", "")),
        ("false && echo yes || echo no", (0, "no\n", "")),
        ("false; echo $?", (0, "1\n", "")),
        ("echo a\necho b", (0, "a\nb\n", "")),
        ("echo 'a;b' \"c|$USER\" d\\;e", (0, "a;b c|admin d;e\n", "")),
        ("nosuch 2>&1 | grep -q found && echo yes", (0, "yes\n", "")),
        ("nosuch 2>/dev/null", (127, "", "")),
        ("echo one > f; echo two >> f; cat < f", (0, "one\ntwo\n", "")),
        ("cat < nothing", (1, "", "-bash: /home/admin/nothing: No such file or directory\n")),
        ("cat nothing", (1, "", "cat: nothing: No such file or directory\n")),
        ("id -u; id -un; sudo id -u", (0, "1000\nadmin\n0\n", "")),
        ("sudo mkdir /run/a && sudo mkdir /run/a", (1, "", "mkdir: cannot create directory ‘/run/a’: File exists\n")),
        ("mkdir -p b/c && echo x > b/c/d && rm -rf b && test ! -e b", (0, "", "")),
        ("rm b", (1, "", "rm: cannot remove 'b': No such file or directory\n")),
        ("rm -f b", (0, "", "")),
        ("echo x > a; sudo mv a /run/b && cat /var/run/b; ls -1 /run", (0, "x\nb\n", "")),
        ("echo x > a; sha256sum a > l; sha256sum -c --status l && echo y > a; sha256sum -c --status l", (1, "", "")),
        ("sudo -n env A=1 sh -c 'echo $A; id -u'", (0, "1\n0\n", "")),
        ("config load /etc/none", (1, "", "Root privileges are required for this operation\n")),
        ("echo bad > f; sudo config load f", (2, "loading", "Error: bad\n")),
        ("echo &", (2, "", "-bash: syntax error near unexpected token `&'\n")),
        ('echo "$(reboot)"', (2, "", "-bash: command substitution is not available on this virtual switch\n")),
        ("| cat", (2, "", "-bash: syntax error near unexpected token `|'\n")),
        ("echo >", (2, "", "-bash: syntax error near unexpected token `newline'\n")),
        ("", (0, "", "")),
    ],
)
def test_the_shell_runs_lists_pipelines_and_redirections(
    login: Login, line: str, expected: tuple[int, str, str]
) -> None:
    assert out(login, line) == expected


def test_standard_input_becomes_a_file_in_full(root: Login) -> None:
    text = "".join(f"line {number}\n" for number in range(10_000))
    assert out(root, "cat > /run/candidate", text) == (0, "", "")
    assert out(root, "cat /run/candidate") == (0, text, "")


def test_files_in_memory_end_with_the_power_and_others_stay(root: Login, device: Device) -> None:
    out(root, "echo x > /run/a; echo y > /etc/a")
    device.boots += 1
    assert out(root, "cat /etc/a /run/a")[:2] == (1, "y\n")


def test_a_full_flash_is_named(root: Login, host: VirtualHost) -> None:
    host.files.most_bytes = 10
    assert out(root, "cat > /etc/a", "x" * 11) == (1, "", "-bash: /etc/a: No space left on device\n")


def test_a_transient_timer_runs_its_command_as_root_after_the_session(login: Login, root: Login) -> None:
    line = "sudo systemd-run --unit=undo --on-active=0.2 sh -c 'id -u > /run/undone; false'"
    assert out(login, line)[2].splitlines()[0] == "Running timer as unit: undo.timer"
    assert out(login, "systemctl is-active undo.timer") == (0, "active\n", "")
    login.closed()
    until_s = time.monotonic() + 10
    while not root.host.files.exists("/run/undone"):
        assert time.monotonic() < until_s
        time.sleep(0.02)
    assert out(root, "cat /run/undone; systemctl is-active undo.timer") == (3, "0\ninactive\n", "")


def test_a_timer_is_stopped_and_its_name_is_its_lock(root: Login) -> None:
    line = "systemd-run --unit undo --on-active 60 touch"
    assert out(root, line)[0] == 0
    refused = "Failed to start transient timer unit: Unit undo.timer was already loaded or has a fragment file.\n"
    assert out(root, line) == (1, "", refused)
    assert out(root, "systemctl stop undo.timer") == (0, "", "")
    assert out(root, "systemctl stop undo.timer") == (5, "", "Failed to stop undo.timer: Unit undo.timer not loaded.\n")
    assert out(root, line)[0] == 0
    root.host.units.stop("undo.timer")


def test_a_person_becomes_root_and_leaves(login: Login) -> None:
    assert login.greeting().prompt == "admin@leaf1:~$ "
    assert login.answer("sudo -s").prompt == "root@leaf1:/home/admin# "
    assert login.answer("config save -y").output == "Running command: save\n"
    assert login.answer("exit").prompt == "admin@leaf1:~$ "
    assert login.answer("exit").closes


def test_a_person_types_a_text_up_to_ctrl_d_and_a_quotation_over_two_lines(login: Login) -> None:
    assert login.answer("cat > note").takes_text
    assert login.answer("first").takes_text
    assert login.answer(END_OF_TEXT).prompt == "admin@leaf1:~$ "
    assert login.answer("cat note").output == "first\n"
    assert login.answer("echo 'a").prompt == "> "
    assert login.answer("b'").output == "a\nb\n"


@pytest.fixture
def port(tmp_path: Path, host: VirtualHost) -> Iterator[int]:
    with serving(tmp_path, lambda user: Login(GRAMMAR, host, user)) as server:
        yield server.port


def test_a_root_shell_works_through_sudo(port: int) -> None:
    endpoint = Endpoint(name="leaf1", platform="sonic", host="127.0.0.1", ssh_port=port, skip_verify=True)
    shell = RootShell(endpoint, Credentials("admin", PASSWORD))
    shell.open()
    try:
        assert shell.run("cat > '/run/a file'; id -u", stdin="it's\n").out == "0\n"
        assert shell.run("cat '/run/a file'").out == "it's\n"
        assert shell.run("nosuch").status == 127
    finally:
        shell.close()


def test_netmiko_logs_in_and_becomes_root(port: int) -> None:
    with netmiko.ConnectHandler(
        device_type="linux", host="127.0.0.1", port=port, username="admin", password=PASSWORD, conn_timeout=30
    ) as connection:
        assert connection.find_prompt() == "admin@leaf1:~$"
        assert connection.send_command("show version") == "SONiC Software Version: SONiC.twin"
        connection.config_mode()
        assert connection.send_command("config save -y") == "Running command: save"


def test_a_wrong_password_is_one_line(port: int) -> None:
    endpoint = Endpoint(name="leaf1", platform="sonic", host="127.0.0.1", ssh_port=port, skip_verify=True)
    with pytest.raises(LoginRefused, match="rejects user 'admin' or the password"):
        RootShell(endpoint, Credentials("admin", "wrong")).open()


def test_a_switch_without_a_linux_shell_is_named(tmp_path: Path) -> None:
    with serving(tmp_path) as server:
        endpoint = Endpoint(name="leaf1", platform="sonic", host="127.0.0.1", ssh_port=server.port, skip_verify=True)
        with pytest.raises(DeviceError, match="answers `id -u` with '% Invalid input', so it is no Linux shell"):
            RootShell(endpoint, Credentials("admin", PASSWORD)).open()
