"""The first connection to a target: its certificate, and the first frame of HTTP/2.

A server's first frame is SETTINGS (RFC 9113, 3.4). It also shows that the target accepts our client certificate: in TLS
1.3 a client has finished its handshake before the server has seen that.
"""

from __future__ import annotations

import asyncio
import ssl
from contextlib import suppress

from railfab.endpoints import Endpoint
from railfab.gnmi.listening import listening_timeout
from railfab.gnmi.tls import (
    OtherProtocol,
    TlsPort,
    client_refused,
    plaintext_port,
    server_name,
    unanswered,
    unconnected,
)

FRAME_HEADER = 9
"""Bytes of an answer that tell what a port speaks."""
ASKED_AGAIN_AFTER_S = 300.0
_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""The preface of a client, and an empty SETTINGS frame (RFC 9113, 3.4 and 6.5)."""
_TYPE_AT, _SETTINGS = 3, 4
_TLS_RECORDS = (b"\x15", b"\x16")
"""Content types alert and handshake of a TLS record (RFC 8446, 5.1)."""


class ClosedPorts:
    """Whether ports that close connections at once speak TLS where we do not, or do not where we do.

    Some servers close and send nothing, and what a server sends is lost where it resets the connection. A port is asked
    by a connection of its own. One that speaks neither is asked again only after ASKED_AGAIN_AFTER_S: a switch that
    restarts closes many connections.
    """

    def __init__(self) -> None:
        self._neither: dict[tuple[str, bool], float] = {}

    async def refuse_other_port(self, endpoint: Endpoint, address: str, timeout_s: float) -> None:
        """Raise TlsPort or PlaintextPort where a port that has just closed a connection speaks what we did not."""
        now_s, asked = asyncio.get_running_loop().time(), (address, endpoint.plaintext)
        if now_s < self._neither.get(asked, now_s):
            return
        if not await (_speaks_tls if endpoint.plaintext else _speaks_plaintext)(endpoint, timeout_s):
            self._neither[asked] = now_s + ASKED_AGAIN_AFTER_S
        elif endpoint.plaintext:
            raise _tls_port(endpoint, address)
        else:
            raise plaintext_port(endpoint, address, "it speaks HTTP/2 without TLS")


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
        async with listening_timeout(timeout_s):
            shown, answer = await _greeted(endpoint, context)
    except ConnectionResetError:
        shown = answer = b""
    except OSError as error:
        raise unconnected(endpoint, address, error, timeout_s) from None
    if not shown and not answer:
        await (closed or ClosedPorts()).refuse_other_port(endpoint, address, timeout_s)
        raise unanswered(endpoint.name, address, "it closed the connection")
    if not answer:  # gRPC's C++ servers send no alert
        raise client_refused(endpoint, address, "it closed the connection after the TLS handshake")
    refuse_other_protocol(endpoint, address, answer)
    return shown


def refuse_other_protocol(endpoint: Endpoint, address: str, answer: bytes) -> None:
    """Raise OtherProtocol, or TlsPort, where the first bytes of a port are not those of an HTTP/2 server.

    answer: FRAME_HEADER bytes, or fewer where it sent no more.
    """
    if endpoint.plaintext and answer[:1] in _TLS_RECORDS:
        raise _tls_port(endpoint, address)
    if not answer or _is_settings(answer):
        return
    spoken = "speaks HTTP/1, not HTTP/2" if answer.startswith(b"HTTP/1") else "does not speak HTTP/2"
    raise OtherProtocol(endpoint.name, f"{address} {spoken}", "Check that gNMI is served on this port")


def _is_settings(answer: bytes) -> bool:
    return len(answer) == FRAME_HEADER and answer[_TYPE_AT] == _SETTINGS


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


async def _speaks_plaintext(endpoint: Endpoint, timeout_s: float) -> bool:
    with suppress(OSError):
        async with listening_timeout(timeout_s):
            return _is_settings((await _greeted(endpoint, None))[1])
    return False


async def _speaks_tls(endpoint: Endpoint, timeout_s: float) -> bool:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # a default context reads the CAs of the system, in 10 ms
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with suppress(OSError):
        async with listening_timeout(timeout_s):
            _, writer = await asyncio.open_connection(endpoint.host, endpoint.gnmi_port, ssl=context)
        writer.close()
        return True
    return False
