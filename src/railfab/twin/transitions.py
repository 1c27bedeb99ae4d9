"""Transition counters of ports and sessions: how often and when they changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from railfab.forwarding import BgpSession, ForwardingState
from railfab.twin.recabling import Recabling


@dataclass(frozen=True, slots=True)
class SessionTransitions:
    """Of one session. established: how often it came up. established_s: when it last did [s, Unix time], None before.

    bfd_failures: how often its BFD session went down.
    """

    established: int = 0
    established_s: float | None = None
    bfd_failures: int = 0


NO_TRANSITIONS = SessionTransitions()


@dataclass(frozen=True, slots=True)
class TransitionCounters:
    """Counts since the start; immutable. Axis (link,) for the port that each directed link leaves.

    ports: how often each port went up or down. last_change_s: when it last did, or the start [s, Unix time].
    sessions: by device, then key.
    """

    ports: NDArray[np.float64]
    last_change_s: NDArray[np.float64]
    sessions: Mapping[str, Mapping[str, SessionTransitions]]

    def session(self, session: BgpSession) -> SessionTransitions:
        return self.sessions.get(session.device, {}).get(session.key, NO_TRANSITIONS)

    def recabled(self, places: Recabling) -> TransitionCounters:
        """The same counts of the ports after an exchange of cables."""
        return replace(self, ports=self.ports[places.sent], last_change_s=self.last_change_s[places.sent])

    def begun_at_zero(self, device: str, links: Sequence[int]) -> TransitionCounters:
        """The same counts, but those of a switch, whose ports these links leave, from 0 on."""
        ports = self.ports.copy()
        ports[list(links)] = 0
        return replace(self, ports=ports, sessions={**self.sessions, device: {}})

    def counted(self, before: ForwardingState, after: ForwardingState, now_s: float) -> TransitionCounters:
        """The counts after a change of state at this time."""
        flipped = [
            after.links.egress[node, interface]
            for node, states in after.ports.items()
            if states is not before.ports[node]
            for interface, state in states.items()
            if state.oper_up != before.ports[node][interface].oper_up
        ]
        ports, last_change_s = self.ports.copy(), self.last_change_s.copy()
        ports[flipped] += 1
        last_change_s[flipped] = now_s
        sessions = dict(self.sessions)
        for device, held in after.sessions.items():
            earlier = before.sessions.get(device, {})
            if held is not earlier:
                counted = _counted(self.sessions.get(device, {}), earlier, held, now_s)
                sessions[device] = {**self.sessions.get(device, {}), **counted}
        return TransitionCounters(ports, last_change_s, sessions)


def no_transitions(links: int, started_s: float) -> TransitionCounters:
    """Nothing has changed yet."""
    return TransitionCounters(np.zeros(links), np.full(links, started_s), {})


def _counted(
    counts: Mapping[str, SessionTransitions],
    before: Mapping[str, BgpSession],
    after: Mapping[str, BgpSession],
    now_s: float,
) -> dict[str, SessionTransitions]:
    """The counts of a device's sessions that came up or whose BFD went down."""
    found: dict[str, SessionTransitions] = {}
    for key, session in after.items():
        earlier, count = before.get(key), counts.get(key, NO_TRANSITIONS)
        if session.established and not (earlier is not None and earlier.established):
            count = replace(count, established=count.established + 1, established_s=now_s)
        if earlier is not None and earlier.bfd_up and session.bfd_up is False:
            count = replace(count, bfd_failures=count.bfd_failures + 1)
        if count is not NO_TRANSITIONS:
            found[key] = count
    return found
