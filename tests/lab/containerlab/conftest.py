"""A stand-in for the containerlab binary, used by every test of the backend."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.lab.containerlab.container import container

from railfab.lab.containerlab import Containerlab, ContainerlabBackend

STANDIN = Path(__file__).parent / "standin.py"
RECORDED = Path(__file__).parent / "recorded"


@dataclass(frozen=True, slots=True)
class StandIn:
    """A stand-in with its own home directory. pid: first process of all its containers."""

    home: Path
    pid: int

    def binary(self, **environment: str) -> Containerlab:
        given = {"STANDIN_HOME": str(self.home), "STANDIN_PID": str(self.pid), **environment}
        return Containerlab(str(self.home / "containerlab"), given)

    def backend(self, **environment: str) -> ContainerlabBackend:
        """The backend on it, on a machine whose kernel has modules."""
        return ContainerlabBackend(self.binary(**environment), proc=self.home / "proc")

    @property
    def calls(self) -> list[str]:
        path = self.home / "calls"
        return path.read_text().splitlines() if path.exists() else []


@pytest.fixture(scope="session")
def pid() -> Iterator[int]:
    """The first process of a container; without root that of the tests."""
    if os.geteuid() != 0:
        yield os.getpid()
        return
    with container() as started:
        yield started


@pytest.fixture
def standin(tmp_path: Path, pid: int) -> StandIn:
    home = tmp_path / "standin"
    home.mkdir()
    return new_standin(home, pid)


def new_standin(home: Path, pid: int) -> StandIn:
    """A stand-in with its files in this directory."""
    program = home / "containerlab"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {STANDIN} "$@"\n')
    program.chmod(0o755)
    write_proc(home / "proc")
    return StandIn(home, pid)


def write_proc(proc: Path, *, bounding: int = (1 << 41) - 1, modules: bool = True) -> Path:
    """The files of procfs that the doctor reads."""
    for folder in ("self", "sys/kernel"):
        (proc / folder).mkdir(parents=True, exist_ok=True)
    (proc / "self/status").write_text(f"Name:\tpython\nCapBnd:\t{bounding:016x}\n")
    (proc / "sys/kernel/cap_last_cap").write_text("40\n")
    if modules:
        (proc / "modules").write_text("")
    return proc
