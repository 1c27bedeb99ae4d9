"""A transfer: payload that is moved from one host port to another."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.topology import PortKey


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """Payload from one host port to another [bytes]. stream: tells flows between the same two ports apart."""

    source: PortKey
    target: PortKey
    payload_bytes: float
    stream: int = 0
