"""TLS of the gNMI client: whom it trusts, and what is wrong with a connection that cannot be made.

gRPC does not tell the causes of a failed connection apart, cannot switch verification off, and has a trust store of its
own. So the target's certificate is fetched first, by a TLS connection of Python, which verifies it against the
endpoint's `ca` or the system's trust store. gRPC is then given that `ca`, or the one certificate that was verified.

An endpoint that says `skip_verify` is trusted by whatever certificate it shows, under its own name. It protects against
nothing but a plain wiretap (and an expired certificate is refused still), so it is logged at every connection.
"""

from __future__ import annotations

import asyncio
import logging
import os
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.x509.oid import NameOID

from railfab.endpoints import Endpoint
from railfab.errors import DeviceError, EndpointError, LoginRefused, Unreachable

logger = logging.getLogger(__name__)

_OTHER_NAME = frozenset((62, 64))
"""OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH."""
_OTHER_TIME = frozenset((9, 10))
"""OpenSSL's X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED."""


class CertificateRefused(LoginRefused):
    """The target's certificate is not trusted; no credentials were sent."""


class PlaintextPort(Unreachable):
    """The target's port does not speak TLS; no credentials were sent."""


@dataclass(frozen=True, slots=True)
class Trust:
    """The certificates that gRPC trusts, as PEM. name: checked instead of the address; None for the address."""

    pem: bytes
    name: str | None = None


def address_of(endpoint: Endpoint) -> str:
    """Host and gNMI port as one text, the host of an IPv6 address in brackets. Raises EndpointError without a port."""
    if endpoint.gnmi_port is None:
        raise EndpointError(endpoint.name, "has no gNMI port", "Set its gnmi_port")
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{host}:{endpoint.gnmi_port}"


def context_of(endpoint: Endpoint) -> ssl.SSLContext:
    """The TLS context for this endpoint. Raises EndpointError when its `ca` is not a readable PEM file."""
    try:
        context = ssl.create_default_context(cafile=endpoint.ca)
    except OSError as error:
        problem = f"no usable CA certificate in {endpoint.ca} ({reason(error)})"
        raise EndpointError(endpoint.name, problem, "Start the lab or the twin again, or correct the file") from None
    context.set_alpn_protocols(["h2"])
    if endpoint.skip_verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


async def trust_of(endpoint: Endpoint, timeout_s: float) -> Trust:
    """Connect once with TLS, and what to trust in the connection of gRPC.

    Raises EndpointError, Unreachable, PlaintextPort or CertificateRefused.
    """
    address = address_of(endpoint)
    context = await asyncio.to_thread(context_of, endpoint)
    if endpoint.skip_verify:
        logger.warning("%s: certificate not verified, as the endpoint asks (skip_verify)", endpoint.name)
    shown = ssl.DER_cert_to_PEM_cert(await _shown(endpoint, address, context, timeout_s)).encode()
    if endpoint.skip_verify:
        return Trust(shown, certificate_name(shown))
    return Trust(shown if endpoint.ca is None else await asyncio.to_thread(Path(endpoint.ca).read_bytes))


async def _shown(endpoint: Endpoint, address: str, context: ssl.SSLContext, timeout_s: float) -> bytes:
    """The certificate that the target shows (DER), verified unless the endpoint has skip_verify."""
    try:
        async with asyncio.timeout(timeout_s):
            _, writer = await asyncio.open_connection(endpoint.host, endpoint.gnmi_port, ssl=context)
    except OSError as error:
        raise unconnected(endpoint.name, address, error, timeout_s) from None
    try:
        certificate: bytes = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
    finally:
        writer.close()
    return certificate


def unconnected(name: str, address: str, error: OSError, timeout_s: float) -> DeviceError:
    """The error for a connection with TLS that could not be made; TimeoutError is an OSError too."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _not_trusted(name, address, error)
    if isinstance(error, ssl.SSLError):
        problem = f"{address} does not speak TLS ({reason(error)})"
        return PlaintextPort(name, problem, "Check the port and the server's TLS profile")
    if isinstance(error, TimeoutError) and error.errno is None:
        return unanswered(name, address, f"none within {timeout_s:g} s")
    return unanswered(name, address, reason(error))


def _not_trusted(name: str, address: str, error: ssl.SSLCertVerificationError) -> CertificateRefused:
    said = error.verify_message.rstrip(".")
    if error.verify_code in _OTHER_NAME:
        state, remedy = "is for another name", "Reach the switch by a name of it"
    elif error.verify_code in _OTHER_TIME:
        state, remedy = "is not valid now", "Renew it, or correct the clock of this machine"
    else:
        state, remedy = "is not trusted", "Set the endpoint's ca to the CA that signed it"
    return CertificateRefused(name, f"the certificate of {address} {state} ({said})", remedy)


def unanswered(name: str, address: str, reason: str) -> Unreachable:
    """The error of a switch that cannot be connected to."""
    remedy = "Check that the switch is up and serves gNMI on this port"
    return Unreachable(name, f"no answer from {address} ({reason})", remedy)


def certificate_name(pem: bytes) -> str | None:
    """A name for which the certificate is valid: its first alternative name, else its common name."""
    certificate = x509.load_pem_x509_certificate(pem)
    try:
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    except x509.ExtensionNotFound:
        return next((str(name.value) for name in certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)), None)
    return next((str(name.value) for name in names), None)


def reason(error: OSError) -> str:
    """The operating system's or OpenSSL's words for an error, in lower case."""
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.replace("_", " ").lower()
    text = os.strerror(error.errno) if error.errno else str(error) or "the connection was closed"
    return text.rstrip(".").lower()
