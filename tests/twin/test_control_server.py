"""The remote control: what is refused, what is reported as a defect, and an answer that ends half-way."""

from __future__ import annotations

import socket
import threading

import pytest
from prometheus_client import CollectorRegistry

from railfab.errors import DeviceError, EndpointError, TopologyError
from railfab.intent import Job
from railfab.twin.control import Control
from railfab.twin.control_server import ControlServer
from railfab.twin.link_parts import Direction
from railfab.twin.status import SwitchOperation, TwinStatus


class Broken:
    """A twin whose links cannot be set: a defect, and a port that is not there."""

    def status(self) -> TwinStatus:
        raise ZeroDivisionError("a defect")

    def switch_job(self, job: Job | None) -> None:
        raise KeyError("a defect")

    def set_link(
        self,
        node: str,
        interface: str,
        *,
        up: bool,
        direction: Direction = Direction.BOTH,
        detected: bool = True,
    ) -> None:
        raise TopologyError(f"link {node} {interface}", "there is no cable", "Use a port of the cabling plan")

    def set_host_rate(self, host: str, rx_gbps: float | None, *, interface: str | None = None) -> None: ...

    def operate(self, name: str, operation: SwitchOperation) -> None: ...


def test_a_defect_is_reported_as_one_and_a_refusal_as_its_text() -> None:
    with ControlServer(Broken(), CollectorRegistry()) as server:
        control = Control("pod64", server.url, server.token)
        with pytest.raises(DeviceError) as defect:
            control.status()
        assert str(defect.value) == (
            "/status: failed in the twin (ZeroDivisionError: a defect). Report what the twin logged."
        )
        with pytest.raises(DeviceError, match="failed in the twin"):
            control.switch_job(None)
        with pytest.raises(DeviceError, match="there is no cable"):
            control.set_link("leaf1", "ethernet-1/1", up=True)
        with pytest.raises(DeviceError, match=r"/link: the request is not valid .*Check the body"):
            control._call("POST", "/link", {"node": "leaf1"})


def test_an_answer_that_ends_half_way_is_a_twin_that_does_not_run() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")

        thread = threading.Thread(target=answer)
        thread.start()
        with pytest.raises(EndpointError, match="no twin is running"):
            Control("pod64", f"http://127.0.0.1:{server.getsockname()[1]}", "token").status()
        thread.join()
