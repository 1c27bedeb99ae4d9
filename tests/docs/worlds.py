"""Where examples run: a working directory like a clone, with what a page takes for granted already there."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from tests.docs.ten_switches import HERE, SHOWN, STREAMING, ten_switches

FOLDERS = ("inventory", "docs", "playbooks", "labs", "dashboards", "tests")
POD64, RING = "inventory/fabrics/pod64.yml", "inventory/jobs/ring.yml"
COLLECTOR = "127.0.0.1:9804"
INSTALLED = Path(sys.executable).parent
START_S, COMMAND_S = 180.0, 240.0
"""Until what runs must be taken to hang: a collector of a slow twin subscribes to some switches twice."""
DETACHED = re.compile(r"railfab twin \S.*--detach")
TWIN = ["--port", "0", "--cpu", "0.3"]
"""A twin of a page gets free ports, because other pages run at the same time, and a share of a core: its pages pass on
busy machines too, where it has no more."""


class World:
    """Runs commands as they are typed. elsewhere: addresses that pages show, and where they are here.

    programs: the folder of the `railfab` that they start.
    """

    def __init__(self, folder: Path, repository: Path, programs: Path) -> None:
        self.folder = folder
        self.elsewhere: dict[str, str] = {}
        for name in FOLDERS:
            (folder / name).symlink_to(repository / name)
        self.environment = {
            **{name: value for name, value in os.environ.items() if name != "CI"},  # pytest prints more where it is set
            "PATH": os.pathsep.join([str(programs), str(INSTALLED), os.environ["PATH"]]),
            "NO_COLOR": "1",
            "COLUMNS": "",
            "PYTHONUNBUFFERED": "1",
        }

    def run(self, command: str) -> tuple[int, str]:
        """Exit code, and everything that was printed, in its order."""
        for shown, here in self.elsewhere.items():
            command = command.replace(shown, here)
        done = subprocess.run(
            ["bash", "-e", "-o", "pipefail", "-c", DETACHED.sub(rf"\g<0> {' '.join(TWIN)}", command)],
            cwd=self.folder,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=COMMAND_S,
        )
        printed = done.stdout
        for shown, here in self.elsewhere.items():
            printed = printed.replace(here, shown)
        return done.returncode, printed

    @contextmanager
    def served(self, command: list[str], ready: Callable[[str], bool]) -> Iterator[Path]:
        """A server that is started, awaited, and ended; yields the file with what it prints."""
        log = self.folder / f"{command[1]}.log"
        with log.open("w") as file:
            process = subprocess.Popen(
                command, cwd=self.folder, env=self.environment, stdout=file, stderr=subprocess.STDOUT
            )
            try:
                deadline = time.monotonic() + START_S
                while not ready(log.read_text()):
                    assert process.poll() is None, log.read_text()
                    assert time.monotonic() < deadline, log.read_text()
                    time.sleep(0.1)
                yield log
            finally:
                process.send_signal(signal.SIGTERM)
                process.wait(timeout=START_S)


def here(_world: World, _stack: ExitStack) -> None:
    """Nothing runs."""


def paste(world: World, stack: ExitStack) -> None:
    """Nothing runs but what the page itself starts, as when it is pasted from its top; a twin is stopped at the end."""
    stack.callback(world.run, "test ! -e .railfab || railfab twin stop")


def twin(world: World, stack: ExitStack) -> None:
    """A twin of pod64, deployed, with a ring AllReduce."""
    command = ["railfab", "twin", POD64, *TWIN, "--configured", "--job", RING]
    stack.enter_context(world.served(command, lambda log: "Ctrl-C ends it" in log))


def collector(world: World, stack: ExitStack) -> None:
    """That twin, and a collector on it."""
    twin(world, stack)
    command = ["railfab", "collect", POD64, "--on", "twin", "--port", "0"]
    log = stack.enter_context(world.served(command, lambda log: _streaming(log) == 8))
    world.elsewhere[COLLECTOR] = _collector_address(log)


def _streaming(log: str) -> int:
    """How many switches have streamed to a collector."""
    return len(set(re.findall(r"(\S+): streaming", log)))


def _collector_address(log: Path) -> str:
    """Where a collector listens, of what it has printed."""
    address = re.search(r"http://([\d.:]+)/metrics", log.read_text())
    assert address is not None
    return address[1]


def switches(world: World, stack: ExitStack) -> None:
    """Ten gNMI targets that are not railfab's, the files that name them, and a collector on them."""
    stack.enter_context(ten_switches(world.folder / "docs" / "examples" / "ten-switches", world.folder))
    command = ["railfab", "collect", "--targets", "hosts.yml", "--map", "mappings.yml", "--port", "0"]
    log = stack.enter_context(world.served(command, lambda log: _streaming(log) == STREAMING))
    world.elsewhere[COLLECTOR] = _collector_address(log)
    world.elsewhere[SHOWN] = HERE


def lab(world: World, stack: ExitStack) -> None:
    """A machine that can run the embedded lab; what a page leaves running is taken down."""
    stack.callback(world.run, "railfab lab down labs/frr-pod/intent.yml")


WORLDS: dict[str, Callable[[World, ExitStack], None]] = {
    world.__name__: world for world in (here, paste, twin, collector, switches, lab)
}
