"""One switch of an embedded lab: its directories, its first process, and checks of its daemons."""

from __future__ import annotations

import shutil
import subprocess
import time
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from railfab.errors import LabError
from railfab.lab import programs
from railfab.lab.netns.namespaces import NAMESPACES
from railfab.lab.netns.processes import MARK, Process, is_running, log_tail, process
from railfab.lab.probes import daemon_probe, unanswered

FRR = Path("/usr/lib/frr")
DAEMONS = ("zebra", "staticd", "bgpd", "bfdd")
"""The daemons that a lab starts on every switch, in this order; one that does not answer is a fault."""

SCRIPTS = ("node.sh", "start_daemon.sh")
USER = "frr"
READY_WITHIN_S = 30.0
READY_WITHIN_EACH_S = 1.5
"""Additional time for each switch, for a busy machine [s]."""

EMPTY_CONFIGURATION = "frr defaults datacenter\nhostname {name}\nservice integrated-vtysh-config\n"
VTYSH_CONFIGURATION = "service integrated-vtysh-config\n"


def create_directories(root: Path, *, name: str, configuration: str | None) -> None:
    """Create the directories of one switch. configuration: startup configuration; None boots it unconfigured."""
    etc, run, var = root / "etc-frr", root / "run-frr", root / "var-tmp"
    for directory in (root, etc, run, var):
        directory.mkdir(mode=0o755)
    var.chmod(0o1777)
    (etc / "vtysh.conf").write_text(VTYSH_CONFIGURATION)
    (etc / "frr.conf").write_text(EMPTY_CONFIGURATION.format(name=name) if configuration is None else configuration)
    for path in (etc, run, *etc.iterdir()):
        shutil.chown(path, USER, USER)
    for path in etc.iterdir():
        path.chmod(0o640)


def boot(root: Path, *, name: str, namespace: str, tag: str) -> Process:
    """Start the first process of a switch, which starts its daemons; every process in the switch ends with it."""
    for script in SCRIPTS:
        (root / script).write_text(files(__package__).joinpath(script).read_text())
    unshare = ["unshare", "--mount", "--propagation", "slave", "--uts", "--pid", "--fork", "--kill-child"]
    command = ["nsenter", f"--net={NAMESPACES / namespace}", *unshare, "sh", str(root / SCRIPTS[0])]
    environment = programs.environment(
        ROOT=str(root), NODE=name, FRR=str(FRR), DAEMONS=" ".join(DAEMONS), **{MARK: tag}
    )
    with (root / "log").open("ab") as log:
        started = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment, start_new_session=True
        )
    return process(name, started.pid, root / "log")


def start_command(root: Path, daemon: str) -> list[str]:
    """Command, inside a switch, that starts a daemon and loads its startup configuration."""
    return ["env", f"FRR={FRR}", "sh", str(root / "start_daemon.sh"), daemon, "--load"]


def wait_until_ready(roots: dict[str, Path], processes: Sequence[Process]) -> None:
    """Wait until every switch has started its daemons and read its configuration. Raises LabError."""
    limit_s = READY_WITHIN_S + READY_WITHIN_EACH_S * len(roots)
    deadline = time.monotonic() + limit_s
    waiting = dict(zip(roots, processes, strict=True))
    while waiting := {name: holder for name, holder in waiting.items() if not (roots[name] / "ready").exists()}:
        for name, holder in waiting.items():
            if not is_running(holder):
                problem = f"did not start ({log_tail(roots[name] / 'log')})"
                raise LabError(f"switch {name}", problem, "Correct its configuration, or run `railfab lab doctor`")
        if time.monotonic() > deadline:
            names = ", ".join(sorted(waiting))
            raise LabError(
                f"switch {names}",
                f"is not ready after {limit_s:.0f} s",
                "Try again when the machine is less busy, or with fewer switches",
            )
        time.sleep(0.05)


def unresponsive_daemons(sockets: Path) -> tuple[str, ...]:
    """FRR daemons that do not answer on their sockets in this directory."""
    return tuple(probe.service for probe in unanswered(daemon_probe("", daemon, sockets) for daemon in DAEMONS))
