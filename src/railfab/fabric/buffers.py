"""Findings about the buffers of all switches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import get_args

from railfab.device import SwitchBuffers
from railfab.findings import DesignCode, Finding, warning
from railfab.intent import FabricIntent, Ramp, SwitchRole
from railfab.qos import buffer_findings
from railfab.text.counted import listed
from railfab.text.remedies import Choice, remedy

ROLES: tuple[SwitchRole, ...] = get_args(SwitchRole)


def all_buffer_findings(buffers: tuple[SwitchBuffers, ...], intent: FabricIntent) -> Iterator[Finding]:
    """Findings of every kind of switch; those with the same text for all of them are reported once."""
    said: set[str] = set()
    for kind in buffers:
        for finding in buffer_findings(kind.where, kind.plan):
            if (line := f"{finding.severity} {finding.problem}") not in said:
                said.add(line)
                yield finding
    yield from _unused_ramps(buffers, intent)


def _unused_ramps(buffers: tuple[SwitchBuffers, ...], intent: FabricIntent) -> Iterator[Finding]:
    """Check that a lossless port uses each stated ramp."""
    lossless = intent.profile.lossless
    if lossless is None:
        return
    speeds = {(kind.plan.traits.role, port.load.rate_gbps) for kind in buffers for port in kind.plan.uncut.ports}
    used = {(lossless.ramp_key(rate, role), rate) for role, rate in speeds}
    stated = {key: ramps for role in ROLES for key, ramps in lossless.ramps(role).items()}
    for key, ramps in stated.items():
        among = sorted({rate for role, rate in speeds if key in ("ecn", f"ecn_by_role.{role}")})
        for rate in sorted(rate for rate in ramps if (key, rate) not in used):
            yield _unused(key, rate, ramps, among)


def _unused(key: str, rate: int, ramps: Mapping[int, Ramp], speeds: Sequence[int]) -> Finding:
    """The finding about a ramp for a speed; speeds: of the lossless ports that the key is for."""
    left = {speed: ramp.model_dump() for speed, ramp in ramps.items() if speed != rate}
    remove = Choice("it", {f"profile.lossless.{key}": left or (True if key == "ecn" else None)}, "remove")
    meant = [Choice(f"the speed that is meant: {listed([str(speed) for speed in speeds])}", verb="state")]
    if rate in speeds:
        problem = f"ecn_by_role states the thresholds of all ports with {rate} Gb/s, so these are not used"
    else:
        ports = "lossless port" if key == "ecn" else f"lossless port of a {key.rpartition('.')[2].replace('_', '-')}"
        problem = f"no {ports} has {rate} Gb/s, so its thresholds are not used"
    choices = meant if speeds and rate not in speeds else []
    return warning(DesignCode.ECN_UNUSED, f"profile.lossless.{key}.{rate}", problem, remedy(remove, *choices))
