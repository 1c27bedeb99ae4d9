"""User, password, token and CA of a receiver, from the environment or from a file that it names."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from railfab.errors import EndpointError
from railfab.yaml_reader.sections import Faulty, values_in

KEYS = ("username", "password", "token")


@dataclass(frozen=True, slots=True)
class Secrets:
    """A login at a receiver: a user and a password, a token, or nothing; `repr()` hides them."""

    username: str = ""
    password: str = ""
    token: str = ""

    def __repr__(self) -> str:
        return f"Secrets(username={self.username!r}, password=<hidden>, token=<hidden>)"


@dataclass(frozen=True, slots=True)
class SecretSource:
    """Place of the secrets of one server. They are read again for each connection, so a new password needs no restart.

    prefix: of the variables PREFIX_USERNAME and PREFIX_PASSWORD, or PREFIX_TOKEN; or PREFIX_CREDENTIALS, the path of a
    YAML file with the keys `username` and `password`, or `token`. PREFIX_CA: PEM file of the CA that signed the
    certificate of the receiver, without it the trust store of the system.
    """

    prefix: str
    environment: Mapping[str, str]

    def read(self) -> Secrets:
        """The secrets as they are now. Raises EndpointError."""
        path = self.environment.get(f"{self.prefix}_CREDENTIALS")
        where = path or "environment"
        values = _from_file(Path(path)) if path else self._from_environment()
        names = values if path else {f"{self.prefix}_{key.upper()}" for key in values}
        if values and set(values) not in ({"token"}, {"username", "password"}):
            problem = f"has {' and '.join(sorted(names))}, and a login is a user name with a password, or a token"
            raise EndpointError(where, problem, "State one of the two")
        if not values.get("token", "").isprintable() or not values.get("token", "").isascii():
            raise EndpointError(where, "the token has characters that no token has", "Write it on one line")
        return Secrets(**values)

    def tls(self) -> ssl.SSLContext:
        """A context that verifies certificate and name. Raises EndpointError."""
        try:
            return ssl.create_default_context(cafile=self.ca)
        except (OSError, ssl.SSLError):
            problem = f"{self.ca} contains no CA certificate that can be read"
            raise EndpointError(f"{self.prefix}_CA", problem, "Name a PEM file") from None

    @property
    def ca(self) -> str | None:
        """Path of the CA's certificate; None for the trust store of the system."""
        return self.environment.get(f"{self.prefix}_CA") or None

    def _from_environment(self) -> dict[str, str]:
        texts = {key: self.environment.get(f"{self.prefix}_{key.upper()}", "") for key in KEYS}
        return {key: text for key, text in texts.items() if text}


def _from_file(path: Path) -> dict[str, str]:
    try:
        document, _ = values_in(path.read_text())
        if not isinstance(document, dict) or not document or not set(document) <= set(KEYS):
            raise ValueError
        return {key: str(value) for key, value in document.items()}
    except (OSError, ValueError, Faulty):
        remedy = "Write username and password into it, or token, as YAML"
        raise EndpointError(str(path), "the file contains no credentials", remedy) from None
