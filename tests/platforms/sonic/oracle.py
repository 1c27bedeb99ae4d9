"""SONiC's models as the judge of every switch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.oracles.archives import prepared
from tests.oracles.every_switch import Judge
from tests.oracles.sonic import ARCHIVE, SonicModels
from tests.platforms.sonic.ds5000 import laid_over

from railfab.device import DeviceModel
from railfab.platforms import platform

ORACLE = "SONiC's YANG models of August 2026, by libyang"


def judge(oracles: Path, scratch: Path) -> Judge:
    folder = scratch / "sonic"
    folder.mkdir()
    models = prepared(SonicModels, oracles / ARCHIVE, folder / "models")
    render = platform("sonic").render

    def complaints(switches: Sequence[DeviceModel]) -> Sequence[str]:
        said = models.complaints_of_each((laid_over(render(switch)) for switch in switches), folder)
        return [line for lines in said for line in lines]

    return complaints
