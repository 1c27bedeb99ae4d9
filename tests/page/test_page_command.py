"""`railfab page` on the command line: what it refuses, what it says, and how it ends."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest
from tests.commands import run
from tests.page.live_page import LivePage, live_page
from tests.twin.qos_twin import small

PAGE = [sys.executable, "-m", "railfab", "page"]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> LivePage:
    with live_page(tmp_path_factory.mktemp("page")) as running:
        yield running


def refusal(*arguments: str | Path, cwd: Path) -> str:
    """The one line of a command that cannot run."""
    done = run("page", *arguments, cwd=cwd)
    assert (done.returncode, done.stdout) == (2, ""), done
    assert len(done.stderr.splitlines()) == 1, done.stderr
    return done.stderr.strip()


def test_a_port_in_use_names_a_fix_that_works(shown: LivePage) -> None:
    arguments = (shown.design.path, "--on", "twin", "--state", shown.state)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = refusal(*arguments, "--listen", f"127.0.0.1:{taken.getsockname()[1]}", cwd=shown.state)
        assert "cannot be listened on (in use" in said
        fix = re.search(r"Use (--listen \S+), which takes any free port", said)
        assert fix is not None
        command = [*PAGE, *map(str, arguments), *fix[1].split()]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as served:
            url = served.stdout.readline().strip()
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/#token=[\w-]{20,}", url)
            with urllib.request.urlopen(url.partition("#")[0] + "api/fabric", timeout=60) as answer:
                assert answer.status == 200
            served.send_signal(signal.SIGTERM)
            printed, errors = served.communicate(timeout=60)
    assert (served.returncode, printed) == (0, "")
    assert url.partition("=")[2] not in errors


def test_what_cannot_be_shown_is_one_line(tmp_path: Path) -> None:
    intent = small(tmp_path).path
    assert "no twin of small is running" in refusal(intent, "--on", "twin", cwd=tmp_path)
    assert "is no address and port" in refusal(intent, "--listen", "here:http", cwd=tmp_path)
    assert "leave out --on" in refusal(intent, "--on", "twin", "--prometheus", "http://127.0.0.1:1", cwd=tmp_path)
    assert "127.0.0.1:1" in refusal(intent, "--prometheus", "http://127.0.0.1:1", cwd=tmp_path)


def test_an_address_beyond_this_machine_is_said_to_be_a_risk(shown: LivePage) -> None:
    arguments = (shown.design.path, "--on", "twin", "--state", shown.state, "--listen", "0.0.0.0:0")
    command = [*PAGE, *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as served:
        assert served.stdout.readline().startswith("http://127.0.0.1:")
        served.send_signal(signal.SIGINT)
        assert "everyone who reaches this address" in served.communicate(timeout=60)[1]
