"""Arista EOS: configuration as lines."""

from functools import partial

from railfab.platforms.contract import Platform
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.on_use import on_use

__all__ = ["PLATFORM"]


PLATFORM = Platform(
    name="eos",
    render=on_use(f"{__name__}.configuration", "render"),
    text=on_use(f"{__name__}.lines", "text"),
    parse=on_use(f"{__name__}.configuration", "parse"),
    telemetry=yaml_files.telemetry(__name__),
    capabilities=yaml_files.capabilities(__name__),
    lab=yaml_files.lab(__name__),
    suffix="cfg",
    differences=on_use(f"{__name__}.configuration", "differences"),
    startup=on_use(f"{__name__}.scope", "startup"),
    scoped=on_use(f"{__name__}.scope", "scoped"),
    hazards=partial(yaml_files.hazards, __name__),
)
