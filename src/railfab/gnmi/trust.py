"""Trust of gRPC in targets, and our identity to the target.

gRPC does not tell the causes of a failed connection apart, cannot switch verification off, and has a trust store of its
own. So a connection of Python is made first (`first_contact`), which verifies the target's certificate against the
endpoint's `ca` or the system's trust store. gRPC is then given that `ca`, or the one certificate that was verified.

An endpoint that says `skip_verify` is trusted by whatever certificate it shows, under its own name. It protects against
nothing but a plain wiretap (and an expired certificate is refused still), so it is logged at every connection, as is
`plaintext`, which has no TLS at all.
"""

from __future__ import annotations

import asyncio
import logging
import ssl
from dataclasses import dataclass, field
from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import NameOID

from railfab.endpoints import Endpoint
from railfab.errors import EndpointError
from railfab.gnmi.first_contact import ClosedPorts, first_contact
from railfab.gnmi.tls import address_of, context_of, reason, unverified

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Trust:
    """The certificates that gRPC trusts, and our own, all PEM.

    name: checked instead of the address; None for the address. client_cert, client_key: for mutual TLS.
    """

    pem: bytes
    name: str | None = None
    client_cert: bytes | None = None
    client_key: bytes | None = field(default=None, repr=False)


async def trust_of(endpoint: Endpoint, timeout_s: float, closed: ClosedPorts | None = None) -> Trust | None:
    """Connect once, and what to trust in the connection of gRPC; None for an endpoint without TLS. closed: as of
    `first_contact`.

    Raises EndpointError, Unreachable, CertificateRefused, ClientCertificateRefused, PlaintextPort or TlsPort.
    """
    address = address_of(endpoint)
    if endpoint.plaintext:
        await first_contact(endpoint, address, None, timeout_s, closed)
        logger.warning("%s", unverified(endpoint))
        return None
    context = await asyncio.to_thread(context_of, endpoint)
    shown = ssl.DER_cert_to_PEM_cert(await first_contact(endpoint, address, context, timeout_s, closed)).encode()
    if endpoint.skip_verify:
        logger.warning("%s", unverified(endpoint))
    return await asyncio.to_thread(_trust, endpoint, shown)


def _trust(endpoint: Endpoint, shown: bytes) -> Trust:
    """Trust that gRPC is given, once this certificate (PEM) of the target was accepted."""
    try:
        ca, certificate, key = map(_content, (endpoint.ca, endpoint.client_cert, endpoint.client_key))
    except OSError as error:
        raise EndpointError(endpoint.name, f"{error.filename}: {reason(error)}", "Correct the file") from None
    if endpoint.skip_verify:
        return Trust(shown, certificate_name(shown), certificate, key)
    return Trust(ca or shown, endpoint.tls_name, certificate, key)


def _content(path: str | None) -> bytes | None:
    return None if path is None else Path(path).read_bytes()


def certificate_name(pem: bytes) -> str | None:
    """A name for which the certificate is valid: its first alternative name, else its common name."""
    certificate = x509.load_pem_x509_certificate(pem)
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return next((str(name.value) for name in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)), None)
    return next((str(name.value) for name in names), None)
