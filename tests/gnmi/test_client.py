"""Our gNMI client, blocking and on an event loop, on real servers."""

from __future__ import annotations

import asyncio
import logging
import math
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import grpc
import pytest

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError, EndpointError, LoginRefused, Unreachable
from railfab.gnmi import blocking, certificates, messages
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.certificates import Authority
from railfab.gnmi.client import GnmiClient, SetChanges, Subscription
from railfab.gnmi.leaves import Leaves
from railfab.gnmi.paths import elements, to_text_elements
from railfab.gnmi.server import GnmiServer, ServerLoop
from railfab.gnmi.statuses import Absent, Refused, StreamClosed, Unimplemented
from railfab.gnmi.target import DataType, Edit, Found, Operation, TargetView, YangModel
from railfab.gnmi.tls import CertificateRefused, PlaintextPort
from railfab.gnmi.values import JSON_IETF, PROTO

ADMIN = Credentials("admin", "a secret")
NAME = "leaf1"


class Box:
    """A switch whose every leaf may be set. may_answer: reads wait for it."""

    name = NAME
    change_age_s = math.inf

    def __init__(self) -> None:
        self.leaves = Leaves(NAME)
        self.leaves.put("/system/name", NAME, config=True, on_change=True)
        self.leaves.put("/interface[name=e1]/oper-state", "up", on_change=True)
        self.leaves.put("/interface[name=e2]/oper-state", "down", on_change=True)
        self.edits: list[Edit] = []
        self.may_answer = threading.Event()
        self.may_answer.set()

    def models(self) -> Sequence[YangModel]:
        return (YangModel("box", "railfab", "1"),)

    def view(self, max_age_s: float) -> TargetView | None:
        return None

    def refresh(self) -> TargetView:
        self.may_answer.wait(20)
        return self.leaves.publish()

    def set(self, edits: Sequence[Edit]) -> None:
        self.edits.extend(edits)
        for edit in edits:
            self.leaves.put(to_text_elements(edit.path), edit.value, config=True, on_change=True)


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("test")


@pytest.fixture(scope="module")
def loop() -> Iterator[ServerLoop]:
    with ServerLoop() as running:
        yield running


@pytest.fixture
def box() -> Box:
    return Box()


@pytest.fixture
def endpoint(box: Box, loop: ServerLoop, authority: Authority, tmp_path: Path) -> Iterator[Endpoint]:
    server = GnmiServer(box, loop, credentials=ADMIN, identity=authority.issue(NAME))
    ca = tmp_path / "ca.pem"
    ca.write_bytes(authority.certificate)
    yield Endpoint(name=NAME, platform="box", host="127.0.0.1", gnmi_port=server.start(), ca=str(ca))
    server.stop()


def told(error: type[Exception], endpoint: Endpoint, credentials: Credentials = ADMIN) -> str:
    """The error of a connection and a first call."""
    with pytest.raises(error) as refused, BlockingGnmiClient(endpoint, credentials, dial_timeout_s=2) as client:
        client.capabilities()
    return str(refused.value)


def test_capabilities(endpoint: Endpoint) -> None:
    with BlockingGnmiClient(endpoint, ADMIN) as client:
        found = client.capabilities()
    assert (found.version, found.models) == (messages.VERSION, (YangModel("box", "railfab", "1"),))
    assert JSON_IETF in found.encodings


def test_many_paths_are_read_by_one_get(endpoint: Endpoint) -> None:
    with BlockingGnmiClient(endpoint, ADMIN) as client:
        found = client.get(("/system/name", "/interface[name=e1]/oper-state"), encoding=PROTO)
    assert [answer.value for answer in found] == [NAME, "up"]
    assert to_text_elements(found[1].path) == "/interface[name=e1]/oper-state"


def test_a_get_reads_the_part_of_the_datastore_that_is_asked_for(endpoint: Endpoint) -> None:
    with BlockingGnmiClient(endpoint, ADMIN) as client:
        assert client.get(("/system/name",), DataType.CONFIG) == [Found(path=elements("/system/name"), value=NAME)]
        with pytest.raises(Absent, match=r"^leaf1: refused a gNMI Get \(leaf1: nothing at /system/name"):
            client.get(("/system/name",), DataType.STATE)


def test_one_absent_path_refuses_a_get_and_not_a_once(endpoint: Endpoint) -> None:
    paths = ("/interface[name=*]/oper-state", "/nowhere")
    with BlockingGnmiClient(endpoint, ADMIN) as client:
        with pytest.raises(Absent):
            client.get(paths)
        assert sorted(found.value for found in client.once(paths)) == ["down", "up"]


def test_a_set_carries_its_operations_in_order(endpoint: Endpoint, box: Box) -> None:
    changes = SetChanges(delete=("/c",), replace=(("/a", {"x": 1}),), update=(("/system/name", "new"),))
    with BlockingGnmiClient(endpoint, ADMIN) as client:
        client.set(changes)
        assert client.get(("/system/name",), DataType.CONFIG)[0].value == "new"
    assert [(edit.operation, edit.value) for edit in box.edits] == [
        (Operation.DELETE, None),
        (Operation.REPLACE, {"x": 1}),
        (Operation.UPDATE, "new"),
    ]


def test_union_replace_is_sent(endpoint: Endpoint, box: Box) -> None:
    with BlockingGnmiClient(endpoint, ADMIN) as client:
        client.set(SetChanges(union_replace=(("/system", {"name": "x"}),)))
    assert [(edit.operation, edit.value) for edit in box.edits] == [(Operation.REPLACE, {"name": "x"})]


def test_an_encoding_that_the_target_lacks_is_named(endpoint: Endpoint) -> None:
    with BlockingGnmiClient(endpoint, ADMIN) as client, pytest.raises(Unimplemented, match="encoding ASCII"):
        client.get(("/system/name",), encoding=messages.Encoding.ASCII)


def test_a_stream_sends_values_sync_and_changes(endpoint: Endpoint, box: Box) -> None:
    async def follow() -> list[str]:
        seen: list[str] = []
        wanted = Subscription(paths=("/interface[name=e1]/oper-state",), interval_s=None, encoding=PROTO)
        async with GnmiClient(endpoint, ADMIN) as client:
            async for response in client.subscribe(wanted):
                if response.sync_response:
                    seen.append("sync")
                    box.leaves.put("/interface[name=e1]/oper-state", "down", on_change=True)
                else:
                    seen.extend(update.val.string_val for update in response.update.update)
                if len(seen) == 3:
                    return seen
        return seen

    assert asyncio.run(asyncio.wait_for(follow(), 20)) == ["up", "sync", "down"]


def test_a_stream_that_the_target_ends_is_an_error(authority: Authority, loop: ServerLoop, endpoint: Endpoint) -> None:
    server = GnmiServer(Box(), loop, credentials=ADMIN, identity=authority.issue(NAME))
    other = replace(endpoint, gnmi_port=server.start())

    async def follow() -> None:
        wanted = Subscription(paths=("/system/name",), interval_s=None, encoding=PROTO)
        async with GnmiClient(other, ADMIN) as client:
            async for response in client.subscribe(wanted):
                if response.sync_response:
                    await asyncio.to_thread(server.stop, 0)

    with pytest.raises(StreamClosed, match=r"^leaf1: the stream broke \("):
        asyncio.run(asyncio.wait_for(follow(), 20))


def test_a_target_that_does_not_answer_is_given_up_at_the_deadline(endpoint: Endpoint, box: Box) -> None:
    box.may_answer.clear()
    with (
        BlockingGnmiClient(endpoint, ADMIN, call_timeout_s=0.5) as client,
        pytest.raises(Unreachable, match=r"no answer from 127\.0\.0\.1:\d+ to a gNMI Get within 0\.5 s"),
    ):
        client.get(("/system/name",))
    box.may_answer.set()


def test_a_wrong_password_is_named_without_it(endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    text = told(LoginRefused, endpoint, Credentials("admin", "hunter2"))
    assert (
        text
        == f"{NAME}: rejects the login of admin ({NAME}: wrong user or password). Check the user name and password."
    )
    assert "hunter2" not in caplog.text


def test_a_refused_login_is_told_by_streams_too_however_early_the_target_refuses(endpoint: Endpoint) -> None:
    """gRPC loses the status of a stream that the target has ended before the request is written."""

    async def told_by_stream(client: GnmiClient) -> str:
        with pytest.raises(DeviceError) as refused:
            async for _ in client.subscribe(Subscription(paths=("/a",), interval_s=None, encoding=PROTO)):
                pass
        return str(refused.value)

    async def told_by_many() -> set[str]:
        async with GnmiClient(endpoint, Credentials("admin", "wrong")) as client:
            return set(await asyncio.gather(*[told_by_stream(client) for _ in range(400)]))

    (text,) = asyncio.run(asyncio.wait_for(told_by_many(), 60))
    assert text.startswith(f"{NAME}: rejects the login of admin (")


@contextmanager
def refusing(code: grpc.StatusCode) -> Iterator[Endpoint]:
    """A target without TLS, and without other methods, that ends every Subscribe before it has read the request."""

    class Refusing(grpc.GenericRpcHandler):  # type: ignore[type-arg]
        def service(self, call: grpc.HandlerCallDetails) -> Any:
            if call.method != messages.METHODS["Subscribe"]:
                return None
            return grpc.stream_stream_rpc_method_handler(lambda _, context: context.abort(code, "role none"))

    server = grpc.server(ThreadPoolExecutor(1), handlers=[Refusing()])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    yield Endpoint(name=NAME, platform="box", host="127.0.0.1", gnmi_port=port, plaintext=True, credentials="none")
    server.stop(0)


@pytest.mark.parametrize(("code", "error"), [("NOT_FOUND", Absent), ("PERMISSION_DENIED", LoginRefused)])
def test_a_busy_process_tells_why_a_stream_was_refused_before_its_request_was_sent(
    code: str, error: type[DeviceError]
) -> None:
    async def keep_busy() -> None:
        while True:
            time.sleep(0.01)
            await asyncio.sleep(0)

    async def refused(endpoint: Endpoint) -> None:
        async with GnmiClient(endpoint, Credentials("", "")) as client:
            busy = asyncio.create_task(keep_busy())
            for _ in range(10):
                with pytest.raises(error, match="role none"):
                    await client.once(["/system"])
            busy.cancel()

    with refusing(grpc.StatusCode[code]) as endpoint:
        asyncio.run(refused(endpoint))


def test_no_credentials_are_sent_to_a_target_that_is_not_trusted(
    authority: Authority, endpoint: Endpoint, tmp_path: Path
) -> None:
    other = tmp_path / "other.pem"
    other.write_bytes(Authority("other").certificate)
    text = told(CertificateRefused, replace(endpoint, ca=str(other)))
    assert text.startswith(f"{NAME}: the certificate of 127.0.0.1:{endpoint.gnmi_port} is not trusted (")
    assert text.endswith("Set the endpoint's ca to the CA that signed it.")


def test_a_certificate_for_another_name_is_told_apart(
    authority: Authority, loop: ServerLoop, endpoint: Endpoint
) -> None:
    server = GnmiServer(Box(), loop, credentials=ADMIN, identity=authority.issue(NAME, ("192.0.2.1",)))
    text = told(CertificateRefused, replace(endpoint, gnmi_port=server.start()))
    server.stop()
    assert "is for another name (IP address mismatch" in text
    assert text.endswith("Reach the switch by a name of it, or set the endpoint's tls_name.")


def test_an_expired_certificate_is_told_apart(
    authority: Authority, loop: ServerLoop, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(certificates, "VALID_DAYS", -1 / 1440)
    server = GnmiServer(Box(), loop, credentials=ADMIN, identity=authority.issue(NAME))
    text = told(CertificateRefused, replace(endpoint, gnmi_port=server.start()))
    server.stop()
    assert "is not valid now (certificate has expired). Renew it, or correct the clock" in text


def test_a_certificate_that_the_system_trusts_needs_no_ca(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(endpoint.ca))
    with BlockingGnmiClient(replace(endpoint, ca=None), ADMIN) as client:
        assert client.capabilities().version


def test_skip_verify_is_logged(endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    with BlockingGnmiClient(replace(endpoint, ca=None, skip_verify=True), ADMIN) as client:
        assert client.capabilities().version
    assert f"{NAME}: certificate not verified, as the endpoint asks (skip_verify)" in caplog.text


@contextmanager
def answering(line: bytes) -> Iterator[int]:
    """A port that is not gNMI: it answers with this line; with nothing, it waits."""

    def answer(listening: socket.socket) -> None:
        with listening.accept()[0] as caller:
            caller.recv(1024)
            if line:
                caller.sendall(line)
            else:
                ended.wait(10)

    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=answer, args=(listening,), daemon=True)
        thread.start()
        yield listening.getsockname()[1]
        ended.set()
        thread.join(5)


def test_a_port_that_does_not_speak_tls_is_named(endpoint: Endpoint) -> None:
    with answering(b"SSH-2.0-OpenSSH_9.2\r\n") as port:
        text = told(PlaintextPort, replace(endpoint, gnmi_port=port))
    assert text.startswith(f"{NAME}: 127.0.0.1:{port} does not speak TLS (")


def test_a_port_that_says_nothing_is_given_up(endpoint: Endpoint) -> None:
    with answering(b"") as port:
        text = told(Unreachable, replace(endpoint, gnmi_port=port))
    assert text.startswith(f"{NAME}: no answer from 127.0.0.1:{port} (none within 2 s)")


def test_an_endpoint_without_a_gnmi_port_is_named() -> None:
    with pytest.raises(EndpointError, match=r"^leaf1: has no gNMI port\. Set its gnmi_port\.$"):
        BlockingGnmiClient(Endpoint(name=NAME, platform="box", host="127.0.0.1"), ADMIN)


@pytest.mark.parametrize(
    ("code", "error", "said"),
    [
        (grpc.StatusCode.PERMISSION_DENIED, LoginRefused, "rejects the login of admin (role none)"),
        (grpc.StatusCode.INVALID_ARGUMENT, Refused, "refused a gNMI Capabilities (role none)"),
        (grpc.StatusCode.INTERNAL, DeviceError, "refused a gNMI Capabilities (INTERNAL: role none)"),
    ],
)
def test_each_status_has_its_error(
    authority: Authority, endpoint: Endpoint, code: grpc.StatusCode, error: type[DeviceError], said: str
) -> None:
    class Refusing(grpc.GenericRpcHandler):  # type: ignore[type-arg]
        def service(self, call: grpc.HandlerCallDetails) -> Any:
            return grpc.unary_unary_rpc_method_handler(lambda _, context: context.abort(code, "role\nnone."))

    server = grpc.server(ThreadPoolExecutor(1), handlers=[Refusing()])
    identity = authority.issue(NAME)
    trust = grpc.ssl_server_credentials([(identity.key, identity.certificate)])
    port = server.add_secure_port("127.0.0.1:0", trust)
    server.start()
    assert said in told(error, replace(endpoint, gnmi_port=port))
    server.stop(0)


DEEP = messages.Update(
    path=messages.Path(elem=[messages.PathElem(name="a")]),
    val=messages.TypedValue(json_ietf_val=b"[" * 5_000 + b"]" * 5_000),
)
DEEP_ANSWER = messages.GetResponse(notification=[messages.Notification(update=[DEEP])]).SerializeToString()
NO_GNMI = "Check that the port is that of gNMI, and the switch's release."


@pytest.mark.parametrize(
    ("sent", "said"),
    [
        (b"\xff" * 9, f"sent 9 bytes that are no GetResponse of gNMI. {NO_GNMI}"),
        (b"\x0a\x7f\x1a", f"sent 3 bytes that are no GetResponse of gNMI. {NO_GNMI}"),
        (
            DEEP_ANSWER,
            f"sent a gNMI value that cannot be read: is not JSON (nested deeper than 100 levels). {NO_GNMI}",
        ),
    ],
    ids=["no protobuf", "cut short", "deep"],
)
def test_an_answer_that_is_no_gnmi_is_one_line(
    authority: Authority, endpoint: Endpoint, sent: bytes, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    class Answering(grpc.GenericRpcHandler):  # type: ignore[type-arg]
        def service(self, call: grpc.HandlerCallDetails) -> Any:
            return grpc.unary_unary_rpc_method_handler(lambda _request, _context: sent)

    server = grpc.server(ThreadPoolExecutor(1), handlers=[Answering()])
    identity = authority.issue(NAME)
    port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(identity.key, identity.certificate)]))
    server.start()
    with BlockingGnmiClient(replace(endpoint, gnmi_port=port), ADMIN) as client, pytest.raises(DeviceError) as refused:
        client.get(("/",))
    server.stop(0)
    assert str(refused.value) == f"{NAME}: {said}"
    assert caplog.records == []


def test_many_threads_share_one_loop(endpoint: Endpoint) -> None:
    def read(_: int) -> Any:
        with BlockingGnmiClient(endpoint, ADMIN) as client:
            return client.get(("/system/name",))[0].value

    with ThreadPoolExecutor(16) as pool:
        assert set(pool.map(read, range(32))) == {NAME}
    names = [thread.name for thread in threading.enumerate()]
    assert names.count("railfab-gnmi-clients") == 1


POLLERS = """
import asyncio, grpc, threading
from railfab.gnmi import blocking

async def opened_and_closed():
    channel = grpc.aio.insecure_channel("127.0.0.1:1")
    await asyncio.gather(channel.unary_unary("/a/b")(b"", timeout=30), return_exceptions=True)
    await channel.close()

def pollers():
    return {thread.name for thread in threading.enumerate() if "_poll_wrapper" in thread.name}

seen = []
for _ in range(3):
    blocking._wait(opened_and_closed())
    seen.append(pollers())
print(len(set.union(*seen)), min(map(len, seen)))
"""


def test_grpc_stays_initialised_between_clients() -> None:
    """It would close the socket of the clients' loop with the last channel, while the loop handles an event of it."""
    ended = subprocess.run([sys.executable, "-c", POLLERS], capture_output=True, text=True, timeout=120, check=True)
    assert (ended.stdout.split(), ended.stderr) == (["1", "1"], "")


def test_an_event_of_a_closed_loop_is_no_error_and_any_other_failure_is_one(caplog: pytest.LogCaptureFixture) -> None:
    """gRPC hands an event of a collector that has ended to the loop of the clients."""
    late = "Exception in callback PollerCompletionQueue._handle_events(<_UnixSelecto...e debug=False>)()"
    loop = blocking._loop()
    loop.call_exception_handler({"message": late, "exception": RuntimeError("Event loop is closed")})
    assert caplog.records == []
    loop.call_exception_handler({"message": "Exception in callback work()", "exception": RuntimeError("broken")})
    assert "Exception in callback work()" in caplog.text
