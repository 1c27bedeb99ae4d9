"""The timers of BFD sessions, which both ends negotiate (RFC 5880)."""

from __future__ import annotations

from typing import NamedTuple

from railfab.device import BfdTimers

SLOW_MS = 1000
"""Least interval of packets of a session that is not up (RFC 5880, 6.8.3)."""


class BfdTiming(NamedTuple):
    """Timers in use at one end of a session [ms].

    transmit_ms: between packets that it sends. receive_ms: between those that it expects, remote_receive_ms: between
    those that the far end can take, remote_multiplier: how many it may miss; None while the session is down.
    """

    transmit_ms: int
    receive_ms: int | None = None
    remote_receive_ms: int | None = None
    remote_multiplier: int | None = None

    @property
    def detection_ms(self) -> int | None:
        """Time without a packet after which this end takes the session down; None while it is down."""
        if self.receive_ms is None or self.remote_multiplier is None:
            return None
        return self.receive_ms * self.remote_multiplier


def bfd_timing(own: BfdTimers, remote: BfdTimers | None) -> BfdTiming:
    """The timers at one end. remote: those of the far end of a session that is up; None while it is down.

    Each end sends at the larger of the interval that it wishes and of that which the far end can take (6.8.7), and
    expects packets at what follows for the far end; the multiplier is that of the sender (6.8.4).
    """
    if remote is None:
        return BfdTiming(transmit_ms=max(SLOW_MS, own.interval_ms))
    return BfdTiming(
        transmit_ms=max(own.interval_ms, _receive_ms(remote)),
        receive_ms=max(remote.interval_ms, _receive_ms(own)),
        remote_receive_ms=_receive_ms(remote),
        remote_multiplier=remote.multiplier,
    )


def _receive_ms(timers: BfdTimers) -> int:
    return timers.interval_ms if timers.receive_ms is None else timers.receive_ms
