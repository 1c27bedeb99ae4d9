"""A process that has imported the command line and forks itself for every command, since the imports of a command cost
more CPU than most commands do.

A command is a process of its own with its own arguments, environment, working directory, standard streams and exit
code; only the imports are shared. Run as `server.py SOCKET [MODULE ...]`: SOCKET is the descriptor of a listening
socket, and the modules are imported beforehand, those of `MORE` with the first command that needs them, and what else
of railfab a command has imported with the next of its verb. It ends when its standard input does.
"""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import io
import json
import os
import runpy
import selectors
import socket
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence, Set
from pathlib import Path
from typing import Any, NoReturn

MESSAGE_BYTES = 1 << 17
"""A request is one message; Linux allows 208 KiB."""
STREAMS = 3
FOR_SWITCHES = (
    "netmiko",
    "railfab.gnmi",
    "railfab.deploy",
    "railfab.platforms.srlinux.session",
    "railfab.platforms.srlinux.parse",
    "railfab.platforms.srlinux.differences",
    "railfab.platforms.srlinux.refusals",
    "railfab.platforms.frr.session",
    "railfab.platforms.frr.parse",
)
FOR_JOBS = (
    *("railfab.cli.job_result", "railfab.cli.simulate", "railfab.cli.simulate_comparison"),
    *("railfab.cli.simulate_files", "railfab.cli.simulate_waits", "railfab.fabric.trial"),
    *("railfab.sim.engine", "railfab.sim.warm", "railfab.simulate.job", "railfab.simulate.named_faults"),
    "railfab.workload.recorded",
    *("railfab.platforms.srlinux.cli", "railfab.platforms.srlinux.parse", "railfab.platforms.srlinux.refusals"),
)
"""Numba with them, which takes longer than the step of a job in closed form."""
MORE = {
    "audit": FOR_SWITCHES,
    "collect": ("railfab.telemetry",),
    "compare": ("railfab.imports",),
    "dashboards": ("railfab.dashboards",),
    "deploy": FOR_SWITCHES,
    "disturbed_at_step": FOR_SWITCHES,
    "lab": ("railfab.lab.netns", "railfab.platforms.frr.session", "railfab.platforms.frr.parse"),
    "rollback": FOR_SWITCHES,
    "sim": ("railfab.sim.engine",),
    "simulate": FOR_JOBS,
    "sweep": (*FOR_JOBS, "concurrent.futures.process", "railfab.cli.sweep"),
    "verify": FOR_SWITCHES,
}
"""What a command, or the playbook of this name, imports besides."""
PACKAGE = "railfab."
READ_BY_KERNELS = ("HOME", "NUMBA_", "RAILFAB_INTERPRETED", "XDG_CACHE_HOME")
"""Beginnings of the variables that decide, when a kernel is imported, whether it is compiled and where it is kept."""
SCRIPT = ".py"
NAMELESS = "railfab"
"""The verb of a command without arguments."""


def serve(listening: socket.socket, seen: Path) -> dict[str, Any] | None:
    """Answer requests until standard input ends; in a child, return what it is to run.

    seen: folder of a file for each verb, with the modules that its commands have imported.
    """
    selector = selectors.DefaultSelector()
    selector.register(sys.stdin.fileno(), selectors.EVENT_READ)
    selector.register(listening, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listening:
                connection, _ = listening.accept()
                request, streams = received(connection)
                if not streams:
                    connection.close()
                    continue
                verb = _verb(request["arguments"])
                imported((*MORE.get(verb, ()), *learned(seen / verb)))
                if not (pid := os.fork()):
                    own(streams)
                    return request
                connection.send(str(pid).encode())
                for stream in streams:
                    os.close(stream)
                selector.register(os.pidfd_open(pid), selectors.EVENT_READ, (pid, connection))
            elif key.data is None:
                return None
            else:
                selector.unregister(key.fd)
                os.close(key.fd)
                answer(*key.data)


def _verb(words: Sequence[str]) -> str:
    """The name of a script, or the first argument of railfab."""
    return Path(words[0]).stem if words[0].endswith(SCRIPT) else Path(next(iter(words[1:]), "")).name or NAMELESS


def learned(file: Path) -> list[str]:
    """The modules in a file of `learn`."""
    try:
        return file.read_text().split()
    except FileNotFoundError:
        return []


def learn(file: Path, before: Set[str]) -> None:
    """Keep the names of the package's modules that this process has imported since."""
    new = [name for name in sys.modules if name.startswith(PACKAGE) and name not in before]
    if new:
        with contextlib.suppress(OSError), file.open("a") as names:
            names.write("\n".join(["", *new, ""]))


def received(connection: socket.socket) -> tuple[dict[str, Any], list[int]]:
    """A request and its three streams; no streams where the other side has gone."""
    message, streams, _, _ = socket.recv_fds(connection, MESSAGE_BYTES, STREAMS)
    return (json.loads(message), streams) if message else ({}, [])


def imported(modules: Sequence[str]) -> None:
    """Import what is not imported yet, outside the reach of the collector, which would write to pages shared by all."""
    if not sys.modules.keys() >= set(modules):
        for name in modules:
            importlib.import_module(name)
        for name in AT_IMPORT.keys() & set(modules):
            AT_IMPORT[name]()
        gc.collect()
        gc.freeze()


def _read_intents() -> None:
    """Build the model that pydantic builds with the first intent."""
    from railfab.intent.fabric import FabricIntent

    FabricIntent.model_rebuild()


def _run_jobs() -> None:
    """Build the model of jobs, and load the kernel where it is compiled."""
    from railfab.intent.job import Job
    from railfab.sim.readiness import is_ready
    from railfab.sim.warm import compile_kernel

    Job.model_rebuild()
    if is_ready():
        compile_kernel()


AT_IMPORT = {"railfab.intent": _read_intents, "railfab.simulate.job": _run_jobs}
"""What the first command of many would do after the import of a module."""


def answer(pid: int, connection: socket.socket) -> None:
    """Tell who asked for a command how it ended; whoever gave up waiting is not told."""
    ended = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    with connection:
        try:
            connection.send(str(ended).encode())
        except BrokenPipeError:
            return


def own(streams: list[int]) -> None:
    """Make the streams those of this process, and close whatever belongs to the server."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    os.closerange(STREAMS, os.sysconf("SC_OPEN_MAX"))


def needs_interpreter(environment: Mapping[str, str], before: Mapping[str, str]) -> bool:
    """Whether the kernels that are imported would be others in this environment than in that of the server."""
    kernels, others = (
        {name: value for name, value in variables.items() if name.startswith(READ_BY_KERNELS)}
        for variables in (environment, before)
    )
    return "railfab.compiled.kernel" in sys.modules and kernels != others


def replaced(request: dict[str, Any]) -> NoReturn:
    """Run the request with an interpreter of its own."""
    words = request["arguments"]
    os.chdir(request["cwd"])
    program = words if words[0].endswith(SCRIPT) else ["-m", "railfab", *words[1:]]
    os.execve(sys.executable, [sys.executable, *program], request["environment"])


def become(request: dict[str, Any], made: dict[str, str]) -> None:
    """Take arguments, environment, working directory and streams as a new interpreter does.

    made: variables that the imports have set.
    """
    os.environ.clear()
    os.environ.update({**made, **request["environment"]})
    os.chdir(request["cwd"])
    sys.argv = request["arguments"]
    sys.path[0] = str(Path(sys.argv[0]).resolve().parent) if sys.argv[0].endswith(SCRIPT) else request["cwd"]
    unbuffered = bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdin = sys.__stdin__ = io.TextIOWrapper(io.BufferedReader(io.FileIO(0, closefd=False)))  # type: ignore[misc]
    sys.stdout = sys.__stdout__ = _writer(1, unbuffered, "strict", os.isatty(1))  # type: ignore[misc]
    sys.stderr = sys.__stderr__ = _writer(2, unbuffered, "backslashreplace", True)  # type: ignore[misc]


def _writer(number: int, unbuffered: bool, errors: str, by_line: bool) -> io.TextIOWrapper:
    raw = io.FileIO(number, "wb", closefd=False)
    binary = raw if unbuffered else io.BufferedWriter(raw)
    return io.TextIOWrapper(
        binary, encoding="utf-8", errors=errors, line_buffering=by_line and not unbuffered, write_through=unbuffered
    )


def main() -> None:
    """Import, serve, and in a child run the command as `python -m railfab` does, or the script as `python` does."""
    before = dict(os.environ)
    imported(sys.argv[2:])
    made = {name: value for name, value in os.environ.items() if before.get(name) != value}
    with tempfile.TemporaryDirectory(prefix="railfab-commands-") as seen:
        request = serve(socket.socket(fileno=int(sys.argv[1])), Path(seen))
        if request is not None:
            if needs_interpreter(request["environment"], before):
                replaced(request)
            become(request, made)
            run(Path(seen) / _verb(request["arguments"]))


def run(seen: Path) -> None:
    """Run the command or script, and end without freeing each object, which takes as long as many a command."""
    from railfab.__main__ import main as command

    code, before = 0, set(sys.modules)
    try:
        runpy.run_path(sys.argv[0], run_name="__main__") if sys.argv[0].endswith(SCRIPT) else command()
    except SystemExit as ended:
        if not isinstance(ended.code, int | None):
            raise
        code = ended.code or 0
    learn(seen, before)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


if __name__ == "__main__":
    main()
