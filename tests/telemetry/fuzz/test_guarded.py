"""Compiled code of the collector touches no byte outside of its arrays, whatever a target sends."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

TOUCH = """
from tests.telemetry.fuzz.guarded import Guarded
array = Guarded(before={before}).of(b"12345678")
assert bytes(array) == b"12345678"
import ctypes
ctypes.memmove(array.ctypes.data + {offset}, b"x", 1)
print("written")
"""


@pytest.mark.parametrize(("before", "offset"), [(False, 8), (True, -1)])
def test_one_byte_outside_of_a_guarded_array_ends_the_process(before: bool, offset: int) -> None:
    program = TOUCH.format(before=before, offset=offset)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, b"")


def test_damaged_bytes_are_decoded_and_received_in_guarded_memory() -> None:
    """`make fuzz` tries more."""
    command = [sys.executable, "-m", "tests.telemetry.fuzz.kernels", "--rounds", "20"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "20 rounds, no fault\n", "")
