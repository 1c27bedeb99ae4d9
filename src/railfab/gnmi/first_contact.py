"""The first connection to a target: its certificate, and the first frame of HTTP/2.

A server's first frame is SETTINGS (RFC 9113, 3.4). It also shows that the target accepts our client certificate: in TLS
1.3 a client has finished its handshake before the server has seen that.
"""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress

from railfab.endpoints import Endpoint
from railfab.gnmi.tls import OtherProtocol, TlsPort, client_refused, server_name, unanswered, unconnected

FRAME_HEADER = 9
"""Bytes of an answer that tell what a port speaks."""
ASKED_AGAIN_AFTER_S = 300.0
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""The preface of a client, and an empty SETTINGS frame (RFC 9113, 3.4 and 6.5)."""
_TYPE_AT, _SETTINGS = 3, 4
_TLS_RECORDS = (b"\x15", b"\x16")
"""Content types alert and handshake of a TLS record (RFC 8446, 5.1)."""


class ClosedPorts:
    """Whether ports that close each connection without TLS speak TLS: some servers close them and send no alert.

    A port is asked by a connection of its own, and again only after ASKED_AGAIN_AFTER_S: a switch that restarts closes
    many connections.
    """

    def __init__(self) -> None:
        self._found: dict[str, tuple[float, bool]] = {}

    async def speaks_tls(self, endpoint: Endpoint, address: str, timeout_s: float) -> bool:
        """Whether a port that has just closed a connection without TLS speaks TLS."""
        now_s = asyncio.get_running_loop().time()
        until_s, found = self._found.get(address, (now_s, False))
        if until_s <= now_s:
            found = await _speaks_tls(endpoint, timeout_s)
            self._found[address] = now_s + ASKED_AGAIN_AFTER_S, found
        return found


async def first_contact(
    endpoint: Endpoint,
    address: str,
    context: ssl.SSLContext | None,
    timeout_s: float,
    closed: ClosedPorts | None = None,
) -> bytes:
    """Connect once, with TLS if there is a context; the certificate that the target shows (DER), else nothing.

    Raises Unreachable, OtherProtocol, CertificateRefused or ClientCertificateRefused. closed: remembers what ports that
    close speak.
    """
    try:
        async with asyncio.timeout(timeout_s):
            shown, answer = await _greeted(endpoint, context)
    except OSError as error:
        raise unconnected(endpoint, address, error, timeout_s) from None
    if context is None and not answer:
        await refuse_tls_port(endpoint, address, timeout_s, closed or ClosedPorts())
    refuse_other_protocol(endpoint, address, answer)
    if len(answer) == FRAME_HEADER:
        return shown
    if context is not None:  # gRPC's C++ servers send no alert
        raise client_refused(endpoint, address, "it closed the connection after the TLS handshake")
    raise unanswered(endpoint.name, address, "it closed the connection")


async def refuse_tls_port(endpoint: Endpoint, address: str, timeout_s: float, closed: ClosedPorts) -> None:
    """Raise TlsPort where a port that has closed a connection without TLS speaks TLS."""
    if await closed.speaks_tls(endpoint, address, timeout_s):
        raise _tls_port(endpoint, address)


def refuse_other_protocol(endpoint: Endpoint, address: str, answer: bytes) -> None:
    """Raise OtherProtocol, or TlsPort, where the first bytes of a port are not those of an HTTP/2 server.

    answer: FRAME_HEADER bytes, or fewer where it sent no more.
    """
    if endpoint.plaintext and answer[:1] in _TLS_RECORDS:
        raise _tls_port(endpoint, address)
    if not answer or (len(answer) == FRAME_HEADER and answer[_TYPE_AT] == _SETTINGS):
        return
    spoken = "speaks HTTP/1, not HTTP/2" if answer.startswith(b"HTTP/1") else "does not speak HTTP/2"
    raise OtherProtocol(endpoint.name, f"{address} {spoken}", "Check that gNMI is served on this port")


def _tls_port(endpoint: Endpoint, address: str) -> TlsPort:
    remedy = "Leave out the endpoint's plaintext, and set its ca"
    return TlsPort(endpoint.name, f"{address} speaks TLS, and the endpoint says plaintext", remedy)


async def _greeted(endpoint: Endpoint, context: ssl.SSLContext | None) -> tuple[bytes, bytes]:
    """The certificate that the target shows, and the first bytes that it sends."""
    reader, writer = await asyncio.open_connection(
        endpoint.host, endpoint.gnmi_port, ssl=context, server_hostname=context and server_name(endpoint)
    )
    try:
        secured = writer.get_extra_info("ssl_object")
        shown: bytes = b"" if secured is None else secured.getpeercert(binary_form=True)
        writer.write(_HELLO)
        try:
            return shown, await reader.readexactly(FRAME_HEADER)
        except asyncio.IncompleteReadError as error:
            return shown, error.partial
        except ConnectionResetError:
            return shown, b""
    finally:
        writer.close()


async def _speaks_tls(endpoint: Endpoint, timeout_s: float) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # a default context reads the CAs of the system, in 10 ms
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with suppress(OSError):
        async with asyncio.timeout(timeout_s):
            _, writer = await asyncio.open_connection(endpoint.host, endpoint.gnmi_port, ssl=context)
        writer.close()
        return True
    return False
