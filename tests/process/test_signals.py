"""Signals end a command at whatever moment and in whatever thread they arrive, also when its cleaning up hangs."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time

import pytest
from tests.signals import interruptible

ENDED = """\
import sys, time
from railfab.process.signals import ended_by_signal
with ended_by_signal("a lab is left"):
    try:
        print("running", flush=True)
        time.sleep(60)
    finally:
        time.sleep(float(sys.argv[1]))
        print("cleaned up", flush=True)
"""
STOPPED = """\
import sys, time
from railfab.process.signals import stop_on_signal
with stop_on_signal(lambda: print("stopping", flush=True)) as stop_requested:
    print("running", flush=True)
    stop_requested.wait()
    time.sleep(float(sys.argv[1]))
print("stopped")
"""
NOT_IN_MAIN_THREAD = """\
import signal, sys, threading, time
from railfab.process.signals import ended_by_signal, stop_on_signal

def arrive():
    time.sleep(0.5)  # by now the main thread waits; this wait ends neither by the signal nor by its handler
    signal.pthread_kill(threading.get_ident(), int(sys.argv[1]))
    time.sleep(60)

threading.Thread(target=arrive, daemon=True).start()
try:
    with stop_on_signal() if sys.argv[2] == "stop" else ended_by_signal("not cleaned up") as stop_requested:
        print("running", flush=True)
        (stop_requested or threading.Event()).wait()
    print("stopped")
except KeyboardInterrupt:
    print("interrupted")
"""
NUMBERS = pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])


def ended(
    command: str, *arguments: str, numbers: tuple[signal.Signals, ...] = (), delay_s: float = 0.0
) -> tuple[subprocess.CompletedProcess[str], float]:
    """The command after these signals, and how long it needed [s]. delay_s: from when it runs to the first signal."""
    started = interruptible([sys.executable, "-c", command, *arguments])
    with subprocess.Popen(started, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout is not None
            assert child.stdout.readline() == "running\n"
            began = time.monotonic()
            for at, number in enumerate(numbers):
                time.sleep(0.2 if at else delay_s)
                child.send_signal(number)
            out, errors = child.communicate(timeout=15)
        finally:
            child.kill()
    return subprocess.CompletedProcess(started, child.returncode, out, errors), time.monotonic() - began


@NUMBERS
def test_a_signal_ends_a_command_within_5_s_and_says_what_is_left(number: signal.Signals) -> None:
    done, took_s = ended(ENDED, "60", numbers=(number,))
    assert took_s < 5
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "railfab: a lab is left\n")


def test_a_second_signal_does_not_interrupt_the_cleaning_up() -> None:
    done, _ = ended(ENDED, "0.5", numbers=(signal.SIGTERM, signal.SIGTERM, signal.SIGINT))
    assert done.stdout == "cleaned up\n"
    assert "a lab is left" not in done.stderr


@NUMBERS
def test_a_stop_is_requested_and_reported_once(number: signal.Signals) -> None:
    done, took_s = ended(STOPPED, "0.6", numbers=(number, number))
    assert took_s < 5
    assert (done.returncode, done.stdout, done.stderr) == (0, "stopping\nstopped\n", "")


def test_a_signal_is_not_lost_just_before_the_main_thread_waits() -> None:
    draw = random.Random(1)
    for _ in range(25):
        done, took_s = ended(STOPPED, "0", numbers=(signal.SIGTERM,), delay_s=draw.uniform(0, 0.0005))
        assert (done.returncode, done.stdout) == (0, "stopping\nstopped\n")
        assert took_s < 5


@NUMBERS
@pytest.mark.parametrize(("mode", "said"), [("stop", "stopped\n"), ("end", "interrupted\n")])
def test_a_signal_that_does_not_interrupt_the_main_thread_ends_its_wait(
    number: signal.Signals, mode: str, said: str
) -> None:
    done, took_s = ended(NOT_IN_MAIN_THREAD, str(int(number)), mode)
    assert (done.returncode, done.stdout, done.stderr) == (0, said, "")
    assert took_s < 5
