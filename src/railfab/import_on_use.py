"""Names of a package whose modules are imported when a name is first used (PEP 562).

A command uses a small part of what the packages below it export, and each module that it imports costs it time: most of
all the data classes, whose methods Python 3.11 compiles at each start.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping
from importlib import import_module
from typing import Any


def imported_on_use(package: str, names: Mapping[str, Collection[str]]) -> Callable[[str], Any]:
    """The `__getattr__` of a package. names: of each of its modules, those that it exports."""
    modules = {name: f"{package}.{module}" for module, exported in names.items() for name in exported}

    def attribute(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}", name=name, obj=sys.modules[package])
        value = getattr(import_module(modules[name]), name)
        setattr(sys.modules[package], name, value)
        return value

    return attribute
