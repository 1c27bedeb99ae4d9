"""YAML files of railfab's own packages, read without limits by PyYAML's loader."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from railfab.startup_cache import CACHE


def packaged(package: str, name: str) -> Any:
    """The content of a YAML file of a package; a new object at each call."""
    return CACHE.result("yaml", files(package).joinpath(name).read_text(encoding="utf-8"), _loaded)


def _loaded(text: str) -> Any:
    import yaml  # most starts have the content of the file from the last one

    from railfab.yaml_reader.composer import PARSER

    return yaml.load(text, Loader=PARSER)
