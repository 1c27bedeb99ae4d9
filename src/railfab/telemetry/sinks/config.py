"""Sinks as a user states them: addresses on the command line, secrets in the environment or in a file it names."""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from ipaddress import ip_address
from typing import Any
from urllib.parse import SplitResult, urlsplit

from railfab.endpoints.secrets import Secrets, SecretSource
from railfab.errors import EndpointError, RailfabError, raise_all
from railfab.telemetry.sinks.contract import Labels
from railfab.telemetry.sinks.queued import QueuedSink
from railfab.text.remedies import distribution, install

logger = logging.getLogger(__name__)

TOPIC = re.compile(r"[A-Za-z0-9._-]{1,249}")
"""Source: org.apache.kafka.common.internals.Topic."""
SUBJECT = re.compile(r"[^\s.*>]+(\.[^\s.*>]+)*")
SERVER = re.compile(r"(?P<host>[A-Za-z0-9._-]+|\[[0-9a-fA-F:]+\]):(?P<port>\d{1,5})")
LABEL = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
"""Source: Prometheus documentation, Data model."""
RESERVED_LABELS = ("__name__", "device")
DEFAULT_NAME = "railfab"
"""Topic of Kafka and first token of NATS subjects where none is stated."""


class SinkError(RailfabError):
    """A sink is stated wrongly."""


def sinks_of(
    *,
    remote_write: str | None = None,
    kafka: str | None = None,
    nats: str | None = None,
    environment: Mapping[str, str] = os.environ,
) -> tuple[QueuedSink, ...]:
    """The sinks of the options --remote-write, --kafka and --nats, running; none for None.

    remote_write: `https://HOST[:PORT]/PATH`. kafka: `HOST:PORT[,HOST:PORT...][/TOPIC]` with TLS, `plaintext://HOST...`
    without. nats: `tls://HOST[:PORT][,tls://...][/SUBJECT]`, or `nats://` without TLS. Secrets: secrets.py with the
    prefixes RAILFAB_REMOTE_WRITE, RAILFAB_KAFKA and RAILFAB_NATS. Raises SinkError, EndpointError or Problems.
    """
    sinks: list[QueuedSink] = []
    errors: list[RailfabError] = []
    for text, made in ((remote_write, _remote_write), (kafka, _kafka), (nats, _nats)):
        try:
            sinks += [made(text, environment)] if text is not None else []
        except RailfabError as error:
            errors.append(error)
    if errors:
        for sink in sinks:
            sink.close(0.0)
    raise_all(errors)
    return tuple(sinks)


def push_labels(texts: Sequence[str]) -> Labels:
    """The labels that `--push-label NAME=VALUE` states. Raises SinkError."""
    found: dict[str, str] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not value or LABEL.fullmatch(name) is None or name in RESERVED_LABELS:
            problem = f"{text!r} is no label with a value, or its name is one of {', '.join(RESERVED_LABELS)}"
            raise SinkError("--push-label", problem, "Write for example replica=a")
        if name in found:
            raise SinkError("--push-label", f"{name} is stated twice", "Leave one out")
        found[name] = value
    return tuple(sorted(found.items()))


def _remote_write(text: str, environment: Mapping[str, str]) -> QueuedSink:
    option = "--remote-write"
    url = _url(option, text, ("https", "http"), "RAILFAB_REMOTE_WRITE")
    if url.path in ("", "/") or not url.path.isascii() or url.fragment:
        remedy = f"Write for example {url.scheme}://{url.netloc}/api/v1/write"
        raise SinkError(option, f"{_without_query(url)} names no path that takes remote write", remedy)
    source = SecretSource("RAILFAB_REMOTE_WRITE", environment)
    secrets = _secrets(source, tls=url.scheme == "https")
    _warn_of_plain_text(option, secrets, url.hostname or "", plain=url.scheme == "http")
    sink: QueuedSink = _import(option, "remote_write", "collect").remote_write_sink(url, source)
    return sink


def _kafka(text: str, environment: Mapping[str, str]) -> QueuedSink:
    option = "--kafka"
    _refuse_secrets(option, text, "RAILFAB_KAFKA")
    plain = text.startswith("plaintext://")
    servers, _, topic = text.removeprefix("plaintext://").partition("/")
    found = [SERVER.fullmatch(server) for server in servers.split(",")]
    if not all(server is not None and 0 < int(server["port"]) < 65_536 for server in found):
        remedy = "Write HOST:PORT, several with commas, and a topic after a slash: kafka1:9093,kafka2:9093/fabric"
        raise SinkError(option, f"{servers!r} is not a list of brokers", remedy)
    if topic and TOPIC.fullmatch(topic) is None:
        raise SinkError(
            option, f"{topic!r} is no topic", "Use letters, digits, dot, underscore and hyphen, at most 249"
        )
    source = SecretSource("RAILFAB_KAFKA", environment)
    secrets = _secrets(source, tls=not plain)
    if secrets.token:
        raise SinkError(option, "a token is no login to Kafka", "State a user name and a password")
    _warn_of_plain_text(option, secrets, servers.partition(":")[0], plain=plain)
    made = _import(option, "kafka", "kafka").kafka_sink
    sink: QueuedSink = made(servers, topic or DEFAULT_NAME, source, tls=not plain)
    return sink


def _nats(text: str, environment: Mapping[str, str]) -> QueuedSink:
    option = "--nats"
    _refuse_secrets(option, text, "RAILFAB_NATS")
    urls = [_url(option, server, ("tls", "nats"), "RAILFAB_NATS") for server in text.split(",")]
    last = urls[-1]
    if len({url.scheme for url in urls}) > 1 or any(url.path for url in urls[:-1]):
        problem = f"{text!r} is not one cluster"
        raise SinkError(option, problem, "Use one of tls:// and nats:// for all servers, and a subject behind the last")
    subject = last.path.removeprefix("/") or DEFAULT_NAME
    if SUBJECT.fullmatch(subject) is None or last.query or last.fragment:
        problem = f"{subject!r} is no beginning of a subject"
        raise SinkError(option, problem, "Write words with dots between them, without spaces, * and >")
    source = SecretSource("RAILFAB_NATS", environment)
    secrets = _secrets(source, tls=last.scheme == "tls")
    for url in urls:
        _warn_of_plain_text(option, secrets, url.hostname or "", plain=url.scheme == "nats")
    servers = [url._replace(path="").geturl() for url in urls]
    sink: QueuedSink = _import(option, "nats", "nats").nats_sink(servers, subject, source)
    return sink


def _url(option: str, text: str, schemes: tuple[str, str], prefix: str) -> SplitResult:
    """A URL with host and without secrets, of one of two schemes, the first of which is TLS."""
    _refuse_secrets(option, text, prefix)
    try:
        url = urlsplit(text)
        valid = (
            url.scheme in schemes and bool(url.hostname) and url.port != 0 and text.isprintable() and " " not in text
        )
    except ValueError:
        valid = False
    if not valid:
        remedy = f"Write {schemes[0]}://HOST[:PORT], or {schemes[1]}:// for a connection in plain text"
        raise SinkError(option, f"{text!r} is not the address of a receiver", remedy)
    return url


def _refuse_secrets(option: str, text: str, prefix: str) -> None:
    """Refuse what has a user or password in it, without showing it: a command line can be read by everyone."""
    if "@" in text:
        remedy = f"State them in {prefix}_USERNAME and {prefix}_PASSWORD, or a file with them in {prefix}_CREDENTIALS"
        raise SinkError(option, "the address has a user name or a password in it", remedy)


def _secrets(source: SecretSource, *, tls: bool) -> Secrets:
    """The secrets as they are at the start, so that a wrong file is an error then."""
    if tls:
        source.tls()
    elif source.ca is not None:
        problem = "names a CA, but the address is without TLS"
        raise EndpointError(f"{source.prefix}_CA", problem, "Use an address with TLS, or leave the CA out")
    return source.read()


def _warn_of_plain_text(option: str, secrets: Secrets, host: str, *, plain: bool) -> None:
    if plain and secrets != Secrets() and not _is_local(host):
        logger.warning("%s: the login goes to %s in plain text", option, host)


def _is_local(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _without_query(url: SplitResult) -> str:
    return url._replace(query="", fragment="").geturl()


def _import(option: str, module: str, extra: str) -> Any:
    """A module of this package whose library is of an extra."""
    try:
        return import_module(f"railfab.telemetry.sinks.{module}")
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("railfab"):
            raise
        raise SinkError(option, f"{distribution(error.name or '')} is not installed", install(extra)) from None
