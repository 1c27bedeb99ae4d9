"""The questions to the servers of switches: which of them are said not to answer."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from railfab.gnmi.certificates import Authority
from railfab.lab.probes import failed_services, gnmi_probe, ssh_probe

SWITCHES = 100


@asynccontextmanager
async def tls_server(folder: Path) -> AsyncIterator[int]:
    """A TLS server of one certificate; yields its port."""
    identity = Authority("probes").issue("switch")
    certificate, key = folder / "crt", folder / "key"
    certificate.write_bytes(identity.certificate)
    key.write_bytes(identity.key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    async with await asyncio.start_server(lambda _, writer: writer.close(), "127.0.0.1", 0, ssl=context) as server:
        yield server.sockets[0].getsockname()[1]


@pytest.mark.asyncio
async def test_a_hundred_gnmi_servers_answer_and_the_cas_of_the_system_are_not_read_for_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To read them takes 50 ms, in which no answer is taken: of a hundred switches half were said not to answer."""
    read: list[str] = []
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda *_: read.append("CAs"))
    async with tls_server(tmp_path) as port:
        probes = [gnmi_probe(f"leaf{number}", "127.0.0.1", port) for number in range(SWITCHES)]
        assert await asyncio.to_thread(failed_services, probes) == {}
    assert read == []


def test_a_server_that_accepts_and_does_not_answer_is_named_with_its_switch() -> None:
    with socket.create_server(("127.0.0.1", 0)) as frozen, socket.create_server(("127.0.0.1", 0)) as closed:
        port, closed_port = frozen.getsockname()[1], closed.getsockname()[1]
        closed.close()
        probes = [
            ssh_probe("leaf1", "127.0.0.1", port),
            gnmi_probe("leaf1", "127.0.0.1", port),
            ssh_probe("leaf2", "127.0.0.1", closed_port),
        ]
        assert failed_services(probes) == {"leaf1": ["SSH", "gNMI"], "leaf2": ["SSH"]}
