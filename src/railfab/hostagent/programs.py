"""How often the agent runs the programs of a host: what they cost decides, since tools of vendors take much CPU."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from railfab.hostagent.changes import InterfaceChanges
from railfab.hosts.nic import System

CHEAP_S = 0.01
"""CPU up to which a program is run for every comparison [s]."""
SHARE = 0.003
"""CPU that all other programs may take together, of a core, while no interface changes."""
LONGEST_S = 900.0
"""Time after which they are run in any case [s]."""


@dataclass
class MeteredSystem(System):
    """A host whose costly programs run as seldom as SHARE wants. now_s: a monotonic clock [s]."""

    now_s: Callable[[], float] = time.monotonic
    changes: InterfaceChanges = field(default_factory=InterfaceChanges)
    _costs_s: dict[tuple[str, ...], float] = field(default_factory=dict)
    _began_s: float = 0.0

    def forget(self, interfaces: Collection[str]) -> None:
        """Forget the outputs that must be read anew: all, where one of these interfaces has changed."""
        costly = {command: cost_s for command, cost_s in self._costs_s.items() if cost_s > CHEAP_S}
        lifetime_s = min(sum(costly.values()) / SHARE, LONGEST_S)
        if self.changes.happened(interfaces) or self.now_s() - self._began_s >= lifetime_s:
            self.outputs.clear()
            self._began_s = self.now_s()
        else:
            self.outputs = {command: text for command, text in self.outputs.items() if command in costly}

    def _run(self, command: Sequence[str]) -> str:
        before_s = _children_s()
        try:
            return super()._run(command)
        finally:
            self._costs_s[tuple(command)] = _children_s() - before_s


def _children_s() -> float:
    """CPU of the child processes that have ended [s]."""
    used = os.times()
    return used.children_user + used.children_system
