"""What compiles this kernel, and how it runs where nothing is compiled: on memoryviews, whose numbers are Python's."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import numpy as np

from railfab.compiled import Kernel, called, inlined
from railfab.compiled.intrinsics import from_start, load64

__all__ = ["DIRECTORY", "called", "compiled", "from_start", "inlined", "load64"]


def _view(argument: Any) -> Any:
    if isinstance(argument, tuple):
        return type(argument)(*map(_view, argument))
    return argument.data if isinstance(argument, np.ndarray) else argument


def on_memoryviews(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run a function that takes arrays, and named tuples of arrays, on memoryviews of them."""

    @wraps(function)
    def run(*arguments: Any) -> Any:
        return function(*map(_view, arguments))

    return run


_FOLDER = Path(__file__).resolve().parent
_KERNEL = Kernel(*_FOLDER.glob("*.py"), interpreted=on_memoryviews)
DIRECTORY = _KERNEL.directory
compiled = _KERNEL.compiled
