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

_HELLO = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes((0, 0, 0, 4, 0, 0, 0, 0, 0))
"""The preface of a client, and an empty SETTINGS frame (RFC 9113, 3.4 and 6.5)."""
_FRAME_HEADER, _TYPE_AT, _SETTINGS = 9, 3, 4
_TLS_RECORDS = (b"\x15", b"\x16")
"""Content types alert and handshake of a TLS record (RFC 8446, 5.1)."""


async def first_contact(endpoint: Endpoint, address: str, context: ssl.SSLContext | None, timeout_s: float) -> bytes:
    """Connect once, with TLS if there is a context; the certificate that the target shows (DER), else nothing.

    Raises Unreachable, OtherProtocol, CertificateRefused or ClientCertificateRefused.
    """
    name = endpoint.name
    try:
        async with asyncio.timeout(timeout_s):
            shown, answer = await _greeted(endpoint, context)
            speaks_http2 = len(answer) == _FRAME_HEADER and answer[_TYPE_AT] == _SETTINGS
            speaks_tls = context is None and not speaks_http2 and await _speaks_tls(endpoint, answer)
    except OSError as error:
        raise unconnected(endpoint, address, error, timeout_s) from None
    if speaks_tls:
        remedy = "Leave out the endpoint's plaintext, and set its ca"
        raise TlsPort(name, f"{address} speaks TLS, and the endpoint says plaintext", remedy)
    if speaks_http2:
        return shown
    if not answer and context is not None:  # gRPC's C++ servers send no alert
        raise client_refused(endpoint, address, "it closed the connection after the TLS handshake")
    if not answer:
        raise unanswered(name, address, "it closed the connection")
    spoken = "speaks HTTP/1, not HTTP/2" if answer.startswith(b"HTTP/1") else "does not speak HTTP/2"
    raise OtherProtocol(name, f"{address} {spoken}", "Check that gNMI is served on this port")


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
            return shown, await reader.readexactly(_FRAME_HEADER)
        except asyncio.IncompleteReadError as error:
            return shown, error.partial
        except ConnectionResetError:
            return shown, b""
    finally:
        writer.close()


async def _speaks_tls(endpoint: Endpoint, answer: bytes) -> bool:
    """Whether a port that did not answer in HTTP/2 speaks TLS: some answer with an alert, others close."""
    if answer:
        return answer[:1] in _TLS_RECORDS
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # a default context reads the CAs of the system, in 10 ms
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with suppress(OSError):
        _, writer = await asyncio.open_connection(endpoint.host, endpoint.gnmi_port, ssl=context)
        writer.close()
        return True
    return False
