"""A kernel of bytes and integers without a compiler: its functions run on memoryviews, which have Python's integers."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np


def on_memoryviews(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run a function that takes arrays, and tuples of arrays, on the memory of these arrays."""

    def viewed(argument: Any) -> Any:
        if isinstance(argument, tuple):
            return type(argument)(*map(viewed, argument))
        return argument.data if isinstance(argument, np.ndarray) else argument

    @wraps(function)
    def run(*arguments: Any) -> Any:
        return function(*map(viewed, arguments))

    return run
