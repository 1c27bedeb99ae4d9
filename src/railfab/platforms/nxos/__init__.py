"""Cisco NX-OS on Nexus 9000: the running configuration as lines."""

from functools import partial

from railfab.platforms.contract import Platform
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.on_use import on_use

__all__ = ["PLATFORM"]


PLATFORM = Platform(
    name="nxos",
    render=on_use(f"{__name__}.render", "render"),
    text=on_use(f"{__name__}.lines", "text"),
    parse=on_use(f"{__name__}.parse", "parse"),
    telemetry=yaml_files.telemetry(__name__),
    capabilities=yaml_files.capabilities(__name__),
    lab=yaml_files.lab(__name__),
    suffix="cfg",
    differences=on_use(f"{__name__}.parse", "differences"),
    refusals=on_use(f"{__name__}.known_lines", "refusals"),
    hazards=partial(yaml_files.hazards, __name__),
)
