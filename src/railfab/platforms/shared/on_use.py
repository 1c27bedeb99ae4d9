"""Functions whose module is imported when they are first called."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def on_use(module: str, name: str) -> Callable[..., Any]:
    """The function of a module, which is imported at the first call: `plan` needs no parser of any platform."""

    def call(*arguments: Any, **options: Any) -> Any:
        return getattr(import_module(module), name)(*arguments, **options)

    return call
