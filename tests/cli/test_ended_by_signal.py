"""A command that a signal ends, also when its cleaning up hangs."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest
from tests.signals import interruptible

COMMAND = """\
import sys, time
from railfab.cli.common import ended_by_signal
with ended_by_signal("a lab is left"):
    try:
        print("running", flush=True)
        time.sleep(60)
    finally:
        time.sleep(float(sys.argv[1]))
        print("cleaned up", flush=True)
"""


def ended(cleaning_s: float, *numbers: signal.Signals) -> tuple[subprocess.CompletedProcess[str], float]:
    """The command after these signals, and how long it needed [s]."""
    command = interruptible([sys.executable, "-c", COMMAND, str(cleaning_s)])
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "running\n"
        began = time.monotonic()
        for number in numbers:
            child.send_signal(number)
            time.sleep(0.2)
        out, errors = child.communicate(timeout=30)
    return subprocess.CompletedProcess(command, child.returncode, out, errors), time.monotonic() - began


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_command_within_5_s_and_says_what_is_left(number: signal.Signals) -> None:
    done, took_s = ended(60, number)
    assert took_s < 5
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "railfab: a lab is left\n")


def test_a_second_signal_does_not_interrupt_the_cleaning_up() -> None:
    done, _ = ended(0.5, signal.SIGTERM, signal.SIGTERM, signal.SIGINT)
    assert done.stdout == "cleaned up\n"
    assert "a lab is left" not in done.stderr
