"""Commands of a scheduler, here or behind a prefix such as `ssh controller`, each with a limit of time."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from railfab.deploy.schedulers.contract import SchedulerError
from railfab.endpoints import without_logins

ANSWER_S = 60.0
"""Limit of a command [s]; the commands of Slurm 22.05 give a controller up that refuses connections after 9 s."""


class NonZeroExit(Exception):
    """A command ended with another exit code than 0. printed: its standard output; said: the end of its errors."""

    def __init__(self, code: int, printed: str, said: str) -> None:
        super().__init__(said)
        self.code, self.printed, self.said = code, printed, said


@dataclass(frozen=True, slots=True, kw_only=True)
class SchedulerCommands:
    """Where commands run. prefix: a command that runs the one after it. folder: that of the programs, else by PATH.

    A remote shell reads what ssh is given, so that arguments are quoted where the prefix is one of ssh. No command gets
    the logins of switches and servers that the environment has for railfab.
    """

    prefix: tuple[str, ...] = ()
    folder: str | None = None
    answer_s: float = ANSWER_S

    def output(self, program: str, *arguments: str) -> str:
        """What a command prints. Raises NonZeroExit, and SchedulerError where it cannot run or does not end."""
        command = self._line(program, arguments)
        # A session of its own has no terminal, on which ssh would ask for a password.
        try:
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                env=without_logins(os.environ),
            )
        except OSError as error:
            problem = f"cannot be run ({(error.strerror or str(error)).lower()})"
            raise SchedulerError(command[0], problem, "Correct change.scheduler in the intent") from None
        printed, errors = self._ended(process, program)
        if process.returncode:
            lines = errors.strip().splitlines()
            raise NonZeroExit(process.returncode, printed, lines[-1] if lines else "")
        return printed

    def _line(self, program: str, arguments: tuple[str, ...]) -> list[str]:
        path = program if self.folder is None else str(PurePosixPath(self.folder) / program)
        if not self.prefix or Path(self.prefix[0]).name != "ssh":
            return [*self.prefix, path, *arguments]
        return [*self.prefix, *(shlex.quote(word) for word in (path, *arguments))]

    def _ended(self, process: subprocess.Popen[bytes], program: str) -> tuple[str, str]:
        try:
            output, errors = process.communicate(timeout=self.answer_s)
        except subprocess.TimeoutExpired:
            problem = f"has not answered within {self.answer_s:g} s"
            raise SchedulerError(program, problem, "Check the controller, and the way to it") from None
        finally:
            if process.returncode is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
        return output.decode(errors="replace"), errors.decode(errors="replace")
