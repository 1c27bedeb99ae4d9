"""Faults of fibres and of whole switches, and what follows for sessions from those that no port notices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from railfab.topology import PortKey


class Fibre(StrEnum):
    """The fibre to a receiver.

    DARK: without light; the receiver loses its signal, and its port goes down. Its transmitter then sends remote fault,
    and the far end's port goes down too (IEEE 802.3, 46.3.4 and 81.3.4).
    LOSING: every frame is lost, and neither port notices: the receiver's MAC hangs, or the ports do not signal faults.
    """

    WORKING = "working"
    DARK = "dark"
    LOSING = "losing"


class SwitchFault(StrEnum):
    """A switch as a whole. HUNG: its control plane does nothing; it forwards as before. OFF: it has no power."""

    NONE = ""
    HUNG = "hung"
    OFF = "off"


Fibres = Mapping[PortKey, Fibre]
"""The fibres that do not work, by the port that they lead to."""

SwitchFaults = Mapping[str, SwitchFault]
"""The switches that have a fault."""


@dataclass(frozen=True, slots=True)
class SilentFaults:
    """Faults that leave ports up. losing: ports that lose all that they are sent. hung: switches."""

    losing: frozenset[PortKey] = frozenset()
    hung: frozenset[str] = frozenset()

    def between(self, near: PortKey, far: PortKey) -> str:
        """Why neither of these ends of a link can keep a session with the other; empty when they can."""
        for node, _ in (near, far):
            if node in self.hung:
                return f"{node} does not answer"
        return self.loss_between(near, far)

    def loss_between(self, near: PortKey, far: PortKey) -> str:
        """Why one of these ends of a cable hears nothing of the other; empty when both hear."""
        for one, other in ((near, far), (far, near)):
            if one in self.losing:
                return f"{one[0]} {one[1]} receives nothing from {other[0]} {other[1]}"
        return ""


NO_SILENT_FAULTS = SilentFaults()


def silent_faults(fibres: Fibres, switch_faults: SwitchFaults) -> SilentFaults:
    return SilentFaults(
        frozenset(key for key, fibre in fibres.items() if fibre is Fibre.LOSING),
        frozenset(name for name, fault in switch_faults.items() if fault is SwitchFault.HUNG),
    )


def switches_that_are_off(switch_faults: SwitchFaults) -> frozenset[str]:
    return frozenset(name for name, fault in switch_faults.items() if fault is SwitchFault.OFF)
