"""Receivers on the benchmarks' server, whose messages and updates are counted."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.telemetry.receive.peers import endpoint, received

from railfab.gnmi.certificates import Authority
from railfab.gnmi.messages import SubscribeResponse
from railfab.telemetry.receive.choice import receiver

INTERFACES, LEAVES, UPDATES = 8, 8, 30
COUNT = 4 * INTERFACES * LEAVES


@pytest.fixture(scope="module", params=["raw", "grpc"])
def target(request: pytest.FixtureRequest, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator:
    """A server that counts to COUNT updates and holds its streams open then."""
    folder, authority = tmp_path_factory.mktemp("replay"), Authority("test")
    identity = authority.issue("leaf-000")
    for name, content in (("ca", authority.certificate), ("cert", identity.certificate), ("key", identity.key)):
        (folder / name).write_bytes(content)
    program = repository / "benchmarks" / "gnmi_replay_server.py"
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    size = f"--interfaces {INTERFACES} --updates {UPDATES} --count {COUNT} --rate 100000"
    shape = f"--base-port {port} --engine {request.param} {size}"
    tls = ("--tls-cert", str(folder / "cert"), "--tls-key", str(folder / "key"))
    with subprocess.Popen(
        [sys.executable, str(program), *shape.split(), *tls], stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdout.readline().startswith("LISTEN")
        yield endpoint(port, plaintext=False, ca=str(folder / "ca"))
        server.terminate()


@pytest.mark.parametrize("name", ["fast", "grpc"])
def test_every_update_of_the_benchmarks_server_arrives(name: str, target) -> None:
    per_round = -(-INTERFACES * LEAVES // UPDATES)
    found = asyncio.run(received(receiver(name), target, 4 * per_round + 1))
    parsed = [SubscribeResponse.FromString(content) for _, content in found]
    assert sum(len(response.update.update) for response in parsed) == COUNT
    assert [response.sync_response for response in parsed].count(True) == 1
