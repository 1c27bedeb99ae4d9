"""Juniper Junos OS and Junos OS Evolved on QFX switches: configuration in braces, loaded with `load override`."""

from functools import partial

from railfab.platforms.contract import Platform
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.on_use import on_use

__all__ = ["PLATFORM"]


PLATFORM = Platform(
    name="junos",
    render=on_use(f"{__name__}.render", "render"),
    text=on_use("railfab.platforms.shared.brace_text", "brace_text"),
    parse=on_use(f"{__name__}.parse", "parse"),
    telemetry=yaml_files.telemetry(__name__),
    capabilities=yaml_files.capabilities(__name__),
    lab=yaml_files.lab(__name__),
    suffix="conf",
    differences=on_use(f"{__name__}.parse", "differences"),
    hazards=partial(yaml_files.hazards, __name__),
)
