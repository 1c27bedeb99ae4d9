"""Causes in the settings of NICs: those that differ from the switch port at the other end of the cable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from railfab.diagnosis.model import CandidateCause, Evidence, EvidenceKind, FaultPlace
from railfab.diagnosis.observations import Observations
from railfab.fabric.nic_agreement import NicMismatch


def nic_causes(seen: Observations) -> Iterator[CandidateCause]:
    """A cause for each kind of setting in which NICs are not as the intent wants them, at all their cables.

    Where the switch alone differs, its configuration shows the cause.
    """
    alike: dict[str, list[NicMismatch]] = defaultdict(list)
    for mismatch in seen.agreement.mismatches() if seen.agreement else ():
        if not mismatch.nic_is_planned:
            alike[mismatch.code.removesuffix("-mismatch")].append(mismatch)
    for code, mismatches in alike.items():
        hosts = dict.fromkeys(FaultPlace(host=mismatch.link.host) for mismatch in mismatches)
        ports = (FaultPlace(mismatch.link.switch, mismatch.link.switch_port) for mismatch in mismatches)
        yield CandidateCause(code=code, places=(*hosts, *ports), evidence=tuple(map(_evidence, mismatches)))


def _evidence(mismatch: NicMismatch) -> Evidence:
    link = mismatch.link
    return Evidence(
        kind=EvidenceKind.CONFIGURATION,
        place=FaultPlace(link.switch, link.switch_port),
        text=f"{link.host} {link.name}: {mismatch.said}",
        source=f"agent of {link.host}",
    )
