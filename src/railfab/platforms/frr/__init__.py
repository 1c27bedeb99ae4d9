"""FRRouting on Linux: integrated configuration, pushed with frr-reload.py over SSH."""

from functools import partial

from railfab.platforms.contract import Platform
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.on_use import on_use

__all__ = ["PLATFORM"]


PLATFORM = Platform(
    name="frr",
    render=on_use(f"{__name__}.render", "render"),
    text=on_use(f"{__name__}.lines", "text"),
    external=on_use(f"{__name__}.external", "external"),
    parse=on_use(f"{__name__}.parse", "parse"),
    session=on_use(f"{__name__}.session", "FrrSession"),
    telemetry=yaml_files.telemetry(__name__),
    capabilities=yaml_files.capabilities(__name__),
    dialect=yaml_files.dialect(__name__),
    lab=yaml_files.lab(__name__),
    suffix="conf",
    differences=on_use(f"{__name__}.parse", "differences"),
    hazards=partial(yaml_files.hazards, __name__),
    refusals=on_use(f"{__name__}.commands", "refusals"),
    aligned=on_use(f"{__name__}.aligned", "aligned"),
)
