"""Juniper's models as the judge of every switch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.oracles.archives import prepared
from tests.oracles.every_switch import Judge
from tests.oracles.junos import ARCHIVE, JunosModels

from railfab.device import DeviceModel
from railfab.platforms import platform
from railfab.platforms.junos.statements import rendered

ORACLE = "Juniper's YANG models of QFX 24.4R1, by libyang"


def judge(oracles: Path, scratch: Path) -> Judge:
    folder = scratch / "junos"
    folder.mkdir()
    models = prepared(JunosModels, oracles / ARCHIVE, folder / "models")
    render = platform("junos").render

    def said(switches: Sequence[DeviceModel]) -> Sequence[str]:
        configurations = (rendered(render(switch)) for switch in switches)
        return [line for configuration in configurations for line in models.refusals(configuration, folder)]

    return said
