"""Links that lose their lock again and again because light is missing."""

from __future__ import annotations

from hashlib import blake2b

from railfab.forwarding import ForwardingState
from railfab.forwarding.optics import is_flapping
from railfab.topology import PortKey
from railfab.units import NS_PER_S

PERIOD_NS, DOWN_NS = 15 * NS_PER_S, 2 * NS_PER_S
"""From one loss of lock to the next, and until the link has trained again; an estimate, of the order of what modules of
short reach do."""


class Flaps:
    """The ports that flap in a state of the fabric, each at times of its own."""

    def __init__(self, state: ForwardingState) -> None:
        own = state.own_ports
        self._shifts = {
            key: _shift_ns(key)
            for key, loss_db in state.dirt.items()
            if is_flapping(state.port(key).fec or own[key[0]][key[1]].fec, loss_db)
        }

    def at(self, now_ns: int) -> frozenset[PortKey]:
        """The ports without lock at this simulated time."""
        return frozenset(key for key, shift_ns in self._shifts.items() if (now_ns + shift_ns) % PERIOD_NS < DOWN_NS)


def _shift_ns(key: PortKey) -> int:
    return int.from_bytes(blake2b(f"{key} flaps".encode(), digest_size=8).digest(), "big") % PERIOD_NS
