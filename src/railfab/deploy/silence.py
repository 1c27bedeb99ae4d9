"""Switches that do not even refuse a connection: found together in seconds, where a login waits for each by itself."""

from __future__ import annotations

import selectors
import socket
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import ExitStack
from errno import EHOSTUNREACH, EINPROGRESS, ENETUNREACH, ETIMEDOUT

from nornir.core.inventory import Host

from railfab.endpoints import Endpoint
from railfab.errors import Unreachable
from railfab.platforms.shared.login import SSH_PORT

ANSWERS_WITHIN_S = 4.0
"""Limit of an answer to a connection: a lost packet is sent again after 1 s and after 3 s [s]."""
AT_ONCE = 256
"""Connections that are opened together, each of which is an open file."""
NO_ANSWER = (EHOSTUNREACH, ENETUNREACH, ETIMEDOUT)


class SilentSwitches:
    """The silent switches among some, looked for once a first one could not be reached. Thread-safe."""

    def __init__(self, hosts: Iterable[Host]) -> None:
        self._endpoints: Mapping[str, Endpoint] = {host.name: host["endpoint"] for host in hosts}
        self._lock = threading.Lock()
        self._silent: frozenset[str] | None = None

    def look(self) -> None:
        """Look for them, at the first call."""
        with self._lock:
            if self._silent is None:
                self._silent = silent(self._endpoints.values())

    def error(self, name: str) -> Unreachable | None:
        """The error of a switch that is silent; waits while they are looked for."""
        with self._lock:
            return _unreachable(self._endpoints[name]) if name in (self._silent or ()) else None


def silent(endpoints: Iterable[Endpoint]) -> frozenset[str]:
    """The switches none of whose ports answers a connection within ANSWERS_WITHIN_S, not even by refusing it."""
    by_name = {endpoint.name: endpoint for endpoint in endpoints}
    left = list(by_name)
    ssh = {name: (endpoint.host, endpoint.ssh_port or SSH_PORT) for name, endpoint in by_name.items()}
    gnmi = {name: (endpoint.host, endpoint.gnmi_port) for name, endpoint in by_name.items() if endpoint.gnmi_port}
    for addresses in (ssh, gnmi):
        known = [name for name in left if name in addresses]
        answering: set[str] = set()
        for first in range(0, len(known), AT_ONCE):
            answering |= _answering({name: addresses[name] for name in known[first : first + AT_ONCE]})
        left = [name for name in left if name not in answering]
    return frozenset(left)


def _answering(addresses: Mapping[str, tuple[str, int]]) -> set[str]:
    """Names of those of which an answer comes; also of what is no address, since a login says more of it."""
    answering: set[str] = set()
    with ExitStack() as opened:
        waiting = opened.enter_context(selectors.DefaultSelector())
        for name, address in addresses.items():
            try:
                family, kind, protocol, _, resolved = socket.getaddrinfo(*address, type=socket.SOCK_STREAM)[0]
                connection = opened.enter_context(socket.socket(family, kind, protocol))
            except OSError:
                answering.add(name)
                continue
            connection.setblocking(False)
            code = connection.connect_ex(resolved)
            if code == EINPROGRESS:
                waiting.register(connection, selectors.EVENT_WRITE, (name, connection))
            elif code not in NO_ANSWER:
                answering.add(name)
        end = time.monotonic() + ANSWERS_WITHIN_S
        while waiting.get_map() and (left_s := end - time.monotonic()) > 0:
            for key, _ in waiting.select(left_s):
                name, connection = key.data
                waiting.unregister(connection)
                if connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) not in NO_ANSWER:
                    answering.add(name)
    return answering


def _unreachable(endpoint: Endpoint) -> Unreachable:
    problem = f"no answer from {endpoint.host} within {ANSWERS_WITHIN_S:g} s"
    return Unreachable(endpoint.name, problem, "Check the address and that the switch is up")
