"""The platform's own table as the judge of every switch, since no model of the vendor is published."""

from __future__ import annotations

from pathlib import Path

from tests.oracles.every_switch import Judge, own_refusals

ORACLE = "railfab's own table of NX-OS's lines, from Cisco's guides and batfish"


def judge(oracles: Path, scratch: Path) -> Judge:
    return own_refusals("nxos")
