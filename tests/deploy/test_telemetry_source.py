"""A source of telemetry that does not answer as it should: a failed gate with one clear line, and no secret in it."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pytest
from tests.ports import free_port
from tests.twin.small_fabric import LEAF, SPINE, small

from railfab.deploy.gates import TelemetryGate, TelemetrySource, source_of
from railfab.endpoints.secrets import SecretSource
from railfab.errors import EndpointError, RailfabError
from railfab.gnmi import certificates
from railfab.gnmi.certificates import Authority

WAVE = (LEAF, SPINE)
JSON = "application/json"
EMPTY = json.dumps({"status": "success", "data": {"resultType": "vector", "result": []}})
SENT = "fabric_interface_transmit_bytes_total"
METRICS = f"""# HELP {SENT} Transmitted octets.
# TYPE {SENT} counter
{SENT}{{device="a",fabric="small",interface="e 1, \\"x\\""}} 7
{SENT}{{device="b",fabric="small",interface="e1"}} 8
{SENT}{{device="a",fabric="other",interface="e1"}} 9
fabric_collector_last_update_timestamp_seconds{{device="a",fabric="small",subscription="sample"}} 1700000000.5
fabric_collector_last_update_timestamp_seconds{{device="a",fabric="small",subscription="once"}} 0
"""


@contextmanager
def serving(status: int, text: str, *, paths: tuple[str, ...] = ("",), tls: Path | None = None) -> Iterator[str]:
    """The URL of a server that answers so what begins with one of these paths, and 404 else."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", 0)))
            known = self.path.startswith(paths)
            wanted = self.headers.get("Authorization") in (None, "Bearer sesame")
            self.send_response(401 if not wanted else status if known else 404)
            self.end_headers()
            self.wfile.write(text.encode() if known else b"")

        def do_POST(self) -> None:
            self.do_GET()

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(tls)
        server.socket = context.wrap_socket(server.socket, server_side=True)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"{'http' if tls is None else 'https'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def source(url: str, **environment: str) -> TelemetrySource:
    return TelemetrySource(url, "small", SecretSource("RAILFAB_TELEMETRY", environment))


def line_of(url: str, **environment: str) -> str:
    gate = TelemetryGate(small(), source(url, **environment), arrives_within_s=0)
    with pytest.raises(RailfabError):
        gate.baseline(WAVE)
    (failure,) = gate.failures(WAVE)
    assert "\n" not in failure.line
    return failure.line.replace(url, "URL")


@pytest.mark.parametrize(
    ("status", "text", "line"),
    [
        (500, "", "URL: answers 500 Internal Server Error. Check the URL, the login and the server"),
        (
            200,
            "<html>Log in</html>",
            "URL: answers with a page of HTML and not as Prometheus does. Check that the URL is that of a Prometheus or"
            " of railfab collect",
        ),
        (200, "[]", "URL: answers with something else and not as Prometheus does. Check that the URL is that of"),
        (404, "", "URL: serves neither queries nor metrics. Check that the URL is that of a Prometheus or of railfab"),
        (
            200,
            EMPTY,
            "URL: has no series of switches of the fabric small. Correct the URL, and check that railfab collect runs",
        ),
        (302, "", "URL: answers 302 Found. Check the URL, the login and the server"),
    ],
)
def test_a_server_that_gives_no_telemetry_is_a_failed_gate(status: int, text: str, line: str) -> None:
    with serving(status, text) as url:
        assert line_of(url).startswith(f"gate telemetry: {line}")


def test_a_server_that_does_not_listen_is_a_failed_gate() -> None:
    line = line_of(f"http://127.0.0.1:{free_port()}")
    assert line == "gate telemetry: URL: cannot be read (Connection refused). Check the address and its server"


def test_a_certificate_that_has_expired_or_is_of_an_unknown_ca_is_a_failed_gate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ca, identity = tmp_path / "ca.pem", tmp_path / "identity.pem"
    authority = Authority("ca")
    ca.write_bytes(authority.certificate)
    monkeypatch.setattr(certificates, "VALID_DAYS", -1 / 1440)
    old = authority.issue("127.0.0.1")
    identity.write_bytes(old.key + old.certificate)
    with serving(200, EMPTY, tls=identity) as url:
        expired = line_of(url, RAILFAB_TELEMETRY_CA=str(ca))
    assert expired.startswith("gate telemetry: URL: its certificate is not trusted (certificate has expired)")
    monkeypatch.undo()
    new = authority.issue("127.0.0.1")
    identity.write_bytes(new.key + new.certificate)
    with serving(200, EMPTY, tls=identity) as url:
        assert "its certificate is not trusted (unable to get local issuer certificate)" in line_of(url)
        assert "has no series" in line_of(url, RAILFAB_TELEMETRY_CA=str(ca))


def test_a_token_is_read_from_a_file_and_is_in_no_message(tmp_path: Path) -> None:
    login = tmp_path / "login.yml"
    with serving(200, EMPTY) as url:
        login.write_text("token: sesame")
        assert "has no series" in line_of(url, RAILFAB_TELEMETRY_CREDENTIALS=str(login))
        login.write_text("token: wrong-one")
        refused = line_of(url, RAILFAB_TELEMETRY_CREDENTIALS=str(login))
    assert refused == "gate telemetry: URL: answers 401 Unauthorized. Check the URL, the login and the server"


def test_an_url_with_a_login_is_refused_without_it() -> None:
    with pytest.raises(EndpointError) as refused:
        source("http://me:geheim@prometheus.example")
    assert str(refused.value) == (
        "http://prometheus.example: the URL has a login in it."
        " Set RAILFAB_TELEMETRY_USERNAME and RAILFAB_TELEMETRY_PASSWORD."
    )


def test_the_exposition_of_the_collector_is_read_of_this_fabric_and_these_switches() -> None:
    with serving(200, METRICS, paths=("/metrics",)) as url:
        for address in (url, f"{url}/metrics", f"{url}/"):
            reading = source(address).read((SENT,), ("a",))
            ((series, value),) = reading.values.items()
            assert (series.device, series["interface"], value) == ("a", 'e 1, "x"', 7)
            assert reading.updated_s == {"a": 1700000000.5}
        assert len(source(url).read((SENT,)).values) == 2


def test_without_a_url_there_is_no_source_and_the_option_wins() -> None:
    assert source_of(small()) is None
    found = source_of(small(), "https://prometheus.example/base/?x=1")
    assert found is not None
    assert (urlsplit(found.name).path, parse_qs(urlsplit(found.name).query)) == ("/base/", {})
