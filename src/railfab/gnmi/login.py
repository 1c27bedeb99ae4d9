"""Identification of a gNMI client: metadata of each call. Source: OpenConfig, gNMI Authentication and Encryption."""

from __future__ import annotations

from railfab.endpoints import Credentials


def login_metadata(credentials: Credentials) -> tuple[tuple[str, str], ...]:
    """Name and value of each metadata field of a call: a bearer token (RFC 6750, 2.1), else user name and password.

    Empty without either, for a target that knows us by our certificate.
    """
    if credentials.token:
        return (("authorization", f"Bearer {credentials.token}"),)
    if not credentials.username:
        return ()
    return (("username", credentials.username), ("password", credentials.password))


def login_name(credentials: Credentials) -> str:
    """Name of the user whose login it is, for errors; never the secret."""
    return "the token" if credentials.token else credentials.username or "a client without user name"
