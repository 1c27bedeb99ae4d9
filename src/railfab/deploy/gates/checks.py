"""The checks of the telemetry gate: the limit of each, and what it means to be above it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from railfab.intent.gates import GateLimits

GROWN = 1.5
"""Times its former value that a value must be to be new: what a window shows varies from one to the next."""
LEAST_BIT_ERRORS = 1e-9
"""Bit errors that no optics are blamed for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TelemetryCheck:
    """A check of the telemetry. key: of its limit in `change.gates`; none for a count that may not grow.

    relative: whether the limit is a multiple of what was before.
    """

    name: str
    unit: str
    problem: str
    key: str = ""
    relative: bool = False

    def limit(self, limits: GateLimits, before: float | None) -> float | None:
        """The largest value that passes; None where there is nothing to compare with."""
        stated = float(getattr(limits, self.key)) if self.key else 0.0
        if not self.relative:
            return max(stated, GROWN * (before or 0.0))
        if before is None:
            return None
        return stated * before + (LEAST_BIT_ERRORS if self.key == "bit_errors" else 0.0)

    def text(self, value: float) -> str:
        """A value with its unit."""
        return "none within the window" if value == inf else f"{value:.3g} {self.unit}"


LOSSLESS_DROPS = TelemetryCheck(
    name="lossless drops",
    unit="packets/s",
    key="lossless_drops",
    problem="drops packets of a lossless class. Compare PFC and headroom of both ends with railfab verify",
)
PAUSED_TIME = TelemetryCheck(
    name="paused",
    unit="of the time",
    key="paused",
    problem="is paused by its peer for most of the time. Follow the paused ports to the one that causes it",
)
STORM = TelemetryCheck(
    name="storms", unit="storms", problem="has a queue that the PFC watchdog found stuck. Check the peer of the port"
)
ECN = TelemetryCheck(
    name="marked",
    unit="of the packets",
    key="ecn_marked",
    problem="marks more packets with ECN. Compare kmin, kmax and the load of the uplinks with those before",
)
UNMARKED = TelemetryCheck(
    name="pauses without marks",
    unit="pause frames/s",
    key="unmarked_pauses",
    problem="sends pause frames and marks no packet, so that senders do not slow down. Compare kmin and kmax with xoff",
)
DAMAGED = TelemetryCheck(
    name="errors", unit="/min", key="errors", problem="receives damaged packets. Check cable, optics, FEC and MTU"
)
BITS = TelemetryCheck(
    name="bit errors",
    unit="of the bits",
    key="bit_errors",
    relative=True,
    problem="receives more bit errors. Clean the connectors of the link, then swap the optics",
)
RAILS = TelemetryCheck(
    name="rails",
    unit="less than the busiest rail",
    key="rail_asymmetry",
    problem="carries less traffic than the other rails. Look for ports and prefixes of this rail that are missing",
)
STEP_TIME = TelemetryCheck(
    name="step time",
    unit="s",
    key="step_time",
    relative=True,
    problem="takes longer for its steps. Look for drops, pauses, marks, uneven uplinks, and for a slow host",
)

CHECKS = (LOSSLESS_DROPS, STORM, PAUSED_TIME, UNMARKED, ECN, DAMAGED, BITS, RAILS, STEP_TIME)
"""The most harmful first."""
