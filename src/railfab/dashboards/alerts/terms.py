"""Terms that the expressions and texts of several alerts have in common."""

from __future__ import annotations

HELD = "2m"
"""Window in which the last value of a state counts: longer than a target is silent before another alert says so."""

RAIL_BYTES = "rail:fabric_transmit_bytes:rate1m"
DEVICE = "{{ $labels.device }}"
PORT = DEVICE + " {{ $labels.interface }}"
PERCENT = "{{ $value | humanizePercentage }}"
NUMBER = "{{ $value | humanize }}"


def held(selector: str, window: str = HELD) -> str:
    """The last value of a state, also while its target is silent."""
    return f"last_over_time({selector}[{window}])"
