"""A test run that is killed, in whatever way, leaves no process, namespace or interface; two runs share nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.integration.conftest import wait_for
from tests.namespaces import ENTERED
from tests.sampled import sampled
from tests.signals import interruptible

from railfab.lab.netns.namespaces import interface_names, namespace_names
from railfab.lab.netns.processes import PROC

pytestmark = [pytest.mark.lab, pytest.mark.timeout(400)]

LEAVES_A_LAB_UP = Path(__file__).with_name("leaves_a_lab_up.py")
UP_WITHIN_S, GONE_WITHIN_S = 120, 60
MARK = "LAB_IS_UP"
IN_THIS_PROCESS, IN_A_WORKER = "0", "1"


@contextmanager
def run_with_a_lab(repository: Path, up: Path, workers: str) -> Iterator[subprocess.Popen[bytes]]:
    """A test run in which a lab is up. up: file that it makes then, and the value of the mark of its processes."""
    inherited = {name: value for name, value in os.environ.items() if name != ENTERED}
    options = ["-n", workers, "--max-worker-restart", "0", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", *options, str(LEAVES_A_LAB_UP)]
    with subprocess.Popen(
        interruptible(command),
        cwd=repository,
        env=inherited | {MARK: str(up)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as run:
        try:
            wait_for(lambda: up.exists() or run.poll() is not None, "the lab is up", UP_WITHIN_S)
            assert run.poll() is None
            yield run
        finally:
            run.kill()


def processes(up: Path) -> list[Path]:
    """Folders under /proc of everything that a run started, itself included."""
    needle = f"{MARK}={up}".encode()
    return [folder for folder in PROC.glob("[0-9]*") if needle in _read(folder / "environ").split(b"\0")]


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:  # it has ended
        return b""


def kill_run(run: subprocess.Popen[bytes], up: Path) -> None:
    run.kill()


def interrupt_run(run: subprocess.Popen[bytes], up: Path) -> None:
    """Ctrl-C: the terminal signals the whole process group."""
    os.killpg(run.pid, signal.SIGINT)


def kill_worker(run: subprocess.Popen[bytes], up: Path) -> None:
    """Kill the process of pytest-xdist in which the tests run."""
    workers = [
        folder for folder in processes(up) if _read(folder / "cmdline").startswith(f"{sys.executable}\0-u".encode())
    ]
    assert len(workers) == 1
    os.kill(int(workers[0].name), signal.SIGKILL)


ENDS = {
    "run": (IN_A_WORKER, kill_run),
    "worker": (IN_A_WORKER, kill_worker),
    "interrupted": (IN_A_WORKER, interrupt_run),
    "run without workers": (IN_THIS_PROCESS, kill_run),
    "interrupted without workers": (IN_THIS_PROCESS, interrupt_run),
}


@pytest.mark.parametrize(("workers", "end"), sampled(ENDS, few=["run", "interrupted without workers"]))
def test_a_run_that_is_killed_leaves_nothing(
    repository: Path, tmp_path: Path, workers: str, end: Callable[[subprocess.Popen[bytes], Path], None]
) -> None:
    up, before = tmp_path / "up", (namespace_names(), interface_names())
    with run_with_a_lab(repository, up, workers) as run:
        assert sum(_read(folder / "comm") == b"bgpd\n" for folder in processes(up)) == 3
        end(run, up)
        wait_for(lambda: not processes(up), "everything that the run started has ended", GONE_WITHIN_S)
    assert (namespace_names(), interface_names()) == before


def test_two_runs_have_the_same_lab_at_once(repository: Path, tmp_path: Path) -> None:
    """Each has all names, addresses and ports to itself."""
    one, other = tmp_path / "one", tmp_path / "other"
    before = namespace_names(), interface_names()
    with run_with_a_lab(repository, one, IN_A_WORKER), run_with_a_lab(repository, other, IN_THIS_PROCESS):
        assert (namespace_names(), interface_names()) == before
    wait_for(lambda: not processes(one) and not processes(other), "both have ended", GONE_WITHIN_S)
