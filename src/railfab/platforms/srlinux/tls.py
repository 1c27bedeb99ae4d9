"""Check of a switch's TLS certificate before gRPC connects, because gRPC does not tell connection errors apart."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from railfab.endpoints import Endpoint
from railfab.errors import EndpointError, LoginRefused, Unreachable

TIMEOUT_S = 5.0


@contextmanager
def tls_arguments(endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    """TLS keyword arguments for pygnmi, valid inside the context.

    `path_cert` is a PEM file: the endpoint's CA, or the switch's own certificate where the system's trust store
    verified it, because without a file pygnmi trusts any certificate.
    Raises Unreachable, LoginRefused or EndpointError.
    """
    certificate = _certificate(endpoint, _context(endpoint))
    if endpoint.skip_verify:
        yield {"skip_verify": True}
    elif endpoint.ca is not None:
        yield {"path_cert": endpoint.ca}
    else:
        with TemporaryDirectory(prefix="railfab-") as folder:
            pinned = Path(folder) / "switch.pem"
            pinned.write_text(ssl.DER_cert_to_PEM_cert(certificate))
            yield {"path_cert": str(pinned)}


def _context(endpoint: Endpoint) -> ssl.SSLContext:
    try:
        context = ssl.create_default_context(cafile=endpoint.ca)
    except (OSError, ssl.SSLError) as error:
        problem = f"no usable CA certificate in {endpoint.ca} ({_reason(error)})"
        raise EndpointError(endpoint.name, problem, "Start the lab or the twin again, or correct the file") from None
    context.set_alpn_protocols(["h2"])
    if endpoint.skip_verify:
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def _certificate(endpoint: Endpoint, context: ssl.SSLContext) -> bytes:
    """The switch's certificate (DER), verified unless the endpoint has skip_verify."""
    if endpoint.gnmi_port is None:
        raise Unreachable(endpoint.name, "has no gNMI port", "Set its gnmi_port in the endpoints file")
    address = f"{endpoint.host}:{endpoint.gnmi_port}"
    try:
        with (
            socket.create_connection((endpoint.host, endpoint.gnmi_port), TIMEOUT_S) as plain,
            context.wrap_socket(plain, server_hostname=endpoint.host) as secure,
        ):
            return secure.getpeercert(binary_form=True) or b""
    except ssl.SSLCertVerificationError as error:
        problem = f"the certificate of {address} is not trusted ({error.verify_message.rstrip('.')})"
        remedy = "Set the endpoint's ca to the CA that signed it"
        raise LoginRefused(endpoint.name, problem, remedy) from None
    except ssl.SSLError as error:
        problem = f"{address} does not speak TLS ({_reason(error)})"
        raise Unreachable(endpoint.name, problem, "Check the port and the server's TLS profile") from None
    except OSError as error:
        problem = f"no answer from {address} ({_reason(error)})"
        raise Unreachable(endpoint.name, problem, "Check that the switch is up and serves gNMI on this port") from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).rstrip(".").lower()
