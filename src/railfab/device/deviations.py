"""Differences between the configuration of a switch and its intent, as findings."""

from __future__ import annotations

from collections.abc import Iterator

from railfab.device.diff import Change, changes
from railfab.device.model import DeviceModel
from railfab.findings import DifferenceCode, Finding, error
from railfab.units import counted

UNMODELLED = "unmodelled"


def deviations(running: DeviceModel, intended: DeviceModel) -> Iterator[Finding]:
    """One finding per value that differs from the intent, and one for all lines that the model cannot express."""
    for change in changes(running, intended):
        where = f"{intended.name}: {change.path}"
        if change.path == UNMODELLED:
            yield error(DifferenceCode.UNMODELLED_DIFFERENCE, where, _lines(change), "Deploy the intent")
        else:
            yield error(DifferenceCode.CONFIGURATION_DIFFERS, where, change.problem, "Deploy the intent")


def _lines(change: Change) -> str:
    more = [line for line in change.before if line not in change.after]
    return f"has {counted(len(more), 'line')} that the model cannot express, the first is '{more[0]}'"
