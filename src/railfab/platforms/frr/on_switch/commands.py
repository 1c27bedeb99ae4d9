"""Commands on the switch, and errors as answers."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path

from railfab.platforms.frr.on_switch.daemons import check_daemons
from railfab.platforms.frr.on_switch.places import ChangeRefused


class Lock:
    """The lock of all changes, while this process holds it.

    Commands inherit it, so it is held until the last of them has ended, even if this process is killed.
    """

    held: int | None = None


def run(command: str, within_s: float) -> tuple[int, str, str]:
    """Status, output and errors of a shell command; it is killed, with its children, when its time is over.

    `timeout` kills it too when this program was killed, so that nothing holds the lock for good.
    """
    inherited = () if Lock.held is None else (Lock.held,)
    process = subprocess.Popen(
        ["timeout", "-s", "KILL", str(within_s + 1), "/bin/sh", "-c", command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        pass_fds=inherited,
        start_new_session=True,
    )
    try:
        out, errors = process.communicate(timeout=within_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.communicate(timeout=1)
        check_daemons(())
        program = Path(command.split()[0]).name
        raise ChangeRefused(
            "device", f"`{program}` did not end within {within_s:.0f} s", "Check the load and FRR of the switch"
        ) from None
    return process.returncode, out.decode(errors="replace"), errors.decode(errors="replace")


def first_line(out: str, errors: str, status: int) -> str:
    """The first line that a command has printed; its status where it has printed none."""
    lines = [line.strip() for line in (out + "\n" + errors).splitlines() if line.strip()]
    return lines[0] if lines else f"status {status}"


def uptime() -> float:
    """Seconds since boot: no adjustment of the clock moves a deadline."""
    return float(Path("/proc/uptime").read_text().split()[0])
