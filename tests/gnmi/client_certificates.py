"""Certificates of clients, as files."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    KeySerializationEncryption,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from railfab.gnmi.certificates import Authority


def client_files(
    folder: Path, authority: Authority, encryption: KeySerializationEncryption | None = None
) -> dict[str, Any]:
    """The files of a client certificate that this authority has signed, as settings of an endpoint."""
    signer = load_pem_private_key(authority.identity.key, password=None)
    assert isinstance(signer, ec.EllipticCurvePrivateKey)
    issuer = x509.load_pem_x509_certificate(authority.certificate).subject
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "collector")]))
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(minutes=5))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False)
        .sign(signer, SHA256())
    )
    folder.mkdir(exist_ok=True)
    (folder / "cert.pem").write_bytes(certificate.public_bytes(Encoding.PEM))
    secret = encryption or NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secret))
    return {"client_cert": str(folder / "cert.pem"), "client_key": str(folder / "key.pem")}
