"""Compile the kernel with numba where it is installed; without it the same functions run interpreted.

RAILFAB_INTERPRETED=1 runs the kernel interpreted in any case. Compiled code is kept in `cache_base()`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from railfab.sim.compile_cache import cache_base, cache_directory, digest_of
from railfab.sim.interpreted import on_python_objects

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of functions that only the kernel calls: else a third of the compile time goes into wrappers for Python."""


def _why_interpreted() -> str | None:
    """Why the kernel is not compiled; None where it is."""
    if os.environ.get("RAILFAB_INTERPRETED"):
        return "RAILFAB_INTERPRETED is set. Unset it"
    try:
        import numba
    except ModuleNotFoundError as error:
        if error.name not in ("numba", "llvmlite"):
            raise
        return "numba is not installed. Install it with: pip install 'railfab[sim]'"
    except ImportError as error:
        return f"numba cannot be imported: {error}. Install it with: pip install --upgrade 'railfab[sim]'"
    if numba.config.DISABLE_JIT:
        return "NUMBA_DISABLE_JIT is set. Unset it"
    return None


def _kernel_directory() -> Path | None:
    """Where the compiled kernel is kept; None where it is not, and that cannot be written."""
    import llvmlite.binding
    import numba
    import numpy as np

    folder = Path(__file__).resolve().parent
    sources = (folder / "jit.py", folder / "compiler.py", *(folder / "kernel").glob("*.py"))
    versions = (numba.__version__, np.__version__, llvmlite.binding.get_host_cpu_name())
    return cache_directory(cache_base(), digest_of(sources, (str(folder), *versions)))


WHY_INTERPRETED = _why_interpreted()
DIRECTORY = None if WHY_INTERPRETED else _kernel_directory()


def _jit(function: Callable[..., Any], **options: Any) -> Any:
    import numba

    return numba.njit(**_OPTIONS, **options)(function)


def compiled(function: _Function) -> _Function:
    """Decorate an entry point of the kernel, which takes arrays of records."""
    if WHY_INTERPRETED:
        return on_python_objects(function)
    dispatcher = _jit(function)
    if DIRECTORY:
        from railfab.sim.kept import keep

        keep(dispatcher, DIRECTORY)
    return dispatcher  # type: ignore[no-any-return]


def inlined(function: _Function) -> _Function:
    """Decorate a function of the kernel whose body is copied into its callers."""
    return function if WHY_INTERPRETED else _jit(function, forceinline=True, **_INNER)


def called(function: _Function) -> _Function:
    """Decorate a function of the kernel that stays a call: not on the path of every packet."""
    return function if WHY_INTERPRETED else _jit(function, **_INNER)


def _intrinsic(function: _Function, otherwise: _Function) -> _Function:
    """A function whose type and code numba is given; the other one where nothing is compiled."""
    if WHY_INTERPRETED:
        return otherwise
    from numba.extending import intrinsic

    return intrinsic(function)  # type: ignore[no-any-return]


def _prefetch(_typing: Any, array: Any, index: Any) -> Any:
    from numba.core.types import void

    from railfab.sim import compiler

    return void(array, index), compiler.prefetch


def _from_start(_typing: Any, arrays: Any) -> Any:
    from railfab.sim import compiler

    return compiler.from_start(arrays)(arrays), compiler.same


prefetch = _intrinsic(_prefetch, lambda _array, _index: None)
"""prefetch(array, index): have an element brought into the caches, without waiting for it."""

from_start = _intrinsic(_from_start, lambda arrays: arrays)
"""from_start(arrays): these arrays, without negative indices, which would cost three instructions at each access."""
