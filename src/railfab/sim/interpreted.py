"""The kernel without a compiler: its functions run on Python's own numbers, which are faster than numpy's scalars.

The fields of numpy's records wrap around at 32 bits where the compiled kernel has 64; Python's integers do not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import make_dataclass
from functools import cache, wraps
from operator import attrgetter
from typing import Any, TypeVar, cast

import numpy as np

_Function = TypeVar("_Function", bound=Callable[..., Any])


class _Values(list[Any]):
    """An array of numbers, or of records."""

    @property
    def size(self) -> int:
        return len(self)


class _Rows(_Values):
    """An array of records: an assignment copies the fields, as in numpy."""

    def __setitem__(self, place: Any, other: Any) -> None:
        mine = self[place]
        for name in mine.__slots__:
            setattr(mine, name, getattr(other, name))


@cache
def _row(names: tuple[str, ...]) -> type[Any]:
    return make_dataclass("Row", names, slots=True, eq=False)


def _taken(array: np.ndarray[Any, Any]) -> _Values:
    names = array.dtype.names
    if names is None:
        return _Values(array.tolist())
    row = _row(names)
    return _Rows([row(*values) for values in array.tolist()])


def _given_back(array: np.ndarray[Any, Any], values: _Values) -> None:
    names = array.dtype.names
    array[:] = list(map(attrgetter(*names), values)) if names else values


def on_python_objects(function: _Function) -> _Function:
    """Run a function that takes arrays, and tuples of arrays, on lists in their place; afterwards they are written."""

    @wraps(function)
    def run(*arguments: Any) -> Any:
        pairs: list[tuple[np.ndarray[Any, Any], _Values]] = []

        def taken(argument: Any) -> Any:
            if isinstance(argument, tuple):
                return type(argument)(*(taken(part) for part in argument))
            if isinstance(argument, np.ndarray):
                pairs.append((argument, _taken(argument)))
                return pairs[-1][1]
            return argument

        result = function(*map(taken, arguments))
        for array, values in pairs:
            _given_back(array, values)
        return result

    return cast(_Function, run)
