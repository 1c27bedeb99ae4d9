"""Certificates of our own authority, held to what the strictest client asks."""

from __future__ import annotations

import ssl
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509

from railfab.gnmi.certificates import Authority

STRICT = ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
"""What Python asks of every certificate from 3.13 on (RFC 5280)."""


def shaken(server: ssl.SSLContext, client: ssl.SSLContext, name: str) -> None:
    """A handshake in memory. Raises SSLError when the client does not trust the server."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    ends = (
        client.wrap_bio(to_client, to_server, server_hostname=name),
        server.wrap_bio(to_server, to_client, server_side=True),
    )
    waiting = list(ends)
    while waiting:
        for end in list(waiting):
            try:
                end.do_handshake()
                waiting.remove(end)
            except ssl.SSLWantReadError:
                continue


def test_a_certificate_is_valid_on_a_machine_whose_clock_is_minutes_behind() -> None:
    authority = Authority("pod64")
    for pem in (authority.certificate, authority.issue("pod1-spine1").certificate):
        certificate = x509.load_pem_x509_certificate(pem)
        assert certificate.not_valid_before_utc < datetime.now(UTC) - timedelta(hours=23)
        assert certificate.not_valid_after_utc > datetime.now(UTC) + timedelta(days=364)


@pytest.mark.parametrize("name", ["pod1-spine1", "127.0.0.1"])
def test_a_strict_client_trusts_what_the_authority_issued(tmp_path: Path, name: str) -> None:
    authority = Authority("pod64")
    identity = authority.issue("pod1-spine1")
    certificate, key = tmp_path / "crt", tmp_path / "key"
    certificate.write_bytes(identity.certificate)
    key.write_bytes(identity.key)
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_cert_chain(certificate, key)
    client = ssl.create_default_context(cadata=authority.certificate.decode())
    client.verify_flags |= STRICT
    shaken(server, client, name)
    stranger = ssl.create_default_context(cadata=Authority("other").certificate.decode())
    with pytest.raises(ssl.SSLCertVerificationError):
        shaken(server, stranger, name)
