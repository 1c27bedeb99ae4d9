"""Router IDs that two switches have."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from railfab.device import DeviceModel
from railfab.findings import Finding, HazardCode, Severity

WRONG = HazardCode("wrong-router-id")


def with_duplicates(
    findings: Iterable[Finding], model: DeviceModel | None, switches: Iterable[DeviceModel]
) -> tuple[Finding, ...]:
    """The findings about a switch, of which one about its router ID is an error where another switch has it too.

    switches: models of the switches of the fabric.
    """
    findings = tuple(findings)
    router_id = model.bgp.router_id if model and model.bgp else None
    if model is None or router_id is None or all(finding.code != WRONG for finding in findings):
        return findings
    same = (switch.name for switch in switches if switch.bgp and switch.bgp.router_id == router_id)
    holder = next((name for name in same if name != model.name), None)
    if holder is None:
        return findings
    problem = f"it is also that of {holder}, and two speakers with one identifier refuse each other"
    return tuple(
        replace(finding, severity=Severity.ERROR, problem=problem) if finding.code == WRONG else finding
        for finding in findings
    )
