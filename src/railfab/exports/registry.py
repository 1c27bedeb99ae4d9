"""The formats, found by the names of the modules in `formats`."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from railfab.errors import RailfabError
from railfab.exports import formats
from railfab.exports.contract import ExportFormat
from railfab.text.remedies import either


@cache
def export_formats() -> dict[str, ExportFormat]:
    """Every format by its name, sorted: `topograph` is that of `topograph.py`."""
    names = sorted(module.name for module in iter_modules(formats.__path__))
    return {name.replace("_", "-"): import_module(f"{formats.__name__}.{name}").EXPORT for name in names}


def export_named(name: str) -> ExportFormat:
    """The format of a name. Raises RailfabError, with the nearest one, for another name."""
    known = export_formats()
    if name in known:
        return known[name]
    raise RailfabError(name, "is no format", f"Use {either([*known])}")
