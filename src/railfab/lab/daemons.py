"""Restart of one FRR daemon of a switch, in its namespaces."""

from __future__ import annotations

import time
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

from railfab.errors import LabError
from railfab.lab import programs
from railfab.lab.probes import daemon_probe, unanswered

ANSWERS_WITHIN_S = 30.0
SCRIPT = "restart_daemon.sh"
ZEBRA = "zebra"


def restarted_with(daemon: str, expected: Sequence[str]) -> tuple[str, ...]:
    """The daemons to restart, in this order: with zebra all others, which do not give a new one their routes.

    expected: the daemons that the switches of a lab run. Raises LabError for another one.
    """
    if daemon not in expected:
        raise LabError(f"daemon {daemon!r}", "does not run on a switch of a lab", f"Use one of {', '.join(expected)}")
    others = (other for other in expected if other != ZEBRA)
    return (ZEBRA, *others) if daemon == ZEBRA else (daemon,)


def restart_daemon(
    node: str, daemon: str, *, first_process: int, sockets: Path, log: Path, start: Sequence[str]
) -> None:
    """End a daemon, also one that is stuck, start it and wait until it answers. Raises LabError.

    first_process: pid of the first process of the switch. start: command that starts the daemon and loads its
    configuration. log: file that receives its output, as the switch names it.
    """
    script = files(__package__).joinpath(SCRIPT).read_text()
    enter = ["nsenter", f"--target={first_process}", "--mount", "--uts", "--net", "--pid"]
    done = programs.run([*enter, "sh", "-c", script, SCRIPT, daemon, str(log), *start])
    deadline = time.monotonic() + ANSWERS_WITHIN_S
    while unanswered([daemon_probe(node, daemon, sockets)]):
        if time.monotonic() > deadline:
            reason = f" ({done.stderr.strip().splitlines()[-1]})" if done.stderr.strip() else ""
            problem = f"{daemon} does not answer {ANSWERS_WITHIN_S:.0f} s after its restart{reason}"
            raise LabError(f"switch {node}", problem, f"Read {log}")
        time.sleep(0.1)
