"""A deploy that is killed at any moment, on the client or on the switch, on real FRR over real SSH.

After each kill a new session finds the change, or none; it reverts to exactly the former text, or confirms; and what
FRR would boot is at every moment a configuration that was confirmed.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.frr.bench import Node, change, settle, within, without_version
from tests.platforms.frr.switches import LEAF, SLOWER, text

from railfab.errors import CommitRefused, Unreachable
from railfab.platforms import Pending, Verb
from railfab.platforms.frr.session import FrrSession

pytestmark = pytest.mark.lab


DEPLOY = """\
import sys
from pathlib import Path
from railfab.endpoints import Credentials, Endpoint
from railfab.platforms import ChangeName, platform
from tests.integration.frr.bench import CREDENTIALS
name, host, known, text, within_s = sys.argv[1:]
endpoint = Endpoint(name=name, platform="frr", host=host, ssh_port=22, known_hosts=known)
change = ChangeName(deploy="deploy1", user="alice", host="desk")
with platform("frr").session(endpoint, CREDENTIALS) as session:
    print("open", flush=True)
    staged = session.stage(Path(text).read_text())
    print("staged", flush=True)
    session.commit(staged, change, int(within_s))
    print("committed", flush=True)
    session.confirm(change)
    print("confirmed", flush=True)
"""
"""A process that deploys, and says what it has done."""


class Deploy:
    """A process that deploys SLOWER to a switch."""

    def __init__(self, node: Node, folder: Path, within_s: int = 300) -> None:
        candidate = folder / "candidate.conf"
        candidate.write_text(text(SLOWER))
        endpoint = node.endpoint
        arguments = [endpoint.name, endpoint.host, str(endpoint.known_hosts), str(candidate), str(within_s)]
        paths = os.pathsep.join(path for path in sys.path if path)
        self.process = subprocess.Popen(
            [sys.executable, "-c", DEPLOY, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"PYTHONPATH": paths},
            start_new_session=True,
        )

    def reach(self, step: str) -> None:
        """Wait until it has done a step."""
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.strip() == step:
                return
        raise AssertionError(f"the deploy ended before {step!r}")

    def kill(self) -> None:
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        assert self.process.stdout is not None
        self.process.stdout.close()


class Watch:
    """Reads the startup file again and again; every text that it had."""

    def __init__(self, node: Node) -> None:
        self.seen: set[str] = set()
        self._node = node
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._read)

    def _read(self) -> None:
        while not self._ended.is_set():
            self.seen.add(self._node.startup.read_text())

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


@pytest.fixture
def leaf(switches: tuple[Node, Node]) -> Iterator[Node]:
    yield settle(switches[0], LEAF)
    settle(switches[0], LEAF)


def pending(node: Node) -> Pending | None:
    with node.session() as session:
        return session.running().pending


def idle(node: Node) -> bool:
    """No program of a session runs on the switch but the job of a pending change."""
    change_is_pending = (node.root / "run" / "railfab" / "change").exists()
    return len(node.programs()) <= (1 if change_is_pending else 0)


MOMENTS = (
    *(("staged", delay) for delay in (0.0, 0.2, 0.6)),
    *(("committed", delay) for delay in (0.0, 0.08)),
)
"""When to kill: this long after a step [s]."""


@pytest.mark.parametrize("victim", ["deploy", "program"])
def test_a_deploy_killed_at_any_moment_leaves_a_change_that_is_finished_by_name(
    leaf: Node, tmp_path: Path, victim: str
) -> None:
    former, saved = leaf.running(), leaf.startup.read_text()
    ends = set()
    for number, (step, delay) in enumerate(MOMENTS):
        deploy = Deploy(leaf, tmp_path)
        try:
            with Watch(leaf) as watch:
                deploy.reach(step)
                time.sleep(delay)
                if victim == "deploy":
                    deploy.kill()
                elif running := leaf.programs():
                    leaf.kill(max(running))
                assert within(30, lambda: idle(leaf)), leaf.programs()
                ends.add(finish(leaf, former, confirming=bool(number % 2)))
        finally:
            if deploy.process.poll() is None:
                deploy.kill()
        assert {without_version(seen) for seen in watch.seen} <= {text(LEAF), text(SLOWER)}, (step, delay)
        settle(leaf, LEAF)
        assert (leaf.running(), without_version(leaf.startup.read_text())) == (former, without_version(saved))
    assert {"reverted", "confirmed"} <= ends


def finish(node: Node, former: str, *, confirming: bool) -> str:
    """Confirm or revert what a killed deploy left; how it ended. Each end is checked as a whole."""
    with node.session() as session:
        found = session.running().pending
        assert found is None or found.change == change()
        if found is not None and not (confirming and confirms(session)):
            session.revert(change())
        after = session.running()
    assert after.pending is None
    assert node.left_behind() == set()
    boots = without_version(node.startup.read_text())
    if after.text == former:
        assert boots == text(LEAF)
        return "none" if found is None else "reverted"
    assert (without_version(after.text), boots) == (text(SLOWER), text(SLOWER))
    return "confirmed"


def confirms(session: FrrSession) -> bool:
    """Confirm; False when the switch refuses because the change was not applied to its end."""
    try:
        session.confirm(change())
    except CommitRefused as refused:
        if "has applied a part of the change only" not in str(refused):
            raise
        return False
    return True


@pytest.mark.parametrize("delay", [0.0, 0.1, 0.3])
def test_a_change_that_nobody_finishes_is_reverted_in_running_and_startup(
    leaf: Node, tmp_path: Path, delay: float
) -> None:
    former, saved = leaf.running(), leaf.startup.read_text()
    deploy = Deploy(leaf, tmp_path, within_s=4)
    deploy.reach("staged")
    time.sleep(delay)
    deploy.kill()
    assert within(40, lambda: idle(leaf) and not leaf.left_behind())
    assert (leaf.running(), leaf.startup.read_text()) == (former, saved)
    assert pending(leaf) is None


def test_frr_boots_the_former_configuration_when_it_restarts_before_the_confirmation(leaf: Node) -> None:
    former = leaf.running()
    with leaf.session() as session:
        session.commit(session.stage(text(SLOWER)), change(), 300)
        leaf.inside("/usr/lib/frr/watchfrr.sh", "restart", "all")
        assert within(30, lambda: leaf.running() == former)
        with pytest.raises(CommitRefused):
            session.confirm(change())
        session.revert(change())
        assert session.running().pending is None
    assert leaf.running() == former


def test_frr_boots_what_was_confirmed(leaf: Node) -> None:
    with leaf.session() as session:
        session.commit(session.stage(text(SLOWER)), change(), 300)
        session.confirm(change())
        session.operate(Verb.RELOAD)
        assert without_version(session.running().text) == text(SLOWER)


def test_after_a_reboot_of_the_switch_nothing_is_pending(leaf: Node) -> None:
    """`/var/run` is empty after a reboot, and FRR runs its startup configuration."""
    with leaf.session() as session:
        session.commit(session.stage(text(SLOWER)), change(), 300)
        leaf.kill(leaf.job())
        leaf.inside("rm", "-r", "/var/run/frr/railfab")
        session.operate(Verb.RELOAD)
        assert session.running().pending is None
        session.revert(change())
        with pytest.raises(CommitRefused):
            session.confirm(change())
    assert without_version(leaf.running()) == text(LEAF)


def test_a_switch_whose_server_freezes_is_unreachable_and_finished_when_it_is_back(
    leaf: Node, switches: tuple[Node, Node]
) -> None:
    with leaf.session() as session:
        session.commit(session.stage(text(SLOWER)), change(), 300)
        server = leaf.inside("pgrep", "-f", "railfab.ssh --host").split()
        leaf.inside("kill", "-STOP", *server)
        try:
            waiting = threading.Timer(1.0, session.__exit__, (None, None, None))
            waiting.start()
            began = time.monotonic()
            with pytest.raises(Unreachable):
                session.confirm(change())
            assert time.monotonic() - began < 5
        finally:
            leaf.inside("kill", "-CONT", *server)
    with leaf.session() as session:
        session.confirm(change())
    assert without_version(leaf.startup.read_text()) == text(SLOWER)
