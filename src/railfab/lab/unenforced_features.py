"""Settings that the image of a platform takes in a lab without enforcing them."""

from __future__ import annotations

from collections.abc import Mapping

from railfab.lab.contract import LabPlan, Requirement
from railfab.platforms import platform

ON_A_SWITCH = "Test it on a switch"


def unenforced(plan: LabPlan) -> Mapping[str, tuple[str, ...]]:
    """What is not enforced, in sentences without a full stop, by platform of the switches."""
    names = sorted({model.platform for model in plan.models.values()})
    found = {name: tuple(line.rstrip(".") for line in platform(name).capabilities.virtual) for name in names}
    return {name: lines for name, lines in found.items() if lines}


def unenforced_requirements(plan: LabPlan) -> tuple[Requirement, ...]:
    """The same as requirements that `lab doctor` shows, and with which a lab boots all the same."""
    return tuple(
        Requirement(subject=f"{name} ({platform(name).lab.kind})", problem=line, remedy=_elsewhere(name), fatal=False)
        for name, lines in unenforced(plan).items()
        for line in lines
    )


def _elsewhere(name: str) -> str:
    """Where a platform can be tested: the twin does not serve each of them."""
    return ON_A_SWITCH if platform(name).twin is None else f"{ON_A_SWITCH}, or in the twin"
