"""Community SONiC: CONFIG_DB as JSON, with FRR configured from it."""

from __future__ import annotations

from functools import partial

from railfab.platforms.contract import Platform
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.on_use import on_use

__all__ = ["PLATFORM"]


PLATFORM = Platform(
    name="sonic",
    render=on_use(f"{__name__}.render", "render"),
    text=on_use(f"{__name__}.tables", "text"),
    parse=on_use(f"{__name__}.parse", "parse"),
    telemetry=yaml_files.telemetry(__name__),
    capabilities=yaml_files.capabilities(__name__),
    lab=yaml_files.lab(__name__),
    suffix="json",
    running_text=on_use(f"{__name__}.running", "running_text"),
    differences=on_use(f"{__name__}.differences", "differences"),
    hazards=partial(yaml_files.hazards, __name__),
    refusals=on_use(f"{__name__}.schema", "refusals"),
    startup=on_use(f"{__name__}.virtual_switch", "startup"),
    scoped=on_use(f"{__name__}.scope", "scoped"),
    twin=on_use(f"{__name__}.twin", "twin"),
)
