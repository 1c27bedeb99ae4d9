"""SONiC's models as the judge of every switch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.oracles.every_switch import Judge
from tests.oracles.sonic import ARCHIVE, SonicModels, without_newer
from tests.platforms.sonic.ds5000 import laid_over

from railfab.device import DeviceModel
from railfab.platforms import platform

ORACLE = "SONiC's YANG models of August 2026, by libyang"


def judge(oracles: Path, scratch: Path) -> Judge:
    folder = scratch / "sonic"
    folder.mkdir()
    models, render = SonicModels(oracles / ARCHIVE, folder), platform("sonic").render

    def said(switches: Sequence[DeviceModel]) -> Sequence[str]:
        problems: list[str] = []
        files = [folder / f"{number}.xml" for number in range(len(switches))]
        for file, switch in zip(files, switches, strict=True):
            file.write_text("\n".join(models.xml(without_newer(laid_over(render(switch))), problems)))
        return [*problems, *models.said_of(files)]

    return said
