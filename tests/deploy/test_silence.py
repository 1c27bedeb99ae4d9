"""Switches that answer no connection: the others are read, and these are not waited for one after the other."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from nornir.core.task import Result, Task
from tests.ports import free_port
from tests.twin.small_fabric import small

from railfab.deploy import run, silence
from railfab.deploy.run import nornir_of, readings_of
from railfab.deploy.silence import silent
from railfab.endpoints import Endpoint, Endpoints
from railfab.errors import Unreachable


@pytest.fixture
def hole() -> Iterator[int]:
    """A port that answers no connection: its queue of connections is full."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        queued = [socket.socket() for _ in range(8)]
        for connection in queued:
            connection.setblocking(False)
            connection.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]
        for connection in queued:
            connection.close()


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(silence, "ANSWERS_WITHIN_S", 0.5)


def endpoint(name: str, ssh_port: int, gnmi_port: int | None = None, host: str = "127.0.0.1") -> Endpoint:
    return Endpoint(name=name, platform="srlinux", host=host, ssh_port=ssh_port, gnmi_port=gnmi_port)


def test_a_switch_is_silent_that_neither_accepts_nor_refuses_a_connection(hole: int) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        switches = (
            endpoint("accepts", port),
            endpoint("refuses", free_port()),
            endpoint("no-address", 22, host="no-such-name.invalid"),
            endpoint("silent", hole),
            endpoint("silent-twice", hole, hole),
            endpoint("gnmi-alone", hole, port),
        )
        assert silent(switches) == {"silent", "silent-twice"}


def test_silent_switches_that_wait_are_not_tried_once_one_could_not_be_reached(
    hole: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "WORKERS", 1)
    login = tmp_path / "login.yml"
    login.write_text("{username: admin, password: admin-password}")
    first, second, third, last = (node.name for node in small().topology.switches())
    tried: list[str] = []

    def read(task: Task) -> Result:
        node: Endpoint = task.host["endpoint"]
        tried.append(node.name)
        if node.ssh_port == hole:
            raise Unreachable(node.name, "does not answer", "Look at it")
        return Result(host=task.host, result=node.name)

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        ports = {first: port, second: hole, third: hole, last: port}
        nodes = [replace(endpoint(name, of), credentials=str(login)) for name, of in ports.items()]
        endpoints = Endpoints(fabric="small", backend="inventory", nodes=tuple(nodes))
        done: list[str] = []
        readings = readings_of(nornir_of(small(), endpoints), read, done.append)
    assert tried == [first, second, last]
    assert readings.answers == {first: first, last: last}
    assert [str(error) for error in readings.unread.values()] == [
        f"{second}: does not answer. Look at it.",
        f"{third}: no answer from 127.0.0.1 within 0.5 s. Check the address and that the switch is up.",
    ]
    assert done == [first, second, third, last]
