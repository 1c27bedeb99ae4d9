"""Plaintext, mutual TLS, tokens and certificates for other names, on real gRPC servers."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
)
from tests.gnmi.client_certificates import client_files

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import EndpointError, RailfabError, Unreachable
from railfab.gnmi import messages
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.certificates import Authority, TlsIdentity
from railfab.gnmi.client import SetChanges
from railfab.gnmi.tls import ClientCertificateRefused, OtherProtocol, PlaintextPort, TlsPort
from railfab.gnmi.trust import trust_of

ADMIN = Credentials("admin", "a secret")
NAME = "leaf1"


class Recorder(grpc.GenericRpcHandler):  # type: ignore[type-arg]
    """Answers Capabilities, Get and Set, and keeps the metadata and the requests."""

    def __init__(self) -> None:
        self.metadata: dict[str, Any] = {}
        self.targets: list[str] = []

    def service(self, call: grpc.HandlerCallDetails) -> Any:
        self.metadata = {key: value for key, value in call.invocation_metadata or () if key != "user-agent"}
        method = str(call.method).rpartition("/")[2]
        stem = {"Capabilities": "Capability", "Get": "Get", "Set": "Set"}[method]
        request, response = getattr(messages, f"{stem}Request"), getattr(messages, f"{stem}Response")

        def answer(given: Any, _: Any) -> Any:
            if method != "Capabilities":
                self.targets.append(given.prefix.target)
            return response()

        return grpc.unary_unary_rpc_method_handler(answer, request.FromString, response.SerializeToString)


@contextmanager
def serving(recorder: Recorder, identity: TlsIdentity | None, client_ca: bytes | None = None) -> Iterator[int]:
    """A gRPC server, without TLS where there is no identity; the port. client_ca: clients must have its certificate."""
    server = grpc.server(ThreadPoolExecutor(1), handlers=[recorder])
    if identity is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        pair = [(identity.key, identity.certificate)]
        port = server.add_secure_port(
            "127.0.0.1:0", grpc.ssl_server_credentials(pair, client_ca, client_ca is not None)
        )
    server.start()
    yield port
    server.stop(0)


@contextmanager
def answering(line: bytes) -> Iterator[int]:
    """A port that answers each connection with this line and closes it."""

    def answer() -> None:
        with suppress(OSError):
            while True:
                with listening.accept()[0] as caller:
                    if line:
                        caller.recv(1024)
                        caller.sendall(line)

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=answer, daemon=True).start()
        yield listening.getsockname()[1]
        listening.shutdown(socket.SHUT_RDWR)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("test")


@pytest.fixture
def endpoint(authority: Authority, tmp_path: Path) -> Endpoint:
    (tmp_path / "ca.pem").write_bytes(authority.certificate)
    return Endpoint(name=NAME, platform="box", host="127.0.0.1", ca=str(tmp_path / "ca.pem"))


def call(endpoint: Endpoint, credentials: Credentials = ADMIN) -> None:
    with BlockingGnmiClient(endpoint, credentials, dial_timeout_s=5) as client:
        client.capabilities()


def told(error: type[RailfabError], endpoint: Endpoint) -> str:
    with pytest.raises(error) as refused:
        call(endpoint)
    return str(refused.value)


def plain(port: int) -> Endpoint:
    return Endpoint(name=NAME, platform="box", host="127.0.0.1", gnmi_port=port, plaintext=True)


def test_plaintext_is_used_where_the_endpoint_says_so_and_logged(caplog: pytest.LogCaptureFixture) -> None:
    recorder = Recorder()
    with serving(recorder, None) as port:
        call(plain(port))
    assert recorder.metadata == {"username": "admin", "password": "a secret"}
    assert f"{NAME}: connected without TLS, as the endpoint asks (plaintext)" in caplog.text
    assert "a secret" not in caplog.text


def test_a_password_is_not_sent_in_plaintext_to_a_port_with_tls(authority: Authority) -> None:
    recorder = Recorder()
    with serving(recorder, authority.issue(NAME)) as port:
        text = told(TlsPort, plain(port))
    assert text == (
        f"{NAME}: 127.0.0.1:{port} speaks TLS, and the endpoint says plaintext. "
        "Leave out the endpoint's plaintext, and set its ca."
    )
    assert recorder.metadata == {}


def test_tls_to_a_plaintext_port_is_told(endpoint: Endpoint) -> None:
    with serving(Recorder(), None) as port:
        text = told(PlaintextPort, replace(endpoint, gnmi_port=port))
    assert text.startswith(f"{NAME}: 127.0.0.1:{port} does not speak TLS (")


def test_http_1_on_the_port_is_told() -> None:
    with answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
        assert f"127.0.0.1:{port} speaks HTTP/1, not HTTP/2. Check that gNMI" in told(OtherProtocol, plain(port))
    with answering(b"SSH-2.0-OpenSSH_9.2\r\n") as port:
        assert f"127.0.0.1:{port} does not speak HTTP/2. Check that gNMI" in told(OtherProtocol, plain(port))


def test_a_port_that_closes_is_told() -> None:
    with answering(b"") as port:
        assert f"no answer from 127.0.0.1:{port} (it closed the connection)" in told(Unreachable, plain(port))


def test_mutual_tls(authority: Authority, endpoint: Endpoint, tmp_path: Path) -> None:
    with serving(Recorder(), authority.issue(NAME), authority.certificate) as port:
        known = replace(endpoint, gnmi_port=port, **client_files(tmp_path / "a", authority))
        call(known)
        call(replace(known, ca=None, skip_verify=True))
        text = told(ClientCertificateRefused, replace(endpoint, gnmi_port=port))
        assert text.startswith(f"{NAME}: 127.0.0.1:{port} requires a client certificate (")
        assert text.endswith("Set the endpoint's client_cert and client_key.")
        foreign = client_files(tmp_path / "b", Authority("other"))
        text = told(ClientCertificateRefused, replace(endpoint, gnmi_port=port, **foreign))
        assert text.startswith(f"{NAME}: 127.0.0.1:{port} refuses the client certificate {foreign['client_cert']} (")


def test_a_client_certificate_that_cannot_be_used_is_named(
    authority: Authority, endpoint: Endpoint, tmp_path: Path
) -> None:
    one, other = client_files(tmp_path / "a", authority), client_files(tmp_path / "b", authority)
    locked = client_files(tmp_path / "c", authority, BestAvailableEncryption(b"word"))
    for files in ({**one, "client_key": other["client_key"]}, {**one, "client_cert": str(tmp_path / "none")}, locked):
        text = told(EndpointError, replace(endpoint, gnmi_port=1, **files))
        assert text.startswith(f"{NAME}: no usable client certificate in {files['client_cert']} with ")


def test_a_token_is_sent_in_place_of_user_name_and_password(authority: Authority, endpoint: Endpoint) -> None:
    recorder = Recorder()
    with serving(recorder, authority.issue(NAME)) as port:
        call(replace(endpoint, gnmi_port=port), Credentials("admin", "a secret", token="t0ken"))
    assert recorder.metadata == {"authorization": "Bearer t0ken"}


def test_nothing_is_sent_for_a_target_that_asks_for_no_login(authority: Authority, endpoint: Endpoint) -> None:
    recorder = Recorder()
    with serving(recorder, authority.issue(NAME)) as port:
        call(replace(endpoint, gnmi_port=port), Credentials("", ""))
    assert recorder.metadata == {}


def test_the_certificate_is_checked_for_the_name_that_the_endpoint_says(
    authority: Authority, endpoint: Endpoint
) -> None:
    with serving(Recorder(), authority.issue("leaf1.example", ())) as port:
        named = replace(endpoint, gnmi_port=port, tls_name="leaf1.example")
        call(named)
        for wrong in (None, "leaf2.example"):
            assert "is for another name" in told(RailfabError, replace(named, tls_name=wrong))


def test_requests_name_the_target_behind_a_gateway(authority: Authority, endpoint: Endpoint) -> None:
    recorder = Recorder()
    with serving(recorder, authority.issue(NAME)) as port:
        behind = replace(endpoint, gnmi_port=port, gnmi_target="leaf7")
        with BlockingGnmiClient(behind, ADMIN) as client:
            client.get(("/a",))
            client.set(SetChanges(delete=("/a",)))
    assert recorder.targets == ["leaf7", "leaf7"]


def test_a_name_that_cannot_be_resolved_is_said_so() -> None:
    with pytest.raises(Unreachable, match="its name cannot be resolved"):
        asyncio.run(trust_of(Endpoint(name="leaf1", platform="eos", host="leaf1.invalid", gnmi_port=1), 5.0))
