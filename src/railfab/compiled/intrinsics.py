"""Functions of a kernel that numba has no word for, and what they do where nothing is compiled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from railfab.compiled.kernel import WHY_INTERPRETED

_Function = TypeVar("_Function", bound=Callable[..., Any])


def _intrinsic(function: _Function, otherwise: _Function) -> _Function:
    """A function whose type and code numba is given; the other one where nothing is compiled."""
    if WHY_INTERPRETED:
        return otherwise
    from numba.extending import intrinsic

    return intrinsic(function)  # type: ignore[no-any-return]


def _prefetch(_typing: Any, array: Any, index: Any) -> Any:
    from numba.core.types import void

    from railfab.compiled import compiler

    return void(array, index), compiler.prefetch


def _from_start(_typing: Any, arrays: Any) -> Any:
    from railfab.compiled import compiler

    return compiler.from_start(arrays)(arrays), compiler.same


def _load64(_typing: Any, array: Any, index: Any) -> Any:
    from numba.core.types import int64

    from railfab.compiled import compiler

    return int64(array, index), compiler.load64


def _copy(_typing: Any, source: Any, start: Any, size: Any, out: Any, at: Any) -> Any:
    from numba.core.types import int64

    from railfab.compiled import compiler

    return int64(source, start, size, out, at), compiler.copy


def _sliced(source: Any, start: int, size: int, out: Any, at: int) -> int:
    out[at : at + size] = source[start : start + size]
    return at + size


prefetch = _intrinsic(_prefetch, lambda _array, _index: None)
"""prefetch(array, index): have an element brought into the caches, without waiting for it."""

from_start = _intrinsic(_from_start, lambda arrays: arrays)
"""from_start(arrays): these arrays, without negative indices, which would cost three instructions at each access."""

load64 = _intrinsic(_load64, lambda array, index: int.from_bytes(array[index : index + 8], "little"))
"""load64(bytes, index): eight bytes of an array as one little-endian integer; signed where it is compiled."""

copy = _intrinsic(_copy, _sliced)
"""copy(source, start, size, out, at): copy bytes, which may overlap; the place behind them."""
