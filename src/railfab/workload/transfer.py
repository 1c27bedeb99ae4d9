"""A transfer of payload between two host ports."""

from __future__ import annotations

from dataclasses import dataclass

from railfab.topology import PortKey

Gpu = tuple[str, int]
"""Host and rail, from 1, whose NIC the GPU has; several may share it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Transfer:
    """A transfer from one host port to another. stream: distinguishes flows between the same two ports."""

    source: PortKey
    target: PortKey
    payload_bytes: float
    stream: int = 0
