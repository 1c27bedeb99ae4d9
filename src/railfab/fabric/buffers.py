"""Findings about the buffers of all switches."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device import SwitchBuffers
from railfab.findings import DesignCode, Finding, warning
from railfab.intent import FabricIntent
from railfab.qos import buffer_findings
from railfab.remedies import Choice, remedy
from railfab.units import listed


def all_buffer_findings(buffers: tuple[SwitchBuffers, ...], intent: FabricIntent) -> Iterator[Finding]:
    """Of every kind of switch; findings with the same text for all of them are reported once."""
    said: set[str] = set()
    for kind in buffers:
        for finding in buffer_findings(kind.where, kind.plan):
            if (line := f"{finding.severity} {finding.problem}") not in said:
                said.add(line)
                yield finding
    yield from _unused_ramps(buffers, intent)


def _unused_ramps(buffers: tuple[SwitchBuffers, ...], intent: FabricIntent) -> Iterator[Finding]:
    """Check that each stated ramp is for a speed that lossless ports have."""
    lossless = intent.profile.lossless
    if lossless is None or isinstance(lossless.ecn, bool):
        return
    speeds = sorted({port.load.rate_gbps for kind in buffers for port in kind.plan.uncut.ports})
    for rate in sorted(set(lossless.ecn) - set(speeds)):
        left = {speed: ramp.model_dump() for speed, ramp in lossless.ecn.items() if speed != rate}
        yield warning(
            DesignCode.ECN_UNUSED,
            f"profile.lossless.ecn.{rate}",
            f"no lossless port has {rate} Gb/s, so its thresholds are not used",
            remedy(
                Choice("it", {"profile.lossless.ecn": left or True}, "remove"),
                Choice(f"the speed that is meant: {listed([str(speed) for speed in speeds])}", verb="state"),
            ),
        )
