"""Terms that the expressions and texts of several alerts have in common."""

from __future__ import annotations

from railfab.intent.gates import GateLimits

DEVICE = "{{ $labels.device }}"
PORT = DEVICE + " {{ $labels.interface }}"
PERCENT = "{{ $value | humanizePercentage }}"
NUMBER = "{{ $value | humanize }}"

NOT_OVERLOADED = "unless on (fabric, device) max_over_time(fabric_collector_overloaded[1m]) == 1"
"""A collector that is late says nothing about its targets, nor in the minute in which it dials those that waited."""

LIMITS = GateLimits()
"""Limits that a roll-out has too, where the intent states no others in `change.gates`."""
