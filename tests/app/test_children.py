"""Programs beside railfab end with it, whatever they do with SIGTERM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.signals import is_running

from railfab.app.children import END_WITHIN_S, Children
from railfab.errors import LabError

PARENT = """\
import sys, threading, time
from pathlib import Path
from railfab.app.children import Children
with Children(threading.Event()) as children:
    children.start("deaf", sys.argv[2:], Path(sys.argv[1]))
    time.sleep(60)
"""

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]
DEAF = [
    sys.executable,
    "-c",
    "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('ready', flush=True); time.sleep(60)",
]


def wait_for_output(log: Path) -> None:
    until_s = time.monotonic() + 20
    while not log.read_text():
        assert time.monotonic() < until_s
        time.sleep(0.02)


def test_all_end_with_the_context_and_one_that_ignores_it_is_killed(tmp_path: Path) -> None:
    with Children(threading.Event()) as children:
        started = [children.start("sleep", SLEEP, tmp_path / "s.log"), children.start("deaf", DEAF, tmp_path / "d.log")]
        wait_for_output(tmp_path / "d.log")
        children.check()
        began_s = time.monotonic()
    assert END_WITHIN_S <= time.monotonic() - began_s < END_WITHIN_S + 2
    assert [child.process.returncode for child in started] == [-15, -9]


def test_all_end_once_a_stop_is_requested_though_the_context_goes_on(tmp_path: Path) -> None:
    stop_requested = threading.Event()
    with Children(stop_requested) as children:
        first = children.start("first", SLEEP, tmp_path / "first.log")
        stop_requested.set()
        assert first.process.wait(10) == -15
        late = children.start("late", SLEEP, tmp_path / "late.log")
    assert late.process.returncode == -15


def test_one_that_ends_by_itself_is_named_with_its_last_line(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "print('first'); print('railfab: port 1: is in use.')"]
    with Children(threading.Event()) as children:
        child = children.start("twin", command, tmp_path / "logs" / "twin.log")
        child.process.wait(20)
        with pytest.raises(LabError, match=r"^twin: ended: port 1: is in use\. See .*twin\.log\.$"):
            children.check()


def test_a_child_reads_its_standard_input_and_without_a_text_nothing(tmp_path: Path) -> None:
    echo = [sys.executable, "-c", "import sys; print(sys.stdin.read())"]
    with Children(threading.Event()) as children:
        started = [children.start("echo", echo, tmp_path / f"{text}.log", text) for text in (b"fabric: pod64", None)]
        assert [child.process.wait(20) for child in started] == [0, 0]
        assert [child.log.read_text() for child in started] == ["fabric: pod64\n", "\n"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has parent-death signals")
def test_a_killed_parent_leaves_no_child_even_one_that_ignores_signals(tmp_path: Path) -> None:
    log = tmp_path / "child.log"
    child = DEAF[2].replace("'ready'", "os.getpid()").replace("import signal", "import os, signal")
    parent = subprocess.Popen([sys.executable, "-c", PARENT, log, sys.executable, "-c", child])
    until_s = time.monotonic() + 30
    while not log.exists() or not log.read_text().endswith("\n"):
        assert time.monotonic() < until_s
        time.sleep(0.02)
    pid = int(log.read_text())
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    while is_running(pid):
        assert time.monotonic() < until_s
        time.sleep(0.02)


def test_a_log_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with Children(threading.Event()) as children, pytest.raises(LabError, match="Name another directory with --state"):
        children.start("twin", SLEEP, tmp_path / "file" / "twin.log")
