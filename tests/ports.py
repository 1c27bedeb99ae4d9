"""Ports of servers that tests start by number: a client or a server that takes any port gets none of them."""

from __future__ import annotations

import random
import socket
from contextlib import suppress
from pathlib import Path

FIRST = 20_000
"""The usual ports of what railfab starts are below, or in the kernel's range."""
_ANY = Path("/proc/sys/net/ipv4/ip_local_port_range")
_given: set[int] = set()


def free_port() -> int:
    """A port of 127.0.0.1 on which nobody listens, outside of the kernel's range of any ports; each is given once."""
    any_port = range(*map(int, _ANY.read_text().split())) if _ANY.exists() else range(49_152, 65_536)
    for port in random.sample([port for port in range(FIRST, any_port.start) if port not in _given], 100):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)):
            _given.add(port)
            return port
    raise AssertionError(f"every port from {FIRST} to {any_port.start} that was tried is in use")
