"""Reads the SSH host keys that switches generate at boot, once, over the lab's management network."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import asyncssh

from railfab.errors import LabError

SSH_PORT = 22
WITHIN_S = 120.0
RETRY_S = 1.0


def host_key_lines(hosts: Sequence[str], port: int = SSH_PORT, *, within_s: float = WITHIN_S) -> list[str]:
    """A known_hosts line for each address. Raises LabError when one does not answer in time."""
    return asyncio.run(_all(hosts, port, within_s)) if hosts else []


async def _all(hosts: Sequence[str], port: int, within_s: float) -> list[str]:
    return list(await asyncio.gather(*(_line(host, port, within_s) for host in hosts)))


async def _line(host: str, port: int, within_s: float) -> str:
    try:
        async with asyncio.timeout(within_s):
            public = (await _key(host, port)).export_public_key().decode().strip()
    except TimeoutError:
        problem = f"no SSH server after {within_s:.0f} s"
        raise LabError(f"{host} port {port}", problem, "Check the container with `docker logs`") from None
    name = host if port == SSH_PORT else f"[{host}]:{port}"
    return f"{name} {' '.join(public.split()[:2])}\n"


async def _key(host: str, port: int) -> asyncssh.SSHKey:
    while True:
        try:
            key = await asyncssh.get_server_host_key(host, port)
        except (OSError, asyncssh.Error):
            key = None
        if key is not None:
            return key
        await asyncio.sleep(RETRY_S)
