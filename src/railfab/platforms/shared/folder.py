"""The parts of a platform by the names of the files in its folder."""

from __future__ import annotations

from functools import partial
from importlib.resources import files
from importlib.util import resolve_name
from typing import Any

from railfab.platforms.contract import Platform
from railfab.platforms.shared import yaml_files
from railfab.platforms.shared.on_use import on_use

FUNCTIONS = ("render", "text", "parse", "differences", "refusals", "aligned", "startup", "external", "scoped", "twin")
"""Parts that are functions: `parse` is that of `parse.py`, which is imported when it is first called."""


def platform_of(package: str, *, suffix: str, name: str = "", **elsewhere: str) -> Platform:
    """Compose the platform of a package from its files; a part that has no file is absent.

    suffix, name: as of Platform; by default the name is that of the folder.
    elsewhere: `MODULE:FUNCTION` of a part that is not in the file of its name; `.lines:text` is one of this folder.
    Raises TypeError, naming the parts, where one that every platform has is missing, or one does not exist.
    """
    present = {file.name for file in files(package).iterdir()}
    modules = {part: f".{part}:{part}" for part in FUNCTIONS if f"{part}.py" in present} | elsewhere
    parts: dict[str, Any] = {part: _function(package, place) for part, place in modules.items()}
    if "dialect.yml" in present:
        parts["dialect"] = yaml_files.dialect(package)
    if "sections.yml" in present:
        parts["sections"] = partial(yaml_files.sections, package)
    if "interruptions.yml" in present:
        parts["interruptions"] = partial(yaml_files.interruptions, package)
    return Platform(
        name=name or package.rpartition(".")[2],
        suffix=suffix,
        telemetry_map=partial(yaml_files.telemetry, package),
        capabilities=yaml_files.capabilities(package),
        lab=yaml_files.lab(package),
        hazards=partial(yaml_files.hazards, package),
        hazard_gaps=partial(yaml_files.hazard_gaps, package),
        **parts,
    )


def _function(package: str, place: str) -> Any:
    module, _, name = place.partition(":")
    return on_use(resolve_name(module, package), name)
