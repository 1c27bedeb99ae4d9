"""The credentials that an endpoint refers to: read from variables or a file, at each call."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from railfab.endpoints.model import NO_LOGIN, Credentials, Endpoint
from railfab.endpoints.nornir_hosts import IN_FILE, login_in_file
from railfab.errors import EndpointError

DEFAULT_PREFIX = "RAILFAB"
"""Of the variables with the credentials of an endpoint that names none."""


def read_credentials(endpoint: Endpoint) -> Credentials:
    """The newest credentials that an endpoint refers to. Raises EndpointError if they are missing."""
    source = endpoint.credentials
    if source == NO_LOGIN:
        return Credentials("", "")
    if source.startswith("env:"):
        return _from_environment(endpoint.name, source.removeprefix("env:"))
    if source.startswith(IN_FILE):
        return _from_hosts(endpoint, Path(source.removeprefix(IN_FILE)))
    path = Path(source)
    try:
        document = yaml.safe_load(path.read_text())
        if _missing(document):
            raise KeyError
        return _credentials(document)
    except (OSError, yaml.YAMLError, ValueError, RecursionError, KeyError, TypeError, AttributeError):
        remedy = "Write username and password into it, as YAML"
        raise EndpointError(endpoint.name, f"{path} contains no credentials", remedy) from None


def _from_hosts(endpoint: Endpoint, path: Path) -> Credentials:
    """What a hosts.yml says, and the rest from the environment. Its password takes precedence over a token there."""
    said = {word: value for word, value in login_in_file(endpoint, path).items() if value is not None}
    if "password" in said:
        said["token"] = ""
    return _from_environment(endpoint.name, DEFAULT_PREFIX, said)


def _from_environment(name: str, prefix: str, said: Mapping[str, str] = MappingProxyType({})) -> Credentials:
    words = ("username", "password", "key_file", "aaa_secret", "token")
    found = {word: os.environ.get(f"{prefix}_{word.upper()}") for word in words} | dict(said)
    if missing := [f"{prefix}_{word.upper()}" for word in _missing(found)]:
        raise EndpointError(name, f"the environment lacks {' and '.join(missing)}", "Export what is missing")
    return _credentials(found)


def _missing(found: Mapping[str, Any]) -> list[str]:
    """The required values that are missing: a key replaces the password, a token both."""
    required = ("username",) if found.get("key_file") else ("username", "password")
    return [] if found.get("token") else [word for word in required if found.get(word) is None]


def _credentials(found: Mapping[str, Any]) -> Credentials:
    def text(word: str) -> str | None:
        return None if found.get(word) is None else str(found[word])

    username, password = text("username") or "", text("password") or ""
    return Credentials(username, password, text("key_file"), text("aaa_secret"), text("token") or None)
