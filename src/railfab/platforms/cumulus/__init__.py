"""NVIDIA Cumulus Linux 5.15 and later: the YAML tree of NVUE, which `nv config patch` and `nv config replace` take."""

from __future__ import annotations

from functools import partial

from railfab.platforms.contract import Platform
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.on_use import on_use

__all__ = ["PLATFORM"]


PLATFORM = Platform(
    name="cumulus",
    render=on_use(f"{__name__}.render", "render"),
    text=on_use(f"{__name__}.tree", "text"),
    parse=on_use(f"{__name__}.parse", "parse"),
    telemetry=yaml_files.telemetry(__name__),
    capabilities=yaml_files.capabilities(__name__),
    lab=yaml_files.lab(__name__),
    suffix="yaml",
    differences=on_use(f"{__name__}.differences", "differences"),
    hazards=partial(yaml_files.hazards, __name__),
    refusals=on_use(f"{__name__}.refusals", "refusals"),
)
