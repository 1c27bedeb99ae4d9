"""Whether a switch answers and proves who it is: said before gRPC, which cannot tell one failure from another."""

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
def reach(endpoint: Endpoint) -> Iterator[dict[str, Any]]:
    """How pygnmi is to check the switch, as its keywords, good while it connects.

    Its `path_cert` is a PEM file with what to trust: the endpoint's authority, or, where the system's trust store
    vouches for the switch, its own certificate, for pygnmi takes a file or trusts whatever it is shown.
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
    """The switch's certificate (DER), verified unless the endpoint says not to."""
    if endpoint.gnmi_port is None:
        raise Unreachable(endpoint.name, "has no gNMI port", "Give it a gnmi_port in the list of endpoints")
    place = f"{endpoint.host}:{endpoint.gnmi_port}"
    try:
        with (
            socket.create_connection((endpoint.host, endpoint.gnmi_port), TIMEOUT_S) as plain,
            context.wrap_socket(plain, server_hostname=endpoint.host) as secure,
        ):
            return secure.getpeercert(binary_form=True) or b""
    except ssl.SSLCertVerificationError as error:
        problem = f"the certificate at {place} is not trusted ({error.verify_message.rstrip('.')})"
        remedy = "Name the authority that signed it as the endpoint's ca"
        raise LoginRefused(endpoint.name, problem, remedy) from None
    except ssl.SSLError as error:
        problem = f"{place} does not speak TLS ({_reason(error)})"
        raise Unreachable(endpoint.name, problem, "Check the port and the server's TLS profile") from None
    except OSError as error:
        problem = f"no answer from {place} ({_reason(error)})"
        raise Unreachable(endpoint.name, problem, "Check that it is up and serves gNMI there") from None


def _reason(error: OSError) -> str:
    return (error.strerror or str(error) or type(error).__name__).rstrip(".").lower()
