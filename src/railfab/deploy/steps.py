"""The steps of a deploy: a file of lines, to which each step is appended before it is made, and again when it is done.

A line is a checksum and a JSON object. A line that is damaged, or was cut off by a loss of power, is named, and the
others are used.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from enum import StrEnum
from errno import ENOSPC
from pathlib import Path
from threading import Lock
from zlib import crc32

from railfab.endpoints import give_to_caller
from railfab.errors import RailfabError


class StepKind(StrEnum):
    """What a step does.

    ATTEMPT: a process begins or continues the deploy. GATE: the checks after a wave. HOLD, RELEASE: a host, by the
    scheduler. REVERT: a switch returns to what it ran before the deploy.
    """

    ATTEMPT = "attempt"
    WAVE = "wave"
    HOLD = "hold"
    DRAIN = "drain"
    CHANGE = "change"
    GATE = "gate"
    REVERT = "revert"
    UNDRAIN = "undrain"
    RELEASE = "release"


class StepState(StrEnum):
    BEGINS = "begins"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class DeployStep:
    """A line of the file. wave: its number, 0 outside of waves. switch: or host; empty for a step of a whole wave."""

    kind: StepKind
    state: StepState
    wave: int = 0
    switch: str = ""
    note: str = ""
    at: str = ""


class StepLog:
    """Appends steps to a file, each on the disk before `write` returns. Thread-safe."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = Lock()
        self._descriptor: int | None = None

    def write(
        self, kind: StepKind, state: StepState, switches: Iterable[str] = ("",), *, wave: int = 0, note: str = ""
    ) -> None:
        """Append a step of each switch. Raises RailfabError where that cannot be written; do not make the step then."""
        at = datetime.now(UTC).isoformat(timespec="milliseconds")
        lines = b"".join(_line(DeployStep(kind, state, wave, switch, note, at)) for switch in switches)
        try:
            with self._lock:
                descriptor = self._opened()
                if os.write(descriptor, lines) != len(lines):
                    raise OSError(ENOSPC, os.strerror(ENOSPC))
                os.fdatasync(descriptor)
        except OSError as error:
            raise _unwritten(self.path, error) from None

    def close(self) -> None:
        with self._lock:
            if self._descriptor is not None:
                os.close(self._descriptor)
                self._descriptor = None

    def _opened(self) -> int:
        """The open file, which ends with a whole line: what a loss of power has cut off stays a line of its own."""
        if self._descriptor is None:
            descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            give_to_caller(self.path)
            size = os.fstat(descriptor).st_size
            if size and os.pread(descriptor, 1, size - 1) != b"\n":
                os.write(descriptor, b"\n")
            self._descriptor = descriptor
        return self._descriptor


@dataclass(frozen=True, slots=True)
class DeploySteps:
    """The steps of a deploy in their order. damaged: the numbers of the lines that cannot be read."""

    every: tuple[DeployStep, ...] = ()
    damaged: tuple[int, ...] = ()

    def attempts(self) -> int:
        """The number of names that were chosen for changes of the deploy."""
        return sum(step.kind is StepKind.ATTEMPT for step in self.every)

    def waves_done(self) -> Mapping[int, str]:
        """The waves that were changed and passed their gates, and were not reverted since, with the time of each."""
        done: dict[int, str] = {}
        for step in self.every:
            if step.kind is StepKind.WAVE and step.state is StepState.DONE:
                done[step.wave] = step.at
            elif step.kind is StepKind.REVERT:
                done.pop(step.wave, None)
        return done

    def has_begun(self, wave: int) -> bool:
        """Whether a switch of a wave was begun to be changed, and the wave was not reverted since."""
        begun = False
        for step in self.every:
            if step.wave == wave and step.kind in (StepKind.CHANGE, StepKind.REVERT):
                begun = step.kind is StepKind.CHANGE
        return begun

    def unconfirmed(self) -> frozenset[str]:
        """The switches whose change was begun and did not end well: they may run it and not have saved it."""
        return self._begun(StepKind.CHANGE, StepKind.CHANGE)

    def drained(self) -> frozenset[str]:
        """The switches that the deploy has drained, or was about to, and has not undrained."""
        return self._begun(StepKind.DRAIN, StepKind.UNDRAIN)

    def held(self) -> frozenset[str]:
        """The hosts that the scheduler was asked to hold, and not to release."""
        return self._begun(StepKind.HOLD, StepKind.RELEASE)

    def _begun(self, begins: StepKind, ends: StepKind) -> frozenset[str]:
        names: set[str] = set()
        for step in self.every:
            if step.kind is begins and step.state is StepState.BEGINS:
                names.add(step.switch)
            elif step.kind is ends and step.state is StepState.DONE:
                names.discard(step.switch)
        return frozenset(names)


def read_steps(path: Path) -> DeploySteps:
    """The steps in a file; none where there is no file. Raises RailfabError where it cannot be read."""
    try:
        lines = path.read_bytes().split(b"\n") if path.is_file() else []
    except OSError as error:
        problem = f"cannot be read ({(error.strerror or str(error)).lower()})"
        raise RailfabError(str(path), problem, "Check the permissions of the state folder") from None
    numbered = [(number, _step(line)) for number, line in enumerate(lines, 1) if line]
    return DeploySteps(
        tuple(step for _, step in numbered if step is not None),
        tuple(number for number, step in numbered if step is None),
    )


def _line(step: DeployStep) -> bytes:
    text = json.dumps(asdict(step), ensure_ascii=False).encode()
    return b"%08x %s\n" % (crc32(text), text)


def _step(line: bytes) -> DeployStep | None:
    """The step of a line; None for a damaged one."""
    checksum, _, text = line.partition(b" ")
    if checksum != b"%08x" % crc32(text):
        return None
    try:
        fields = json.loads(text)
        return DeployStep(**{**fields, "kind": StepKind(fields["kind"]), "state": StepState(fields["state"])})
    except (ValueError, TypeError, KeyError):
        return None


def _unwritten(path: Path, error: OSError) -> RailfabError:
    problem = f"cannot be written ({(error.strerror or str(error)).lower()})"
    return RailfabError(str(path), problem, "Free space there, then continue with railfab deploy --resume or --abort")
