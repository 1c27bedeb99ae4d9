"""The host that the agent reads: its files and programs, or a tree of files with the outputs of programs beside it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from railfab.hostagent.programs import MeteredSystem
from railfab.hosts.nic import System, Unreadable

CAPTURED = "captured"
"""Folder of a tree with the outputs of programs, each in a file that has the name of its command line."""


class CapturedSystem(System):
    """A tree of files. Programs do not run: the folder CAPTURED has what they printed on the host."""

    def _run(self, command: Sequence[str]) -> str:
        programs = command[0].split("|")
        for program in programs:
            path = self.root / CAPTURED / captured_name([program, *command[1:]])
            try:
                return path.read_text(errors="replace")
            except FileNotFoundError:
                continue
            except OSError as error:
                problem = f"{CAPTURED}/{path.name} cannot be read ({(error.strerror or str(error)).lower()})"
                raise Unreadable(problem) from None
        raise Unreadable(f"{' or '.join(programs)} was not captured")


def captured_name(command: Sequence[str]) -> str:
    """The name of the file with the output of a command."""
    return " ".join(command).replace("/", "_")


def host_system(root: Path) -> System:
    """A tree where it has captured outputs, else the host whose file system is mounted there."""
    return CapturedSystem(root) if (root / CAPTURED).is_dir() else MeteredSystem(root)
