"""Nokia SR Linux: JSON over gNMI."""

from __future__ import annotations

from functools import partial

from railfab.platforms.contract import Platform
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.on_use import on_use

__all__ = ["PLATFORM"]


PLATFORM = Platform(
    name="srlinux",
    render=on_use(f"{__name__}.render", "render"),
    text=on_use("railfab.platforms.shared.json_tree", "text"),
    parse=on_use(f"{__name__}.parse", "parse"),
    session=on_use(f"{__name__}.session", "GnmiSession"),
    telemetry=yaml_files.telemetry(__name__),
    capabilities=yaml_files.capabilities(__name__),
    dialect=yaml_files.dialect(__name__),
    lab=yaml_files.lab(__name__),
    suffix="json",
    differences=on_use(f"{__name__}.differences", "differences"),
    hazards=partial(yaml_files.hazards, __name__),
    refusals=on_use(f"{__name__}.refusals", "refusals"),
    aligned=on_use(f"{__name__}.alignment", "aligned"),
    startup=on_use(f"{__name__}.tree", "startup"),
    scoped=on_use(f"{__name__}.set_request", "scoped_text"),
    twin=on_use(f"{__name__}.twin", "twin"),
)
