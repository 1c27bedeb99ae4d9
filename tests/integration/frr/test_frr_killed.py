"""A deploy that is killed at any moment, on the client or on the switch, on real FRR over real SSH.

After each kill a new session finds the change, or none; it reverts to exactly the former text, or confirms; and what
FRR would boot is at every moment a configuration that was confirmed. `make kills` kills at many more moments.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.integration.frr.bench import Node, change, eventually, program_with, settle, without_version
from tests.platforms.frr.switches import LEAF, SLOWER, text
from tests.sampled import sampled

from railfab.errors import CommitRefused, Unreachable
from railfab.platforms import Pending, Verb
from railfab.platforms.frr.session import FrrSession

pytestmark = pytest.mark.lab


HOLD = "; status=$?; cd /var/tmp/frr; touch held; until [ -e go ]; do sleep 0.05; done; rm held; exit $status"
"""Added to the command that applies a candidate: it makes a file `held`, and ends when there is a file `go`."""

DEPLOY = """\
import sys
from pathlib import Path
from railfab.endpoints import Credentials, Endpoint
from railfab.platforms import ChangeName, platform
from tests.integration.frr.bench import CREDENTIALS
name, host, known, text, within_s, hold = sys.argv[1:]
endpoint = Endpoint(name=name, platform="frr", host=host, ssh_port=22, known_hosts=known)
change = ChangeName(deploy="deploy1", user="alice", host="desk")
def reach(step):
    print(step, flush=True)
    sys.stdin.readline()
with platform("frr").session(endpoint, CREDENTIALS) as session:
    session._commands["replace"] += hold
    staged = session.stage(Path(text).read_text())
    reach("staged")
    session.commit(staged, change, int(within_s))
    reach("committed")
    session.confirm(change)
    reach("confirmed")
"""
"""A process that deploys, says what it has done, and waits for a line before it does more."""


class Deploy:
    """A process that deploys SLOWER to a switch. hold: added to the command that applies it."""

    def __init__(self, node: Node, folder: Path, *, within_s: int = 300, hold: str = "") -> None:
        candidate = folder / "candidate.conf"
        candidate.write_text(text(SLOWER))
        endpoint = node.endpoint
        arguments = [endpoint.name, endpoint.host, str(endpoint.known_hosts), str(candidate), str(within_s), hold]
        paths = os.pathsep.join(path for path in sys.path if path)
        self.process = subprocess.Popen(
            [sys.executable, "-c", DEPLOY, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=os.environ | {"PYTHONPATH": paths},
            start_new_session=True,
        )

    def resume(self, steps: int = 1) -> None:
        """Let it continue beyond the step where it waits, and beyond others."""
        assert self.process.stdin is not None
        self.process.stdin.write("\n" * steps)
        self.process.stdin.flush()

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

    def __enter__(self) -> Deploy:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.kill()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()


@contextmanager
def booting_only_what_was_confirmed(node: Node) -> Iterator[None]:
    """Look again and again what FRR would boot; it is LEAF or SLOWER, and the file of LEAF is replaced, not written."""
    seen: set[str] = set()
    ended = threading.Event()

    def read() -> None:
        while not ended.wait(0.005):
            seen.add(without_version(node.startup.read_text()))

    thread = threading.Thread(target=read)
    with node.startup.open() as former:
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()
        assert without_version(former.read()) == text(LEAF)
    assert seen <= {text(LEAF), text(SLOWER)}


@pytest.fixture
def leaf(switches: tuple[Node, Node]) -> Node:
    return settle(switches[0], LEAF)


def pending(node: Node) -> Pending | None:
    with node.session() as session:
        return session.running().pending


def idle(node: Node) -> bool:
    """No program of a session runs on the switch but the job of a pending change."""
    change_is_pending = (node.root / "run" / "railfab" / "change").exists()
    return len(node.programs()) <= (1 if change_is_pending else 0)


def programs_waiting_for_the_lock(node: Node) -> list[int]:
    """Without the job of a pending change, which waits too until the commit has ended."""
    jobs = {node.job()} if (node.root / "run" / "railfab" / "change").exists() else set()
    return [pid for pid in node.waiting_for_lock() if pid not in jobs]


@contextmanager
def deploy_that_applies(node: Node, folder: Path) -> Iterator[Deploy]:
    """A deploy whose candidate is applied, by a command that has not ended; it continues at the end."""
    held, go = (node.root / "tmp" / name for name in ("held", "go"))
    with Deploy(node, folder, hold=HOLD) as deploy:
        try:
            deploy.reach("staged")
            deploy.resume()
            assert eventually(held.exists)
            yield deploy
        finally:
            go.touch()
            assert eventually(lambda: not held.exists() and idle(node)), node.programs()
            go.unlink()


@contextmanager
def deploy_that_waits_for_the_lock(node: Node, folder: Path, step: str) -> Iterator[Deploy]:
    """A deploy whose next step waits for the lock of the switch; it continues at the end."""
    with Deploy(node, folder) as deploy:
        deploy.reach("staged")
        if step == "committed":
            deploy.resume()
            deploy.reach("committed")
        with node.locked():
            deploy.resume()
            assert eventually(lambda: programs_waiting_for_the_lock(node) != [])
            yield deploy
        assert eventually(lambda: idle(node)), node.programs()


ENDS = [("staged", True, "none"), ("committed", False, "reverted"), ("committed", True, "confirmed")]


@pytest.mark.parametrize(("step", "confirming", "end"), sampled(ENDS, few=ENDS[2:]))
def test_a_deploy_killed_between_two_steps_leaves_what_it_had_done(
    leaf: Node, tmp_path: Path, step: str, confirming: bool, end: str
) -> None:
    former = leaf.running()
    with booting_only_what_was_confirmed(leaf):
        with Deploy(leaf, tmp_path) as deploy:
            deploy.reach("staged")
            if step == "committed":
                deploy.resume()
                deploy.reach("committed")
            deploy.kill()
        assert finish(leaf, former, confirming=confirming) == end


@pytest.mark.matrix
def test_a_deploy_killed_while_the_switch_applies_leaves_a_change_that_a_later_session_confirms(
    leaf: Node, tmp_path: Path
) -> None:
    former = leaf.running()
    with booting_only_what_was_confirmed(leaf):
        with deploy_that_applies(leaf, tmp_path) as deploy:
            deploy.kill()
        assert finish(leaf, former, confirming=True) == "confirmed"


def test_a_later_session_waits_for_the_end_of_a_change_whose_deploy_was_killed(
    leaf: Node, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The switch applies for longer than sessions wait for each other."""
    former = leaf.running()
    hasty = program_with(LOCK_WITHIN_S=0.1)
    monkeypatch.setattr("railfab.platforms.frr.session.program", lambda: hasty)
    with ThreadPoolExecutor() as later, deploy_that_applies(leaf, tmp_path) as deploy:
        deploy.kill()
        finished = later.submit(finish, leaf, former, confirming=False)
        assert eventually(lambda: len(programs_waiting_for_the_lock(leaf)) == 2), "it, and the one that applies"
        time.sleep(0.5)
    assert finished.result() == "reverted"


def test_a_program_killed_while_it_applies_leaves_a_change_that_can_be_reverted_only(
    leaf: Node, tmp_path: Path
) -> None:
    former = leaf.running()
    with booting_only_what_was_confirmed(leaf):
        with deploy_that_applies(leaf, tmp_path):
            (program,) = set(leaf.programs()) - {leaf.job()}
            leaf.kill(program)
        assert finish(leaf, former, confirming=True) == "reverted"


@pytest.mark.matrix
def test_a_program_killed_before_it_changes_anything_leaves_nothing(leaf: Node, tmp_path: Path) -> None:
    """Between two steps, and while it applies, one is killed in `make test`."""
    former = leaf.running()
    with booting_only_what_was_confirmed(leaf):
        with deploy_that_waits_for_the_lock(leaf, tmp_path, "staged"):
            leaf.kill(*programs_waiting_for_the_lock(leaf))
        assert finish(leaf, former, confirming=True) == "none"


@pytest.mark.parametrize(("confirming", "end"), sampled([(True, "confirmed"), (False, "reverted")], few=[]))
def test_a_program_killed_before_it_confirms_leaves_the_change(
    leaf: Node, tmp_path: Path, confirming: bool, end: str
) -> None:
    """In `make test` the deploy is killed there, and a program while it applies."""
    former = leaf.running()
    with booting_only_what_was_confirmed(leaf):
        with deploy_that_waits_for_the_lock(leaf, tmp_path, "committed"):
            leaf.kill(*programs_waiting_for_the_lock(leaf))
        assert finish(leaf, former, confirming=confirming) == end


@pytest.mark.matrix
def test_a_switch_that_was_asked_to_confirm_does_so_although_the_deploy_was_killed(leaf: Node, tmp_path: Path) -> None:
    with booting_only_what_was_confirmed(leaf):
        with deploy_that_waits_for_the_lock(leaf, tmp_path, "committed") as deploy:
            deploy.kill()
        assert pending(leaf) is None
    assert without_version(leaf.startup.read_text()) == text(SLOWER)


KILLS = tuple(
    (*moment, victim, confirming)
    for moment in (
        *(("staged", delay_s) for delay_s in (0.0, 0.1, 0.2, 0.35, 0.6)),
        *(("committed", delay_s) for delay_s in (0.0, 0.04, 0.08, 0.12)),
    )
    for victim in ("deploy", "program")
    for confirming in (False, True)
)
"""When to kill (this long after a step), whom, and whether a later session confirms or reverts."""


@pytest.mark.parametrize(("step", "delay_s", "victim", "confirming"), sampled(KILLS, few=[]))
def test_a_deploy_killed_at_any_moment_leaves_a_change_that_is_finished_by_name(
    leaf: Node, tmp_path: Path, step: str, delay_s: float, victim: str, confirming: bool
) -> None:
    former = leaf.running()
    with booting_only_what_was_confirmed(leaf), Deploy(leaf, tmp_path) as deploy:
        deploy.resume(3)
        deploy.reach(step)
        time.sleep(delay_s)
        if victim == "deploy":
            deploy.kill()
        elif running := leaf.programs():
            leaf.kill(max(running))
        assert eventually(lambda: idle(leaf)), leaf.programs()
        finish(leaf, former, confirming=confirming)


def finish(node: Node, former: str, *, confirming: bool) -> str:
    """Confirm or revert what a killed deploy left; how it ended. Each end is checked as a whole."""
    with node.session() as session:
        found = session.running().pending
        assert found is None or found.change == change()
        if found is not None and not (confirming and confirms(session)):
            session.revert(change())
        after = session.running()
    assert after.pending is None
    left = node.left_behind()
    if found is None:  # killed before the change began: the next commit removes what this one has prepared
        left = {name for name in left if not name.startswith("prepared.")}
    assert left == set()
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


@pytest.mark.parametrize("delay_s", sampled([0.0, 0.1, 0.3], few=[0.3]))
def test_a_change_that_nobody_finishes_is_reverted_in_running_and_startup(
    leaf: Node, tmp_path: Path, delay_s: float
) -> None:
    former, saved = leaf.running(), leaf.startup.read_text()
    with Deploy(leaf, tmp_path, within_s=4) as deploy:
        deploy.reach("staged")
        deploy.resume()
        time.sleep(delay_s)
        deploy.kill()
    assert eventually(lambda: idle(leaf) and not leaf.left_behind())
    assert (leaf.running(), leaf.startup.read_text()) == (former, saved)
    assert pending(leaf) is None


def test_frr_boots_the_former_configuration_when_it_restarts_before_the_confirmation(leaf: Node) -> None:
    former = leaf.running()
    with leaf.session() as session:
        session.commit(session.stage(text(SLOWER)), change(), 300)
        leaf.inside("/usr/lib/frr/watchfrr.sh", "restart", "all")
        assert eventually(lambda: leaf.running() == former)
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
