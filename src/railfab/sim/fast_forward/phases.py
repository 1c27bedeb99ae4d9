"""Recordings of phases, by what makes phases alike."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from railfab.sim.fast_forward.policy import FastForwardPolicy
from railfab.sim.fast_forward.recording import Key, Recording

_MOST_PHASES = 4


@dataclass(slots=True, eq=False)
class _Known:
    seen: int = 0
    recordings: list[Recording] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class Phases:
    """Recordings by key. random: which of them is replayed."""

    policy: FastForwardPolicy
    random: np.random.Generator
    known: dict[Key, _Known] = field(default_factory=dict)

    def forget(self) -> None:
        """The network has changed: no phase is like one before."""
        self.known.clear()

    def next_of(self, key: Key) -> Recording | None:
        """A recording at random; None where this phase is to be simulated, and recorded."""
        phase = self.known.pop(key, None) or _Known()
        self.known[key] = phase
        while len(self.known) > _MOST_PHASES:
            del self.known[next(iter(self.known))]
        place, phase.seen = phase.seen, phase.seen + 1
        due = place in self.policy.recorded or place % self.policy.recorded_every == 0
        if due or not phase.recordings:
            return None
        return phase.recordings[int(self.random.integers(len(phase.recordings)))]

    def keep(self, key: Key, recording: Recording) -> None:
        """Add a recording, in place of the oldest where there are enough."""
        phase = self.known.setdefault(key, _Known(seen=1))
        phase.recordings = [*phase.recordings, recording][-len(self.policy.recorded) :]
