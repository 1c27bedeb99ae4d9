"""vtysh as the judge of every switch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.oracles.every_switch import Judge
from tests.platforms.frr.grammar import refused_lines

from railfab.device import DeviceModel
from railfab.fabric.design import render_text

ORACLE = "FRR, by `vtysh -C`"


def judge(oracles: Path, scratch: Path) -> Judge:
    def said(switches: Sequence[DeviceModel]) -> Sequence[str]:
        file, refused = scratch / "frr.conf", []
        for switch in switches:
            file.write_text(render_text(switch))
            refused += [f"line {number}" for number in refused_lines(file)]
        return refused

    return said
