"""While the fabric converges after a Set of one switch, the other switches answer as if nothing happened."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

import grpc
import pytest
from tests.gnmi.stub import Stub
from tests.twin.other_client import STREAM_S
from tests.twin.twins import LEAF, REPOSITORY, SPINE, endpoint, pod64, started

from railfab import forwarding
from railfab.gnmi import messages, paths
from railfab.twin import Twin, live

LONGEST_S = 60.0
"""A convergence that keeps others waiting ends after this time, and they have waited for it [s]."""
ALLOWANCE_S = 0.5
"""How much longer connecting and Capabilities may take than while nothing happens, on a loaded machine too [s]."""


@contextmanager
def other_client(twin: Twin, name: str) -> Iterator[Callable[[], dict[str, Any]]]:
    """A client of this switch in another process, which measures when it is called."""
    node = endpoint(twin, name)
    command = [sys.executable, "-m", "tests.twin.other_client", str(node.gnmi_port), str(node.ca)]
    process = subprocess.Popen(
        [*command, twin.credentials.password], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    )

    def measured() -> dict[str, Any]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")
        process.stdin.flush()
        found: dict[str, Any] = json.loads(process.stdout.readline())
        return found

    with process:
        try:
            yield measured
        finally:
            process.kill()


class SlowConvergence:
    """A convergence that first keeps the interpreter busy until it may end, once."""

    def __init__(self) -> None:
        self.began, self.may_end, self.ended = threading.Event(), threading.Event(), threading.Event()
        self._converge = forwarding.begin

    def __call__(self, *arguments: Any) -> Any:
        if not self.began.is_set():
            self.began.set()
            until_s, rounds = time.monotonic() + LONGEST_S, 0
            while time.monotonic() < until_s and not self.may_end.is_set():
                rounds += 1
            self.ended.set()
        return self._converge(*arguments)


@contextmanager
def stub(twin: Twin, name: str) -> Iterator[Stub]:
    node = endpoint(twin, name)
    trust = grpc.ssl_channel_credentials(Path(node.ca or "").read_bytes())
    with grpc.secure_channel(f"{node.host}:{node.gnmi_port}", trust) as channel:
        yield Stub(channel)


def described(text: str) -> messages.SetRequest:
    """A Set of the description of a port."""
    value = messages.TypedValue(json_ietf_val=json.dumps(text).encode())
    path = paths.to_proto("/interface[name=ethernet-1/25]/description")
    return messages.SetRequest(update=[messages.Update(path=path, val=value)])


def test_switches_answer_and_stream_while_a_set_of_another_one_converges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with started(tmp_path) as twin, other_client(twin, SPINE) as measured, stub(twin, LEAF) as leaf:
        measured()
        idle = measured()
        slow = SlowConvergence()
        monkeypatch.setattr(live, "begin", slow)
        metadata = (("username", "admin"), ("password", twin.credentials.password))
        sets = [leaf.Set.future(described("0"), metadata=metadata)]
        assert slow.began.wait(30)
        busy = measured()
        assert not slow.ended.is_set()
        assert not sets[0].done()
        slow.may_end.set()
        sets[0].result(60)
    assert median(busy["dials_s"]) < median(idle["dials_s"]) + ALLOWANCE_S
    assert busy["silent_s"] < idle["silent_s"] + 2 * STREAM_S + ALLOWANCE_S


def test_sets_that_wait_for_convergence_leave_room_for_other_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = list(pod64().models)
    with started(tmp_path) as twin, stub(twin, LEAF) as leaf:
        slow = SlowConvergence()
        monkeypatch.setattr(live, "begin", slow)
        metadata = (("username", "admin"), ("password", twin.credentials.password))
        sets = [leaf.Set.future(described(str(number)), metadata=metadata) for number in range(40)]
        assert slow.began.wait(30)
        for name in names:
            with stub(twin, name) as other:
                request = messages.GetRequest(path=[paths.to_proto("/system/name")], encoding=4)
                assert other.Get(request, metadata=metadata, timeout=LONGEST_S / 2).notification
        assert not slow.ended.is_set()
        slow.may_end.set()
        for waiting in sets:
            waiting.result(60)
