"""A certificate authority for the servers of one process or lab on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALID_DAYS = 365
CLOCK_SKEW = timedelta(days=1)
LOCAL = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, slots=True)
class TlsIdentity:
    """A server's certificate and its private key, both PEM."""

    certificate: bytes
    key: bytes = field(repr=False)


class Authority:
    """A certificate authority. Its private key leaves the memory only as `identity`."""

    def __init__(self, name: str) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._subject = _common_name(f"railfab {name} CA"[:64])
        usage = x509.KeyUsage(**_usages("key_cert_sign", "crl_sign"))
        builder = _builder(self._subject, self._subject, self._key)
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        builder = builder.add_extension(
            x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False
        )
        self._certificate = builder.add_extension(usage, critical=True).sign(self._key, SHA256())

    @classmethod
    def of(cls, identity: TlsIdentity) -> Self:
        """An authority that was stored. Raises ValueError when its certificate is not that of its key."""
        key = load_pem_private_key(identity.key, password=None)
        certificate = x509.load_pem_x509_certificate(identity.certificate)
        if not isinstance(key, ec.EllipticCurvePrivateKey) or certificate.public_key() != key.public_key():
            raise ValueError("the certificate does not belong to the key")
        made = cls.__new__(cls)
        made._key, made._certificate, made._subject = key, certificate, certificate.subject
        return made

    @property
    def identity(self) -> TlsIdentity:
        """The authority's own certificate and key, to store where only their owner can read them."""
        return TlsIdentity(self.certificate, _private_pem(self._key))

    @property
    def validity(self) -> timedelta:
        """The time for which the authority's certificate is still valid."""
        return self._certificate.not_valid_after_utc - datetime.now(UTC)

    @property
    def certificate(self) -> bytes:
        """The authority's certificate (PEM), which clients must trust."""
        return self._certificate.public_bytes(Encoding.PEM)

    def issue(self, name: str, addresses: Sequence[str] = LOCAL) -> TlsIdentity:
        """A server certificate for this node name and these addresses or host names."""
        key = ec.generate_private_key(ec.SECP256R1())
        alternatives = [_alternative(text) for text in dict.fromkeys((name, *addresses))]
        builder = _builder(_common_name(name[:64]), self._subject, key)
        for extension, critical in (
            (x509.SubjectAlternativeName(alternatives), False),
            (x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()), False),
            (x509.SubjectKeyIdentifier.from_public_key(key.public_key()), False),
            (x509.BasicConstraints(ca=False, path_length=None), True),
            (x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), False),
            (x509.KeyUsage(**_usages("digital_signature")), True),
        ):
            builder = builder.add_extension(extension, critical=critical)
        return TlsIdentity(builder.sign(self._key, SHA256()).public_bytes(Encoding.PEM), _private_pem(key))


def _private_pem(key: ec.EllipticCurvePrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
    now = datetime.now(UTC)
    return x509.CertificateBuilder(
        subject_name=subject,
        issuer_name=issuer,
        public_key=key.public_key(),
        serial_number=x509.random_serial_number(),
        not_valid_before=now - CLOCK_SKEW,
        not_valid_after=now + timedelta(days=VALID_DAYS),
    )


def _common_name(name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])


def _alternative(text: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ip_address(text))
    except ValueError:
        return x509.DNSName(text)


def _usages(*granted: str) -> dict[str, bool]:
    """All arguments of KeyUsage: true for those granted, false for the others."""
    every = (
        "digital_signature",
        "content_commitment",
        "key_encipherment",
        "data_encipherment",
        "key_agreement",
        "key_cert_sign",
        "crl_sign",
        "encipher_only",
        "decipher_only",
    )
    return {name: name in granted for name in every}
