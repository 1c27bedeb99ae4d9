"""A switch that fails: dead and frozen daemons, a frozen SSH server, a full disk, a hung vtysh. Real FRR, real SSH."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from nornir.core import Nornir
from nornir.core.configuration import Config
from nornir.core.inventory import Defaults, Groups, Host, Hosts, Inventory
from nornir.core.processor import Processors
from nornir.core.task import Task
from tests.integration.frr.bench import CREDENTIALS, Node, change, eventually, program_with, settle, without_version
from tests.platforms.frr.switches import LEAF, SLOWER, text
from tests.sampled import sampled

from railfab.deploy import tasks
from railfab.errors import DeviceError, NotRolledBack, Unreachable
from railfab.platforms.frr import session as frr_session
from railfab.platforms.frr.session import FrrSession
from railfab.platforms.shared import root_shell

pytestmark = pytest.mark.lab


@pytest.fixture
def leaf(switches: tuple[Node, Node]) -> Node:
    return settle(switches[0], LEAF)


@pytest.fixture
def restarted(leaf: Node) -> Iterator[None]:
    """Starts the daemons again after a test that has stopped some."""
    yield
    leaf.inside("sh", "-c", "kill -CONT $(cat /var/run/frr/*.pid) 2>/dev/null || true")
    restart(leaf)


def restart(node: Node) -> None:
    node.inside("/usr/lib/frr/watchfrr.sh", "restart", "all")
    assert eventually(lambda: "router bgp" in node.running())


def daemon(node: Node, name: str, sign: str) -> None:
    node.inside("sh", "-c", f"kill -{sign} $(cat /var/run/frr/{name}.pid)")


def refusal(call: Callable[[], object]) -> str:
    with pytest.raises(DeviceError) as refused:
        call()
    assert "\n" not in str(refused.value)
    return str(refused.value)


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sessions whose program waits less for daemons, and tries a rollback again sooner, than it does for users."""
    shorter = program_with(DAEMON_WITHIN_S=2, SHOW_WITHIN_S=4, RETRY_EVERY_S=1)
    monkeypatch.setattr(frr_session, "program", lambda: shorter)


@pytest.mark.usefixtures("restarted")
@pytest.mark.parametrize("name", sampled(["bgpd", "bfdd", "zebra"], few=["zebra"]))
def test_a_dead_daemon_is_named_and_nothing_is_armed_or_saved(leaf: Node, name: str) -> None:
    saved = leaf.startup.read_text()
    expected = f"rft-leaf: {name} does not run. Start it, or check /etc/frr/daemons."
    with leaf.session() as session:
        staged = session.stage(text(SLOWER))
        daemon(leaf, name, "KILL")
        assert eventually(lambda: "does not run" in _problem(session))
        assert refusal(session.running) == expected
        assert refusal(lambda: session.stage(text(SLOWER))) == expected
        assert refusal(lambda: session.commit(staged, change(), 300)) == expected
        assert refusal(session.observe) == expected
    assert leaf.startup.read_text() == saved
    assert leaf.left_behind() == set()


def _problem(session: FrrSession) -> str:
    try:
        session.running()
    except DeviceError as error:
        return error.problem
    return ""


@pytest.mark.usefixtures("restarted")
def test_a_daemon_that_only_the_candidate_needs_is_named(leaf: Node) -> None:
    """A switch without BGP, on which bgpd has never been started."""
    node, daemons = leaf, leaf.root / "etc" / "daemons"
    enabled, saved = daemons.read_text(), leaf.startup.read_text()
    leaf.inside("/usr/lib/frr/watchfrr.sh", "stop", "bgpd")
    try:
        daemons.write_text(enabled.replace("bgpd=yes", "bgpd=no"))
        node.startup.write_text("frr defaults datacenter\nhostname rft-leaf\nservice integrated-vtysh-config\n")
        with node.session() as session:
            assert "router bgp" not in session.running().text
            message = refusal(lambda: session.stage(text(LEAF)))
    finally:
        daemons.write_text(enabled)
        node.startup.write_text(saved)
    assert message == "rft-leaf: bgpd does not run. Start it, or check /etc/frr/daemons."


@pytest.mark.usefixtures("restarted")
def test_a_daemon_that_dies_before_the_confirmation_is_named_and_nothing_is_saved(leaf: Node) -> None:
    saved = leaf.startup.read_text()
    with leaf.session() as session:
        session.commit(session.stage(text(SLOWER)), change(), 300)
        daemon(leaf, "bgpd", "KILL")
        assert eventually(lambda: "does not run" in _problem(session))
        assert "bgpd does not run" in refusal(lambda: session.confirm(change()))
        assert "bgpd does not run" in refusal(lambda: session.revert(change()))
        assert leaf.startup.read_text() == saved
        restart(leaf)
        found = session.running().pending
        assert found is not None
        assert found.change == change()
        session.revert(change())
        assert session.running().pending is None
    assert without_version(leaf.running()) == text(LEAF)


@pytest.mark.usefixtures("impatient", "restarted")
@pytest.mark.parametrize("name", sampled(["bgpd", "zebra"], few=["bgpd"]))
def test_a_frozen_daemon_is_named_within_seconds(leaf: Node, name: str) -> None:
    with leaf.session() as session:
        staged = session.stage(text(SLOWER))
        daemon(leaf, name, "STOP")
        began = time.monotonic()
        for call in (session.running, lambda: session.commit(staged, change(), 300)):
            assert refusal(call) == f"rft-leaf: {name} does not answer. Check the switch's load."
        assert time.monotonic() - began < 20
        daemon(leaf, name, "CONT")
        assert session.running().pending is None


@pytest.mark.usefixtures("impatient", "restarted")
def test_a_change_whose_time_ends_while_a_daemon_is_frozen_is_reverted_when_it_answers_again(leaf: Node) -> None:
    former = leaf.running()
    with leaf.session() as session:
        session.commit(session.stage(text(SLOWER)), change(), 5)
    daemon(leaf, "bgpd", "STOP")
    record = leaf.root / "run" / "railfab" / "change" / "record.json"
    assert eventually(lambda: "bgpd does not answer" in record.read_text())
    daemon(leaf, "bgpd", "CONT")
    assert eventually(lambda: not leaf.left_behind())
    assert leaf.running() == former


@contextmanager
def frozen_server(node: Node) -> Iterator[None]:
    pids = node.inside("pgrep", "-f", "railfab.ssh --host").split()
    node.inside("kill", "-STOP", *pids)
    try:
        yield
    finally:
        node.inside("kill", "-CONT", *pids)


def test_a_frozen_server_is_unreachable_within_the_limit(leaf: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(root_shell, "CONNECT_WITHIN_S", 3)
    endpoint = leaf.endpoint
    with frozen_server(leaf):
        began = time.monotonic()
        with pytest.raises(Unreachable) as refused, leaf.session():
            pass
        assert time.monotonic() - began < 6
    problem = f"no SSH connection to {endpoint.host} port 22"
    assert str(refused.value) == f"rft-leaf: {problem}. Check the address and that the switch is up."


def test_a_server_that_freezes_between_two_commands_is_unreachable_within_the_limit(
    leaf: Node, caplog: pytest.LogCaptureFixture
) -> None:
    with leaf.session() as session, frozen_server(leaf):
        began = time.monotonic()
        with pytest.raises(Unreachable) as refused:
            session._shell.run("true", within_s=2)
        assert time.monotonic() - began < 5
        with pytest.raises(Unreachable):
            session.running()
    assert str(refused.value) == "rft-leaf: does not answer within 2 s. Check the connection and the switch's load."
    assert caplog.text == ""


@pytest.mark.usefixtures("restarted")
def test_a_deploy_to_a_server_that_freezes_before_the_commit_ends_and_says_to_check_the_switch(
    leaf: Node, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It lasts no longer than the timer with its margin, here 2 s, and the tries to reach the switch again."""
    monkeypatch.setattr(frr_session, "COMMIT_MARGIN_S", 2.0 - tasks.CONFIRM_WITHIN_S)
    monkeypatch.setattr(root_shell, "CONNECT_WITHIN_S", 2)
    monkeypatch.setattr(tasks, "RECONNECT_WITHIN_S", 2.0)
    with ExitStack() as frozen, pytest.MonkeyPatch.context() as patched:
        commit = _after(lambda: frozen.enter_context(frozen_server(leaf)), FrrSession.commit)
        patched.setattr(FrrSession, "commit", commit)
        began = time.monotonic()
        with pytest.raises(NotRolledBack) as left:
            task_of(leaf, text(SLOWER))
        assert time.monotonic() - began < 60
    assert "does not answer within 2 s" in str(left.value)


@pytest.mark.parametrize("sign", sampled([signal.SIGTERM, signal.SIGINT], few=[signal.SIGTERM]))
def test_another_thread_ends_a_session_that_waits_so_that_a_signal_ends_the_process(leaf: Node, sign: int) -> None:
    program = (
        "import signal, sys, threading\n"
        "import paramiko\n"  # or the signal comes before the session connects
        "from railfab.endpoints import Credentials, Endpoint\n"
        "from railfab.platforms import platform\n"
        f"endpoint = Endpoint(name='leaf', platform='frr', host={leaf.endpoint.host!r}, skip_verify=True)\n"
        f"session = platform('frr').session(endpoint, Credentials('admin', {CREDENTIALS.password!r}))\n"
        "def work():\n"
        "    try:\n"
        "        with session:\n"
        "            session.running()\n"
        "    except Exception as error:\n"
        "        print(type(error).__name__, flush=True)\n"
        "def stop(*_):\n"
        "    session.__exit__(None, None, None)\n"
        "signal.signal(signal.SIGTERM, stop)\n"
        "signal.signal(signal.SIGINT, stop)\n"
        "thread = threading.Thread(target=work)\n"
        "thread.start()\n"
        "print('started', flush=True)\n"
        "while thread.is_alive():\n"
        "    thread.join(0.1)\n"
    )
    with frozen_server(leaf):
        process = subprocess.Popen(
            [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=os.environ
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        time.sleep(1.5)
        process.send_signal(sign)
        began = time.monotonic()
        out, _ = process.communicate(timeout=60)
        assert time.monotonic() - began < 10, "a login has 15 s"
    assert out == "Unreachable\n"


@contextmanager
def small_disk(node: Node, folder: str) -> Iterator[Callable[[], object]]:
    """A folder of the switch on a file system of 64 kB, and what fills it."""
    copy = "mkdir -p /tmp/small && mount -t tmpfs -o size=64k tmpfs /tmp/small"
    node.inside("sh", "-c", f"{copy} && cp -a {folder}/. /tmp/small/ && mount --bind /tmp/small {folder}")
    try:
        yield lambda: node.inside("sh", "-c", f"cat /dev/zero > {folder}/filler 2>/dev/null || true")
    finally:
        node.inside("sh", "-c", f"umount -l {folder}; umount -l /tmp/small")


ETC, RUN = "/etc/frr", "/var/run/frr/railfab"
NO_SPACE = "(No space left on device)"
CHECK_RUN = "Check the free space of /var/run/frr; the switch is unchanged."
FULL_DISKS = (
    (ETC, "stage", f"cannot save its configuration {NO_SPACE}. Check the free space of /etc/frr."),
    (RUN, "stage", f"cannot store the candidate {NO_SPACE}. {CHECK_RUN}"),
    (RUN, "commit", f"cannot store the candidate and the running configuration {NO_SPACE}. {CHECK_RUN}"),
    (RUN, "confirm", f"cannot work in {RUN} {NO_SPACE}. Check the free space and the permissions of the switch."),
)
"""Disks, the step of a deploy before which they fill, and the error. No step before `confirm` writes to /etc/frr."""


def test_a_disk_that_fills_before_any_step_of_a_deploy_leaves_the_former_configuration(leaf: Node) -> None:
    """A switch that `deploy` calls `failed, unchanged` is unchanged then, not two minutes later."""
    former, saved = leaf.running(), leaf.startup.read_text()
    for disk, step, message in FULL_DISKS:
        with small_disk(leaf, disk) as fill, pytest.MonkeyPatch.context() as patched:
            patched.setattr(FrrSession, step, _after(fill, getattr(FrrSession, step)))
            assert refusal(lambda: configure(leaf, text(SLOWER))) == f"rft-leaf: {message}"
            assert leaf.inside("cat", f"{ETC}/frr.conf") == saved
            assert "change" not in leaf.inside("ls", RUN).split()
        assert leaf.running() == former


def _after(fill: Callable[[], object], step: Callable[..., Any]) -> Callable[..., Any]:
    """A step of a session that begins when the disk has been filled."""

    def filled(*arguments: Any) -> Any:
        fill()
        return step(*arguments)

    return filled


def configure(node: Node, configuration: str) -> None:
    """Change a switch as `deploy` does. Raises DeviceError when the switch is unchanged."""
    try:
        task_of(node, configuration)
    except NotRolledBack as error:
        raise AssertionError(error) from error


def task_of(node: Node, configuration: str) -> None:
    """Change a switch as `deploy` does. Raises NotRolledBack when one has to check it."""
    host = Host(name=node.name, data={"endpoint": node.endpoint})
    inventory = Inventory(hosts=Hosts({node.name: host}), groups=Groups(), defaults=Defaults())
    nornir = Nornir(inventory=inventory, config=Config())
    task = Task(task=tasks.configure, nornir=nornir, global_dry_run=False, processors=Processors())
    task.host = host
    tasks.configure(task, {node.name: configuration}, change())


@pytest.mark.usefixtures("impatient")
def test_a_hung_vtysh_ends_with_its_limit(leaf: Node) -> None:
    leaf.inside("sh", "-c", "printf '#!/bin/sh\\nsleep 600\\n' > /tmp/vtysh && chmod 755 /tmp/vtysh")
    leaf.inside("mount", "--bind", "/tmp/vtysh", "/usr/bin/vtysh")
    try:
        with leaf.session() as session:
            began = time.monotonic()
            message = refusal(session.running)
            assert time.monotonic() - began < 20
        assert leaf.inside("sh", "-c", "pgrep -f '^sleep 600' || true") == ""
    finally:
        leaf.inside("umount", "/usr/bin/vtysh")
    assert message == "rft-leaf: `vtysh` did not end within 4 s. Check the load and FRR of the switch."


def test_no_thread_of_a_session_is_left(leaf: Node) -> None:
    before = threading.active_count()
    with leaf.session() as session:
        session.running()
    assert eventually(lambda: threading.active_count() <= before)
