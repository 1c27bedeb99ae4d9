"""A streaming gNMI client for many targets on one event loop, always over TLS, with an error class for each cause.

Certificates are verified against the endpoint's `ca` or the system's trust store. grpcio cannot switch verification
off; an endpoint that says `skip_verify` is served by fetching whatever certificate the target shows, unverified, and
trusting exactly that one under its own name for this connection. It protects against nothing but a plain wiretap (and
an expired certificate is refused still), so it is logged at every connection.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import grpc
from cryptography import x509
from cryptography.x509.oid import NameOID
from pygnmi.spec.v080 import gnmi_pb2, gnmi_pb2_grpc

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError, EndpointError, LoginRefused, Unreachable
from railfab.gnmi.paths import to_proto
from railfab.units import NS_PER_S

logger = logging.getLogger(__name__)

DIAL_TIMEOUT_S = 10.0
OPTIONS = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
)
"""Keepalive pings detect a dead peer within 50 s (grpcio pings less often when the peer asks for it). Channels share
nothing, so that a new one connects at once. There are no retries: the caller decides when to try again."""

_TLS_PROBLEMS = {
    "CERTIFICATE_VERIFY_FAILED": "its certificate is signed by an authority that is not trusted",
    "Hostname Verification": "its certificate is for another name",
    "WRONG_VERSION_NUMBER": "it does not speak TLS on this port",
    "handshake failed": "the TLS handshake failed",
}


class CertificateRefused(LoginRefused):
    """The target's certificate is not trusted, or the port does not speak TLS; no credentials were sent."""


class Unimplemented(DeviceError):
    """The target does not support the request, its mode or its encoding."""


class StreamClosed(DeviceError):
    """The target ended a stream after it had started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """Paths to stream in one mode. interval_s: None is ON_CHANGE, else the interval of SAMPLE [s].

    encoding: a gNMI encoding (`gnmi_pb2.PROTO`, `gnmi_pb2.JSON_IETF`). target: in the prefix of the request.
    """

    paths: tuple[str, ...]
    interval_s: float | None
    encoding: int
    target: str = ""

    def request(self) -> gnmi_pb2.SubscribeRequest:
        """The SubscribeRequest, mode STREAM."""
        subscriptions = [self._one(path) for path in self.paths]
        stream = gnmi_pb2.SubscriptionList(
            subscription=subscriptions, mode=gnmi_pb2.SubscriptionList.STREAM, encoding=self.encoding
        )
        if self.target:
            stream.prefix.target = self.target
        return gnmi_pb2.SubscribeRequest(subscribe=stream)

    def _one(self, path: str) -> gnmi_pb2.Subscription:
        if self.interval_s is None:
            return gnmi_pb2.Subscription(path=to_proto(path), mode=gnmi_pb2.ON_CHANGE)
        return gnmi_pb2.Subscription(
            path=to_proto(path), mode=gnmi_pb2.SAMPLE, sample_interval=round(self.interval_s * NS_PER_S)
        )


class GnmiClient:
    """One connection to one target, an async context manager; entering it connects.

    Raises EndpointError for an endpoint without a gNMI port or with a certificate file that cannot be read. That there
    is no connection is told by the first call (with `skip_verify`, which must look first, on entering).
    """

    def __init__(self, endpoint: Endpoint, credentials: Credentials, *, dial_timeout_s: float = DIAL_TIMEOUT_S) -> None:
        if endpoint.gnmi_port is None:
            raise EndpointError(endpoint.name, "has no gNMI port", "Give it a gnmi_port")
        self._endpoint = endpoint
        self._host, self._port = endpoint.host, endpoint.gnmi_port
        self._metadata = (("username", credentials.username), ("password", credentials.password))
        self._dial_timeout_s = dial_timeout_s
        self._channel: grpc.aio.Channel

    async def __aenter__(self) -> Self:
        trust, name = await self._trust()
        options: list[tuple[str, int | str]] = [
            *OPTIONS,
            ("grpc.min_reconnect_backoff_ms", round(self._dial_timeout_s * 1000)),
        ]
        if name is not None:
            options.append(("grpc.ssl_target_name_override", name))
        host = f"[{self._host}]" if ":" in self._host else self._host
        credentials = grpc.ssl_channel_credentials(trust)
        self._channel = grpc.aio.secure_channel(f"{host}:{self._port}", credentials, options=options)
        await self._connected()
        return self

    async def _connected(self) -> None:
        """Wait until the connection is established or has failed; the first call raises the error."""
        state = self._channel.get_state(try_to_connect=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._dial_timeout_s):
                while state in (grpc.ChannelConnectivity.IDLE, grpc.ChannelConnectivity.CONNECTING):
                    await self._channel.wait_for_state_change(state)
                    state = self._channel.get_state(try_to_connect=True)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._channel.close(None)

    async def subscribe(self, subscription: Subscription) -> AsyncIterator[gnmi_pb2.SubscribeResponse]:
        """The target's notifications and its sync_response, until the stream ends.

        Raises Unreachable, LoginRefused, CertificateRefused, Unimplemented or StreamClosed; it never just returns.
        """
        stub: Any = gnmi_pb2_grpc.gNMIStub(self._channel)
        started = False
        call = stub.Subscribe(metadata=self._metadata)
        try:
            await call.write(subscription.request())  # no done_writing: some targets then end the stream
            async for response in call:
                started = True
                yield response
        except grpc.aio.AioRpcError as error:
            raise self._named(error, started) from None
        finally:
            call.cancel()
        raise StreamClosed(self._endpoint.name, "the target ended the stream", "It is opened again")

    async def _trust(self) -> tuple[bytes | None, str | None]:
        """The PEM to trust (None is the system's store) and the name to check instead of the address."""
        if self._endpoint.skip_verify:
            logger.warning("%s: certificate not verified, as the endpoint asks (skip_verify)", self._endpoint.name)
            pem = await self._shown_certificate()
            return pem, certificate_name(pem)
        if self._endpoint.ca is None:
            return None, None
        try:
            return await asyncio.to_thread(Path(self._endpoint.ca).read_bytes), None
        except OSError as error:
            problem = f"the authority's certificate {self._endpoint.ca} cannot be read ({error.strerror})"
            raise EndpointError(self._endpoint.name, problem, "Point ca at the PEM file") from None

    async def _shown_certificate(self) -> bytes:
        """The certificate that the target presents, not verified (PEM)."""
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        context.set_alpn_protocols(["h2"])
        try:
            async with asyncio.timeout(self._dial_timeout_s):
                _, writer = await asyncio.open_connection(self._host, self._port, ssl=context)
        except ssl.SSLError as error:
            raise self._certificate_refused(f"the TLS handshake failed ({error.reason})") from None
        except (OSError, TimeoutError) as error:
            raise self._unreachable(getattr(error, "strerror", None) or "no answer") from None
        shown = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.close()
        return ssl.DER_cert_to_PEM_cert(shown).encode()

    def _named(self, error: grpc.aio.AioRpcError, started: bool) -> DeviceError:
        """The error class and the remedy for a gRPC status."""
        code, details = error.code(), (error.details() or "").strip().rstrip(".")
        if code in (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.PERMISSION_DENIED):
            return LoginRefused(self._endpoint.name, f"login refused ({details})", "Check the user and the password")
        if code in (grpc.StatusCode.UNIMPLEMENTED, grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.NOT_FOUND):
            remedy = "Check that the target serves gNMI Subscribe with these paths, modes and encoding"
            return Unimplemented(self._endpoint.name, f"the subscription is refused ({details})", remedy)
        if started or code is not grpc.StatusCode.UNAVAILABLE:
            return StreamClosed(self._endpoint.name, f"the stream broke ({code.name}: {details})", "It is opened again")
        for mark, problem in _TLS_PROBLEMS.items():
            if mark in details:
                return self._certificate_refused(problem)
        return self._unreachable(details.rpartition(": ")[2].strip("[]").lower() or "no answer")

    def _certificate_refused(self, problem: str) -> CertificateRefused:
        remedy = "Give the endpoint the right ca, or skip_verify if you must"
        return CertificateRefused(self._endpoint.name, f"{self._host}:{self._port}: {problem}", remedy)

    def _unreachable(self, problem: str) -> Unreachable:
        remedy = "Check that it runs and that the address and the port are right"
        return Unreachable(self._endpoint.name, f"no gNMI at {self._host}:{self._port} ({problem})", remedy)


def certificate_name(pem: bytes) -> str | None:
    """A name for which the certificate is valid: its first alternative name, else its common name."""
    certificate = x509.load_pem_x509_certificate(pem)
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return next((str(name.value) for name in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)), None)
    return next((str(name.value) for name in names), None)
