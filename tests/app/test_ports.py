"""Ports are looked at before anything is started; a Prometheus that runs already takes nothing from ours."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from tests.ports import free_port

from railfab.app import ports
from railfab.errors import LabError


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `prometheus` on PATH."""
    (tmp_path / "prometheus").write_text("#!/bin/sh\n")
    (tmp_path / "prometheus").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


@pytest.mark.usefixtures("installed")
def test_the_usual_port_in_use_gives_way_to_a_free_one_and_a_demanded_one_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    port = free_port()
    with socket.create_server(("127.0.0.1", port)):
        monkeypatch.setattr(ports, "PROMETHEUS_PORT", port)
        assert ports.free_ports(0, None) not in (None, 0, port)
        with pytest.raises(LabError, match=rf"127.0.0.1:{port}: cannot be .* choose another --prometheus-port\."):
            ports.free_ports(0, port)
    assert ports.free_ports(0, None) == port
    assert ports.free_ports(0, 0) is None


def test_without_prometheus_there_is_no_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ports.free_ports(0, None) is None
