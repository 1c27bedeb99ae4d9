"""Juniper's models as the judge of every switch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.oracles.every_switch import Judge
from tests.oracles.junos import ARCHIVE, JunosModels, NotInModels

from railfab.device import DeviceModel
from railfab.platforms import platform
from railfab.platforms.junos.statements import rendered

ORACLE = "Juniper's YANG models of QFX 24.4R1, by libyang"


def judge(oracles: Path, scratch: Path) -> Judge:
    folder = scratch / "junos"
    folder.mkdir()
    models, render = JunosModels(oracles / ARCHIVE, folder), platform("junos").render

    def said(switches: Sequence[DeviceModel]) -> Sequence[str]:
        try:
            documents = [models.document(rendered(render(switch))) for switch in switches]
        except NotInModels as error:
            return [f"not in the models: {error}"]
        return models.validated(documents, folder)

    return said
