"""Arista's AVD as the judge of every switch: its schema, and the lines that it renders from the same model."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.oracles.every_switch import Judge

from railfab.device import DeviceModel

ORACLE = "PyAVD: its schema, and its lines"


def judge(oracles: Path, scratch: Path) -> Judge:
    from tests.platforms.eos.test_eos_avd import disagreements

    def said(switches: Sequence[DeviceModel]) -> Sequence[str]:
        return [text for switch in switches for text in disagreements(switch)]

    return said
