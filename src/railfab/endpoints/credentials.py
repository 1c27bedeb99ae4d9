"""The credentials that an endpoint refers to: read from variables, a file or the output of a command, at each call."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from railfab.endpoints.model import NO_LOGIN, Credentials, Endpoint
from railfab.endpoints.nornir_hosts import IN_FILE, login_in_file
from railfab.errors import EndpointError
from railfab.yaml_reader.sections import Faulty, values_in

DEFAULT_PREFIX = "RAILFAB"
"""Prefix of the variables with the credentials of an endpoint that names none."""
COMMAND = "command:"
"""Start of `credentials` that a command prints; it follows, with its arguments."""
COMMAND_WITHIN_S = 30.0
SECRET_SUFFIXES = ("_PASSWORD", "_TOKEN", "_AAA_SECRET")
"""Ends of the names of variables with secrets."""
SWITCH_VARIABLE = "RAILFAB_SWITCH"
"""In the environment of such a command: the name of the switch."""


def read_credentials(endpoint: Endpoint) -> Credentials:
    """The newest credentials that an endpoint refers to. Raises EndpointError if they are missing."""
    source = endpoint.credentials
    if source == NO_LOGIN:
        return Credentials("", "")
    if source.startswith("env:"):
        return _from_environment(endpoint.name, source.removeprefix("env:"))
    if source.startswith(IN_FILE):
        return _from_hosts(endpoint, Path(source.removeprefix(IN_FILE)))
    if source.startswith(COMMAND):
        return _from_command(endpoint.name, source.removeprefix(COMMAND))
    try:
        return _from_yaml(Path(source).read_text())
    except _UNREADABLE as error:
        why = f" ({(error.strerror or str(error)).lower()})" if isinstance(error, OSError) else ""
        remedy = "Write username and password into it, as YAML"
        raise EndpointError(endpoint.name, f"{source} contains no credentials{why}", remedy) from None


_UNREADABLE = (OSError, Faulty, ValueError, KeyError, TypeError, AttributeError)
"""Errors of reading YAML with credentials."""


@lru_cache(maxsize=8)
def _from_yaml(text: str) -> Credentials:
    """The credentials in a text, which most switches of a fabric have in common."""
    document, _ = values_in(text)
    if _missing(document):
        raise KeyError
    return _credentials(document)


def _from_command(name: str, command: str) -> Credentials:
    """The credentials that a command prints. Its arguments and output may be secret, and are in no error."""
    import shlex
    import subprocess  # few endpoints have a command, and each start of railfab would import it

    try:
        words = shlex.split(command)
        program = words[0]
    except (ValueError, IndexError):
        problem = f"'{COMMAND}' is followed by no command, or a quote in it is not closed"
        raise EndpointError(name, problem, f"Write for example {COMMAND}/usr/local/bin/login") from None
    said = f"the command {program} of its credentials"
    environment = {**os.environ, SWITCH_VARIABLE: name}
    try:
        done = subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=COMMAND_WITHIN_S, env=environment
        )
    except subprocess.TimeoutExpired:
        problem = f"{said} did not end in {COMMAND_WITHIN_S:.0f} s, and was killed"
        raise EndpointError(name, problem, "Run it by hand to see what it waits for") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "invalid arguments"
        raise EndpointError(name, f"{said} cannot be run: {reason}", "Name a program that exists") from None
    if done.returncode:
        raise EndpointError(name, f"{said} ended with code {done.returncode}", "Run it by hand to see why")
    try:
        return _from_yaml(done.stdout)
    except _UNREADABLE:
        raise EndpointError(name, f"{said} prints no credentials", "Print username and password, as YAML") from None


def _from_hosts(endpoint: Endpoint, path: Path) -> Credentials:
    """Login of a hosts.yml, and the rest from the environment. Its password takes precedence over a token there."""
    said = {word: value for word, value in login_in_file(endpoint, path).items() if value is not None}
    if "password" in said:
        said["token"] = ""
    return _from_environment(endpoint.name, DEFAULT_PREFIX, said)


def without_logins(environment: Mapping[str, str]) -> dict[str, str]:
    """An environment for a program that needs none of our secrets: without those of `RAILFAB_...`, and of each other
    prefix that has a user name."""
    prefixes = {name.removesuffix("_USERNAME") for name in environment if name.endswith("_USERNAME")}

    def is_secret(name: str) -> bool:
        prefix = next((name.removesuffix(suffix) for suffix in SECRET_SUFFIXES if name.endswith(suffix)), None)
        return prefix is not None and (prefix in prefixes or prefix.split("_")[0] == DEFAULT_PREFIX)

    return {name: value for name, value in environment.items() if not is_secret(name)}


def _from_environment(name: str, prefix: str, said: Mapping[str, str] = MappingProxyType({})) -> Credentials:
    words = ("username", "password", "key_file", "aaa_secret", "token")
    texts = {word: os.environ.get(f"{prefix}_{word.upper()}") for word in words} | dict(said)
    if missing := [f"{prefix}_{word.upper()}" for word in _missing(texts)]:
        raise EndpointError(name, f"the environment lacks {' and '.join(missing)}", "Export what is missing")
    return _credentials(texts)


def _missing(texts: Mapping[str, Any]) -> list[str]:
    """The required values that are missing: a key replaces the password, a token both."""
    required = ("username",) if texts.get("key_file") else ("username", "password")
    return [] if texts.get("token") else [word for word in required if texts.get(word) is None]


def _credentials(texts: Mapping[str, Any]) -> Credentials:
    def text(word: str) -> str | None:
        return None if texts.get(word) is None else str(texts[word])

    username, password = text("username") or "", text("password") or ""
    return Credentials(username, password, text("key_file"), text("aaa_secret"), text("token") or None)
