"""Nornir tasks of an upgrade: install an image, reload a switch with it, end its drain. Each result is Running."""

from __future__ import annotations

import threading
import time

from nornir.core.task import Result, Task

from railfab.deploy.drain import operate
from railfab.deploy.tasks import open_session, refuse_pending
from railfab.errors import DeviceError, LoginRefused, NotRolledBack, Unreachable
from railfab.platforms import Image, Running, Verb

BACK_WITHIN_S = 900.0
"""Time in which a switch answers again after a reload, with what it needs to start its daemons [s]."""
GONE_WITHIN_S = 120.0
"""Time in which a switch stops answering after the command of its reload [s]."""
POLL_S = 1.0


def install(task: Task, image: Image) -> Result:
    """Have the next boot of a switch run an image. Raises ImageRefused where the next boot stays as it was."""
    with open_session(task) as session:
        running = session.running()
        refuse_pending(task.host.name, running.pending)
        session.install(image)
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
    name, began_s, answers_late, why = task.host.name, time.monotonic(), False, ""
    while (waited_s := time.monotonic() - began_s) < within_s:
        try:
            with open_session(task) as session:
                running = session.running()
        except DeviceError as error:
            if isinstance(error, LoginRefused) and "host key" in error.problem:
                raise NotRolledBack(name, f"{error.problem} after its reload", error.remedy) from error
            answers_late, why = answers_late or isinstance(error, Unreachable), error.problem
        else:
            version = running.identity.version
            if image.is_of(version):
                return running
            if answers_late or waited_s > GONE_WITHIN_S:
                problem = f"runs version {version or 'unknown'} after its reload, which is not that of {image.file}"
                remedy = "Find out on its console why the image did not boot, or state the right --version"
                raise NotRolledBack(name, problem, remedy)
        if stop_requested.wait(POLL_S):
            raise NotRolledBack(name, "was reloading when the run was stopped", "Run railfab upgrade again for it")
    problem = f"has not come back within {within_s:.0f} s after its reload{f' ({why})' if why else ''}"
    raise NotRolledBack(name, problem, "See its console; then run railfab upgrade again for it")


def end_drain(task: Task) -> Result:
    """End the drain of a switch, and save."""
    result = operate(task, Verb.UNDRAIN)
    with open_session(task) as session:
        session.operate(Verb.SAVE)
    return result
