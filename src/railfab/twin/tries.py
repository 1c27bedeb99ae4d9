"""Tries of BGP sessions whose OPEN messages are refused: they come again and again, and each shows for a moment."""

from __future__ import annotations

from collections.abc import Mapping

from railfab.forwarding import ForwardingState
from railfab.forwarding.session_delays import HANDSHAKE_NS, retry_ns

OPENING = "opensent"
"""State of a session while it tries: TCP is connected, and the OPEN message sent (RFC 4271, 8.2.2)."""

Trying = Mapping[str, frozenset[str]]
"""Keys of the sessions that try, by switch."""


class Tries:
    """The refused sessions of a state of the fabric, and the intervals of their tries."""

    def __init__(self, state: ForwardingState) -> None:
        self._periods_ns = {
            (device, key): retry_ns(session, state.configs)
            for device, held in state.sessions.items()
            for key, session in held.items()
            if session.refused
        }

    def at(self, now_ns: int) -> Trying:
        """The sessions that try at this simulated time; each try begins the interval anew."""
        found: dict[str, set[str]] = {}
        for (device, key), period_ns in self._periods_ns.items():
            if now_ns % period_ns < HANDSHAKE_NS:
                found.setdefault(device, set()).add(key)
        return {device: frozenset(keys) for device, keys in found.items()}
