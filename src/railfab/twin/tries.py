"""Tries of BGP sessions whose OPEN messages are refused: they come again and again, and each shows for a moment."""

from __future__ import annotations

from collections.abc import Mapping

from railfab.forwarding import BgpSession, ForwardingState, changed_names
from railfab.forwarding.session_delays import HANDSHAKE_NS, retry_ns

OPENING = "opensent"
"""State of a session while it tries: TCP is connected, and the OPEN message sent (RFC 4271, 8.2.2)."""

Trying = Mapping[str, frozenset[str]]
"""Keys of the sessions that try, by switch."""


class Tries:
    """The refused sessions of a state of the fabric, and the intervals of their tries. before: those of another state,
    with which it has most sessions in common."""

    def __init__(self, state: ForwardingState, before: Tries | None = None) -> None:
        self._sessions = state.sessions
        changed = changed_names(state.sessions, before._sessions if before else {})
        held = before._refused if before else {}
        kept = {at: session for at, session in held.items() if at[0] not in changed} if changed else held
        self._refused: Mapping[tuple[str, str], BgpSession] = {
            **kept,
            **{
                (device, key): session
                for device in changed
                for key, session in state.sessions.get(device, {}).items()
                if session.refused
            },
        }
        self._periods_ns = {at: retry_ns(session, state.configs) for at, session in self._refused.items()}

    def at(self, now_ns: int) -> Trying:
        """The sessions that try at this simulated time; each try begins the interval anew."""
        found: dict[str, set[str]] = {}
        for (device, key), period_ns in self._periods_ns.items():
            if now_ns % period_ns < HANDSHAKE_NS:
                found.setdefault(device, set()).add(key)
        return {device: frozenset(keys) for device, keys in found.items()}
