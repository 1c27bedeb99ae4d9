"""Questions to the servers of switches, asked at the same time and each with a time limit: FRR's daemons, SSH and gNMI.

An accepted connection is no answer: the kernel accepts for a stopped process until the queue of its socket is full.
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

ANSWER_WITHIN_S = 3.0
"""Time limit of a question [s]; a server of a busy machine answers in tenths of a second."""

ANSWER_BYTES = 64
"""More than FRR answers to `enable`: what is left unread would be a reset connection to the daemon."""

AT_ONCE = 200
"""Questions at the same time, fewer than the open files that a process may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """A question to one service of a node. ask: returns whether it has answered; raises OSError when it cannot."""

    node: str
    service: str
    ask: Callable[[], Awaitable[bool]]


def daemon_probe(node: str, daemon: str, sockets: Path) -> Probe:
    """Ask a daemon of FRR, on its socket in this directory."""
    return Probe(node=node, service=daemon, ask=partial(_ask_daemon, sockets / f"{daemon}.vty"))


def ssh_probe(node: str, host: str, port: int) -> Probe:
    """Ask an SSH server for its banner."""
    return Probe(node=node, service="SSH", ask=partial(_ask_ssh, host, port))


def gnmi_probe(node: str, host: str, port: int) -> Probe:
    """Ask a gNMI server for a TLS handshake; its certificate is not verified."""
    return Probe(node=node, service="gNMI", ask=partial(_ask_tls, host, port))


def unanswered(probes: Iterable[Probe], *, within_s: float = ANSWER_WITHIN_S) -> list[Probe]:
    """The services that do not answer within the time, in the given order."""
    return asyncio.run(_unanswered(list(probes), within_s))


def failed_services(probes: Iterable[Probe]) -> dict[str, list[str]]:
    """Names of the services that do not answer, by node."""
    failed: dict[str, list[str]] = {}
    for probe in unanswered(probes):
        failed.setdefault(probe.node, []).append(probe.service)
    return failed


async def _unanswered(probes: list[Probe], within_s: float) -> list[Probe]:
    turn = asyncio.Semaphore(AT_ONCE)

    async def answers(probe: Probe) -> bool:
        async with turn:
            try:
                async with asyncio.timeout(within_s):
                    return await probe.ask()
            except (OSError, TimeoutError):
                return False

    answered = await asyncio.gather(*map(answers, probes))
    return [probe for probe, answer in zip(probes, answered, strict=True) if not answer]


async def _ask_daemon(path: Path) -> bool:
    """Whether a daemon answers `enable`; True for a user who may not connect, so that `lab status` needs no root."""
    try:
        reader, writer = await asyncio.open_unix_connection(path)
    except PermissionError:
        return True
    try:
        writer.write(b"enable\0")
        return await reader.read(ANSWER_BYTES) != b""
    finally:
        writer.transport.abort()


async def _ask_ssh(host: str, port: int) -> bool:
    reader, writer = await asyncio.open_connection(host, port)
    try:
        return await reader.read(4) == b"SSH-"
    finally:
        writer.transport.abort()


async def _ask_tls(host: str, port: int) -> bool:
    _, writer = await asyncio.open_connection(host, port, ssl=_unverified())
    writer.transport.abort()
    return True


@cache
def _unverified() -> ssl.SSLContext:
    """A context without CAs. To read those of the system takes 50 ms, which for each of many switches is longer than
    the time limit, and no other question is answered meanwhile."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])
    return context
