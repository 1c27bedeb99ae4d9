"""The transport of paramiko, for the logins to all switches of a fabric in one process. Imports paramiko."""

from __future__ import annotations

import math
import time
from socket import socket
from typing import Any

from paramiko import Transport
from paramiko.packet import Packetizer


class Packets(Packetizer):  # type: ignore[misc]
    """Packets whose handshake ends by a clock, where paramiko starts a thread for it."""

    _deadline_s = math.inf

    def start_handshake(self, timeout: float) -> None:
        self._deadline_s = time.monotonic() + timeout

    def handshake_timed_out(self) -> bool:
        return time.monotonic() > self._deadline_s

    def complete_handshake(self) -> None:
        self._deadline_s = math.inf


class GcmTransport(Transport):  # type: ignore[misc]
    """A transport that prefers AES-GCM, where the switch has it.

    paramiko prefers AES-CTR, for which it compares the MAC of each packet byte by byte in Python.
    """

    _preferred_ciphers = tuple(sorted(Transport._preferred_ciphers, key=lambda cipher: "-gcm@" not in cipher))

    def __init__(self, connection: socket, **options: Any) -> None:
        super().__init__(connection, packetizer_class=Packets, **options)

    def _filter_algorithm(self, type_: str) -> tuple[str, ...]:
        """The algorithms of a kind, for which paramiko asks sixteen times a login, and disables none by default."""
        if self.disabled_algorithms:
            return tuple(super()._filter_algorithm(type_))
        return tuple(getattr(self, f"_preferred_{type_}"))
