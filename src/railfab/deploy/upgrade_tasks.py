"""Nornir tasks of an upgrade: install an image, reload a switch with it, end its drain. Each result is Running."""

from __future__ import annotations

import socket
import threading
import time

from nornir.core.task import Result, Task

from railfab.deploy.drain import operate
from railfab.deploy.tasks import open_session, refuse_pending
from railfab.endpoints import Endpoint
from railfab.errors import DeviceError, LoginRefused, NotRolledBack, Unreachable
from railfab.platforms import Image, Running, Verb

BACK_WITHIN_S = 900.0
"""Time in which a switch answers again after a reload, with what it needs to start its daemons [s]."""
GONE_WITHIN_S = 120.0
"""Time in which a switch stops answering after the command of its reload [s]."""
POLL_S, GONE_POLL_S = 1.0, 0.1
SSH_PORT = 22


def install(task: Task, image: Image) -> Result:
    """Have the next boot of a switch run an image. Raises ImageRefused where the next boot stays as it was."""
    with open_session(task) as session:
        running = session.running()
        refuse_pending(task.host.name, running.pending)
        try:
            session.install(image)
        except Unreachable as error:
            problem = f"{error.problem}, and may or may not boot {image.file} next"
            raise NotRolledBack(task.host.name, problem, "Run railfab upgrade again for it") from error
    return Result(host=task.host, result=running, changed=True, diff="")


def reload(
    task: Task, image: Image, within_s: float = BACK_WITHIN_S, stop_requested: threading.Event | None = None
) -> Result:
    """Save, reload, and wait until the switch answers with the version of the image.

    Raises NotRolledBack where it does not come back in time, or with another version.
    """
    with open_session(task) as session:
        session.operate(Verb.SAVE)
        session.operate(Verb.RELOAD)
    running = _back(task, image, within_s, stop_requested or threading.Event())
    return Result(host=task.host, result=running, changed=True, diff="")


def _back(task: Task, image: Image, within_s: float, stop_requested: threading.Event) -> Running:
    """What runs when the switch is back. Raises NotRolledBack."""
    name, end_s, why = task.host.name, time.monotonic() + within_s, ""
    _wait_until_gone(task.host["endpoint"], min(GONE_WITHIN_S, within_s), stop_requested)
    while not stop_requested.is_set():
        try:
            with open_session(task) as session:
                running = session.running()
        except DeviceError as error:
            if isinstance(error, LoginRefused) and "host key" in error.problem:
                raise NotRolledBack(name, f"{error.problem} after its reload", error.remedy) from error
            why = error.problem
        else:
            if image.is_of(version := running.identity.version):
                return running
            problem = f"runs version {version or 'unknown'} after its reload, which is not that of {image.file}"
            remedy = "Find out on its console why the image did not boot, or state the right --version"
            raise NotRolledBack(name, problem, remedy)
        if time.monotonic() >= end_s:
            problem = f"has not come back within {within_s:.0f} s after its reload ({why})"
            raise NotRolledBack(name, problem, "See its console; then run railfab upgrade again for it")
        stop_requested.wait(POLL_S)
    raise NotRolledBack(name, "was reloading when the run was stopped", "Run railfab upgrade again for it")


def _wait_until_gone(endpoint: Endpoint, within_s: float, stop_requested: threading.Event) -> None:
    """Wait until nothing listens at a switch; a forwarded port may listen all the time, which ends with the limit."""
    end_s = time.monotonic() + within_s
    while time.monotonic() < end_s and not stop_requested.wait(GONE_POLL_S):
        try:
            socket.create_connection((endpoint.host, endpoint.ssh_port or SSH_PORT), timeout=POLL_S).close()
        except OSError:
            return


def end_drain(task: Task) -> Result:
    """End the drain of a switch, and save."""
    result = operate(task, Verb.UNDRAIN)
    with open_session(task) as session:
        session.operate(Verb.SAVE)
    return result
