"""Fifty gNMI subscribers of a twin of pod64 receive what the intent says, and its memory stays as it is.

For RAILFAB_SUBSCRIBED_S seconds, an hour in `make soak`; else twenty, until each has received everything once.
Missing samples count from a minute on, memory, file descriptors and threads from 20 minutes on: in the first 18 the
resident set of the twin grows most.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

import pytest
from tests.twin.disturbances import Disturbances
from tests.twin.process_figures import Figures, figures, grown, growth, used_growth
from tests.twin.subscribers import Subscriber, received, wishes
from tests.twin.twins import REPOSITORY, pod64, until

from railfab.endpoints import load_endpoints
from railfab.twin import running, twin_command
from railfab.twin.detached import spawn
from railfab.twin.files import twin_files

SECONDS = float(os.environ.get("RAILFAB_SUBSCRIBED_S", "0"))
SEED = int(os.environ.get("RAILFAB_SOAK_SEED", "1"))
CPU = float(os.environ.get("RAILFAB_SOAK_CPU", "0.2"))
"""Share of a core that the simulation may use."""
SUBSCRIBERS = 50 if SECONDS else 10
FIGURES_S, POLL_S = 10.0, 0.5
MOST_MISSED = 0.01
"""Share of the samples due by the intent that may be missing: a busy machine lets a switch skip an interval."""
STARTS_WITHIN_S, COMPLETE_WITHIN_S = 180.0, 90.0
COUNTED_FROM_S = 60.0
"""Shortest run in which missing samples are a problem."""
COMPLAINT = re.compile(r"Traceback|Exception|\b(ERROR|CRITICAL|WARNING)\b")
INTENT = REPOSITORY / "inventory" / "fabrics" / "pod64.yml"
HEAP = Path(__file__).parent / "heap"
"""Its sitecustomize.py writes the memory in use of every Python process that begins meanwhile."""
JOB = REPOSITORY / "inventory" / "jobs" / "ring.yml"


@dataclass(slots=True)
class Run:
    """A twin's process under its subscribers. log: complaints of its log. simulated_s: of its job."""

    subscribers: Sequence[Subscriber]
    disturbances: Disturbances
    process: list[Figures] = field(default_factory=list)
    ended_s: float = 0.0
    failure: str = ""
    steps: int = 0
    simulated_s: float = 0.0

    @property
    def complete(self) -> bool:
        """Whether every subscriber has received everything, and every kind of disturbance was made."""
        return all(one.complete or one.ended for one in self.subscribers) and self.disturbances.complete

    def problems(self) -> Iterator[str]:
        yield from grown(self.process)
        yield from self.disturbances.unseen
        if self.failure:
            yield f"the simulation failed: {self.failure}"
        for one in self.subscribers:
            if one.ended:
                yield f"{one.wish.switch} {one.wish.kind}: the stream ended: {one.ended}"
            if not one.complete:
                yield f"{one.wish.switch} {one.wish.kind}: lacks {sorted(one.wish.keys - one.counts.keys())}"
        for found in received(self.subscribers, self.ended_s):
            if self.process[-1].at_s >= COUNTED_FROM_S and found.missed > MOST_MISSED * found.due:
                yield f"{found.kind}: {found.missed} of {found.due} samples are missing"

    def report(self) -> Iterator[str]:
        disturbed, last = self.disturbances, self.process[-1]
        yield f"{last.at_s:.0f} s, {self.simulated_s:.0f} s simulated, {self.steps} steps of the job"
        for found in received(self.subscribers, self.ended_s):
            missed = f"{found.missed} of {found.due} samples missed, longest gap {found.longest_s:.2f} s"
            yield f"{found.subscribers} subscribers, {found.kind}: {missed}"
        for one in self.subscribers:
            if not one.wish.keys and not one.wish.follows_changes:
                yield f"{one.wish.kind}: {one.streams} streams synchronised, {one.responses} responses"
        yield f"{disturbed.sets} Sets, {disturbed.cuts} links cut and restored"
        yield f"{disturbed.seen} changes received, the slowest {disturbed.longest_s:.2f} s after it was made"
        for at in self.process[:: max(1, len(self.process) // 12)]:
            sizes = f"{at.rss_mb:.1f} MB resident, {at.used_mb or 0:.1f} MB in use"
            yield f"at {at.at_s:5.0f} s: {sizes}, {at.fds} file descriptors, {at.threads} threads"
        for name, rise in (("resident memory", growth(self.process)), ("memory in use", used_growth(self.process))):
            if rise is not None:
                slope, error = 10 * rise.mb_per_min, 10 * rise.plus_minus
                yield f"{name} after the warm-up: {slope:+.2f} +- {error:.2f} MB in 10 minutes"


@contextmanager
def twin(state: Path) -> Iterator[subprocess.Popen[bytes]]:
    """`railfab twin` of pod64 under the ring, in a process of its own."""
    command = [*twin_command(INTENT, state, port=0, cpu=CPU, verbose=True), "--configured", "--job", str(JOB)]
    process = spawn(command, twin_files(state, "pod64").log, None)
    try:
        until(lambda: process.poll() is not None or running(state, "pod64") is not None, within_s=STARTS_WITHIN_S)
        yield process
    finally:
        process.terminate()
        process.wait(30)


async def subscribed(state: Path, pid: int, seconds: float, heap: Path) -> Run:
    """Subscribe, disturb, and take the process's figures for this long. heap: the file of its memory in use."""
    nodes = load_endpoints(twin_files(state, "pod64").endpoints).by_name()
    control = running(state, "pod64")
    assert control is not None
    subscribers = [Subscriber(wish) for wish in wishes(pod64(), SUBSCRIBERS)]
    run = Run(subscribers, Disturbances(pod64(), control, nodes, subscribers, Random(SEED)))
    tasks = [asyncio.create_task(one.run(nodes[one.wish.switch])) for one in subscribers]
    tasks.append(asyncio.create_task(run.disturbances.run()))
    began_s = time.monotonic()
    while (at_s := time.monotonic() - began_s) < seconds or (not run.complete and at_s < COMPLETE_WITHIN_S):
        if not run.process or at_s - run.process[-1].at_s >= FIGURES_S:
            run.process.append(figures(pid, at_s, heap))
        await asyncio.sleep(POLL_S)
    run.process.append(figures(pid, at_s, heap))
    run.ended_s = time.monotonic()
    status = await asyncio.to_thread(control.status)
    run.failure, run.steps, run.simulated_s = status.failure, status.steps, status.simulated_s
    await _cancelled(tasks)
    return run


async def _cancelled(tasks: Sequence[asyncio.Task[None]]) -> None:
    """End tasks; raises what one of them raised by itself."""
    for task in tasks:
        task.cancel()
    for found in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(found, Exception):
            raise found


def complaints(log: Path) -> list[str]:
    return [line for line in log.read_text(errors="replace").splitlines() if COMPLAINT.search(line)]


@pytest.mark.timeout(2 * SECONDS + STARTS_WITHIN_S + COMPLETE_WITHIN_S + 60)
def test_subscribers_receive_what_the_intent_says_and_the_twin_does_not_grow(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    heap = tmp_path / "heap"
    monkeypatch.setenv("RAILFAB_HEAP", str(heap))
    monkeypatch.setenv("PYTHONPATH", str(HEAP))
    with twin(tmp_path) as process:
        run = asyncio.run(subscribed(tmp_path, process.pid, SECONDS, heap))
        assert process.poll() is None
    with capsys.disabled() if SECONDS else nullcontext():
        sys.stdout.write("\n".join(("", *run.report(), "")))
    assert [*run.problems(), *complaints(twin_files(tmp_path, "pod64").log)] == []
