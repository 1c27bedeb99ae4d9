"""TLS of a gNMI client: its context for an endpoint, and what is wrong with a connection that cannot be made."""

from __future__ import annotations

import os
import socket
import ssl

from railfab.endpoints import Endpoint
from railfab.errors import DeviceError, EndpointError, LoginRefused, Unreachable

_OTHER_NAME = frozenset((62, 64))
"""OpenSSL's X509_V_ERR_HOSTNAME_MISMATCH and X509_V_ERR_IP_ADDRESS_MISMATCH."""
_OTHER_TIME = frozenset((9, 10))
"""OpenSSL's X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED."""
_ABOUT_OUR_CERTIFICATE = ("certificate", "unknown ca", "access denied", "handshake failure")
"""In the names of the alerts by which a server refuses a client's certificate, or asks for one (RFC 8446, 6.2)."""


class CertificateRefused(LoginRefused):
    """The target's certificate is not trusted; no credentials were sent."""


class ClientCertificateRefused(LoginRefused):
    """The target refuses our certificate, or needs one and there is none."""


class OtherProtocol(Unreachable):
    """The target's port speaks another protocol than the endpoint says; no credentials were sent."""


class PlaintextPort(OtherProtocol):
    """The target's port does not speak TLS."""


class TlsPort(OtherProtocol):
    """The target's port speaks TLS, and the endpoint says plaintext."""


def address_of(endpoint: Endpoint) -> str:
    """Host and gNMI port as one text, the host of an IPv6 address in brackets. Raises EndpointError without a port."""
    if endpoint.gnmi_port is None:
        raise EndpointError(endpoint.name, "has no gNMI port", "Set its gnmi_port")
    host = f"[{endpoint.host}]" if ":" in endpoint.host else endpoint.host
    return f"{host}:{endpoint.gnmi_port}"


def unverified(endpoint: Endpoint) -> str:
    """The warning about a connection to an endpoint without TLS or verification; empty for one that is verified."""
    if endpoint.plaintext:
        return f"{endpoint.name}: connected without TLS, as the endpoint asks (plaintext)"
    if endpoint.skip_verify:
        return f"{endpoint.name}: certificate not verified, as the endpoint asks (skip_verify)"
    return ""


def context_of(endpoint: Endpoint) -> ssl.SSLContext:
    """The TLS context for this endpoint, of its files as they are now. server_hostname: `server_name`.

    Raises EndpointError when its `ca` is not a readable PEM file, or its client certificate and key are no pair.
    """
    try:
        context = ssl.create_default_context(cafile=endpoint.ca)
    except OSError as error:
        problem = f"no usable CA certificate in {endpoint.ca} ({reason(error)})"
        remedy = "Correct ca or its file; a lab or a twin writes one when it starts"
        raise EndpointError(endpoint.name, problem, remedy) from None
    if endpoint.client_cert is not None:
        _load_client_certificate(context, endpoint, endpoint.client_cert)
    context.set_alpn_protocols(["h2"])
    if endpoint.skip_verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def server_name(endpoint: Endpoint) -> str:
    """The name that the certificate of the target must be for."""
    return endpoint.tls_name or endpoint.host


def _load_client_certificate(context: ssl.SSLContext, endpoint: Endpoint, certificate: str) -> None:
    try:  # without a passphrase here, OpenSSL asks the terminal for that of a key that has one
        context.load_cert_chain(certificate, endpoint.client_key, password="")
    except (OSError, ValueError) as error:
        said = reason(error) if isinstance(error, OSError) else "the key has a passphrase"
        problem = f"no usable client certificate in {certificate} with {endpoint.client_key} ({said})"
        remedy = "Name the PEM files of a certificate and of its private key, without a passphrase"
        raise EndpointError(endpoint.name, problem, remedy) from None


def unconnected(endpoint: Endpoint, address: str, error: OSError, timeout_s: float) -> DeviceError:
    """The error for a connection with TLS that could not be made; TimeoutError is an OSError too."""
    if isinstance(error, ssl.SSLCertVerificationError):
        return _not_trusted(endpoint.name, address, error)
    if isinstance(error, ssl.SSLError):
        return _tls_failed(endpoint, address, reason(error))
    if isinstance(error, TimeoutError) and error.errno is None:
        return unanswered(endpoint.name, address, f"none within {timeout_s:g} s")
    return unanswered(endpoint.name, address, reason(error))


def _tls_failed(endpoint: Endpoint, address: str, said: str) -> DeviceError:
    """The error for a TLS connection that failed, in OpenSSL's words: ours of what arrived, or the server's alert."""
    if "alert" not in said:
        return plaintext_port(endpoint, address, said)
    if not any(word in said for word in _ABOUT_OUR_CERTIFICATE):
        return unanswered(endpoint.name, address, said)
    return client_refused(endpoint, address, said)


def plaintext_port(endpoint: Endpoint, address: str, said: str) -> PlaintextPort:
    """The error for a port without TLS. said: how that shows."""
    remedy = "Check the port and the server's TLS profile, and set plaintext only if it is to have none"
    return PlaintextPort(endpoint.name, f"{address} does not speak TLS ({said})", remedy)


def client_refused(endpoint: Endpoint, address: str, said: str) -> ClientCertificateRefused:
    """The error for a server that ends a connection because of who we are. said: its alert, or how else it shows."""
    if endpoint.client_cert is None:
        problem, remedy = f"{address} requires a client certificate", "Set the endpoint's client_cert and client_key"
    else:
        problem = f"{address} refuses the client certificate {endpoint.client_cert}"
        remedy = "Use a valid one of a CA that the target trusts"
    return ClientCertificateRefused(endpoint.name, f"{problem} ({said})", remedy)


def _not_trusted(name: str, address: str, error: ssl.SSLCertVerificationError) -> CertificateRefused:
    said = error.verify_message.rstrip(".")
    if error.verify_code in _OTHER_NAME:
        state, remedy = "is for another name", "Reach the switch by a name of it, or set the endpoint's tls_name"
    elif error.verify_code in _OTHER_TIME:
        state, remedy = "is not valid now", "Renew it, or correct the clock of this machine"
    else:
        state, remedy = "is not trusted", "Set the endpoint's ca to the CA that signed it"
    return CertificateRefused(name, f"the certificate of {address} {state} ({said})", remedy)


def unanswered(name: str, address: str, reason: str) -> Unreachable:
    """The error of a switch that cannot be connected to."""
    remedy = "Check that the switch is up and serves gNMI on this port"
    return Unreachable(name, f"no answer from {address} ({reason})", remedy)


def reason(error: OSError) -> str:
    """The operating system's or OpenSSL's words for an error, in lower case."""
    if isinstance(error, ssl.SSLError) and error.reason:
        return error.reason.replace("_", " ").lower()
    if isinstance(error, socket.gaierror):
        return "its name cannot be resolved"
    text = os.strerror(error.errno) if error.errno else str(error) or "the connection was closed"
    return text.rstrip(".").lower()
