"""Twins without a terminal: started in a session of their own, listed, and stopped."""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path

from railfab.endpoints import make_folder, state_option
from railfab.errors import EndpointError, LabError
from railfab.findings import DesignCode
from railfab.twin.control import OtherReleaseError, connect, not_running
from railfab.twin.files import TwinFiles, claimed, twin_files
from railfab.twin.status import TwinStatus

POLL_S = 0.1
STOPS_WITHIN_S = 15.0
"""Time from SIGTERM until a twin that has not ended is killed [s]."""
LOCK = ".twin.lock"


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundTwin:
    """A twin of a state directory. status: None when it does not answer, as while it starts, or not as this release
    does; problem says which.
    """

    fabric: str
    pid: int
    status: TwinStatus | None
    problem: str


def twin_command(
    intent: Path,
    state: Path,
    *,
    port: int,
    accept: Sequence[DesignCode] = (),
    cpu: float = 1.0,
    verbose: bool = False,
) -> list[str]:
    """The command that serves a twin; further options can follow it."""
    railfab = [sys.executable, "-m", "railfab", *(["--verbose"] if verbose else [])]
    accepted = [f"--accept={code}" for code in accept]
    return [*railfab, "twin", str(intent), "--state", str(state), "--port", str(port), f"--cpu={cpu}", *accepted]


def start_detached(command: Sequence[str], state: Path, fabric: str, intent: bytes | None = None) -> TwinStatus:
    """Start a twin in a session of its own, and return when its switches can be reached.

    command: serves the twin of this fabric. intent: what it reads from standard input. Its output is in
    `TwinFiles.log`. Raises LabError, with the reason from the log, when it ends before, or when one is running.
    A twin that does not get so far is ended, also by Ctrl-C.
    """
    files = twin_files(state, fabric)
    if _holder(files) is not None:
        problem = f"a twin is already running ({files.endpoints})"
        raise LabError(fabric, problem, f"Stop it: railfab twin stop{state_option(state)}")
    process = spawn(command, files.log, intent, own_session=True)
    with ExitStack() as unless_reached:
        unless_reached.callback(_end, process)
        while process.poll() is None:
            status = _twin(state, fabric, process.pid).status
            if status is not None and status.pid == process.pid:
                unless_reached.pop_all()
                return status
            time.sleep(POLL_S)
    raise LabError(fabric, f"the twin ended: {_reason(files.log)}", f"Its log is {files.log}")


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    process.wait()


def spawn(
    command: Sequence[str], log: Path, text: bytes | None, *, own_session: bool = False
) -> subprocess.Popen[bytes]:
    """Run a program. log: file of its output. text: its standard input. Raises LabError when the log cannot be written.

    own_session: a terminal that is closed, and Ctrl-C in it, do not end the program.
    """
    try:
        make_folder(log.parent)
        output = log.open("wb")
    except OSError as error:
        problem = f"cannot be written ({(error.strerror or str(error)).lower()})"
        raise LabError(str(log), problem, "Name another directory with --state") from None
    with output:
        stdin = subprocess.DEVNULL if text is None else subprocess.PIPE
        process = subprocess.Popen(
            command, stdin=stdin, stdout=output, stderr=subprocess.STDOUT, start_new_session=own_session
        )
    if process.stdin is not None and text is not None:
        with suppress(BrokenPipeError), process.stdin:
            process.stdin.write(text)
    return process


def _reason(log: Path) -> str:
    """The last error in a log, else its last line."""
    lines = log.read_text(errors="replace").strip().splitlines() or ["it printed nothing"]
    errors = [line.removeprefix("railfab: ") for line in lines if line.startswith("railfab: ")]
    return (errors or lines)[-1].rstrip(".")


def found_twins(state: Path, fabric: str | None = None) -> list[FoundTwin]:
    """The running twins of a state directory, or the one of a fabric, by name."""
    names = sorted(path.name.removesuffix(LOCK) for path in state.glob(f"*{LOCK}"))
    holders = {name: _holder(twin_files(state, name)) for name in names if fabric in (None, name)}
    return [_twin(state, name, pid) for name, pid in holders.items() if pid is not None]


def _twin(state: Path, fabric: str, pid: int) -> FoundTwin:
    status, problem = None, ""
    try:
        status = connect(state, fabric).status()
    except OtherReleaseError:
        problem = "of another release"
    except EndpointError:
        problem = "does not answer"
    return FoundTwin(fabric=fabric, pid=pid, status=status, problem=problem)


def stop(state: Path, found: FoundTwin) -> None:
    """End a twin, and remove its files; kill it when it has not ended after STOPS_WITHIN_S.

    Raises EndpointError when it is not running any more, LabError when it belongs to another user.
    """
    files = twin_files(state, found.fabric)
    _signal(found, state, signal.SIGTERM)
    until_s = time.monotonic() + STOPS_WITHIN_S
    while _holder(files) == found.pid:
        if time.monotonic() > until_s:
            _signal(found, state, signal.SIGKILL)
            until_s += STOPS_WITHIN_S
        time.sleep(POLL_S)
    with suppress(LabError), claimed(state, found.fabric):
        pass  # removes the files of one that was killed


def _signal(found: FoundTwin, state: Path, number: signal.Signals) -> None:
    try:
        os.kill(found.pid, number)
    except ProcessLookupError:
        raise not_running(found.fabric, state) from None
    except PermissionError:
        problem = f"process {found.pid} of its twin belongs to another user"
        raise LabError(found.fabric, problem, "Stop it as that user") from None


def _holder(files: TwinFiles) -> int | None:
    """Process id of the twin that holds these files; None when none does."""
    try:
        with files.lock.open() as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return int(lock.read() or 0) or None
    except OSError:
        return None
    return None
