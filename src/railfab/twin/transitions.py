"""What the switches remember of ports and sessions: how often and when they changed."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

from railfab.forwarding.converge import Conclusion
from railfab.topology import PortKey


@dataclass(slots=True)
class TransitionCounters:
    """Counts since the beginning; times are Unix seconds. established counts arrivals in that state."""

    transitions: dict[PortKey, int] = field(default_factory=lambda: defaultdict(int))
    last_change_s: dict[PortKey, float] = field(default_factory=dict)
    established: dict[PortKey, int] = field(default_factory=lambda: defaultdict(int))
    last_established_s: dict[PortKey, float] = field(default_factory=dict)
    bfd_failures: dict[PortKey, int] = field(default_factory=lambda: defaultdict(int))

    def note(self, before: Conclusion | None, after: Conclusion, now_s: float) -> None:
        """Count what differs between two conclusions; everything was down before the first."""
        for key, state in after.ground.ports.items():
            was_up = before is not None and before.ground.ports[key].oper_up
            if state.oper_up != was_up:
                self.transitions[key] += 1
                self.last_change_s[key] = now_s
        for key, session in after.sessions.items():
            earlier = before.sessions.get(key) if before is not None else None
            if session.established and not (earlier is not None and earlier.established):
                self.established[key] += 1
                self.last_established_s[key] = now_s
            if earlier is not None and earlier.bfd_up and session.bfd_up is False:
                self.bfd_failures[key] += 1
