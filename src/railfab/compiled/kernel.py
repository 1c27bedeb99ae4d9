"""Compile a kernel with numba where it is installed; without it the same functions run interpreted.

RAILFAB_INTERPRETED=1 runs every kernel interpreted in any case. Compiled code is kept in `cache_base()`.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from railfab.compiled.cache import cache_base, cache_directory, digest_of

_Function = TypeVar("_Function", bound=Callable[..., Any])

_OPTIONS = {"nogil": True, "error_model": "numpy", "_nrt": False}
_INNER = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Options of functions that only the kernel calls: else a third of the compile time goes into wrappers for Python."""


def _why_interpreted() -> str | None:
    """Reason why kernels are not compiled; None where they are."""
    if os.environ.get("RAILFAB_INTERPRETED"):
        return "RAILFAB_INTERPRETED is set. Unset it"
    try:
        import numba
    except ModuleNotFoundError as error:
        if error.name not in ("numba", "llvmlite"):
            raise
        return "numba is not installed. Install it with: pip install numba"
    except ImportError as error:
        return f"numba cannot be imported: {error}. Install it with: pip install --upgrade numba"
    if numba.config.DISABLE_JIT:
        return "NUMBA_DISABLE_JIT is set. Unset it"
    return None


WHY_INTERPRETED = _why_interpreted()


def _jit(function: Callable[..., Any], **options: Any) -> Any:
    import numba

    return numba.njit(**_OPTIONS, **options)(function)


class Kernel:
    """The entry points of one kernel, kept together on disk.

    sources: all that compiled code depends on. interpreted: how an entry point runs where nothing is compiled.
    directory: where the compiled code is kept; None where nothing is compiled, or it is not kept and cannot be.
    """

    def __init__(self, *sources: Path, interpreted: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        self._interpreted = interpreted
        self.directory = None if WHY_INTERPRETED else _directory(sources)

    def compiled(self, function: _Function) -> _Function:
        """Decorate an entry point of the kernel: arguments are numbers, arrays and tuples of arrays."""
        if WHY_INTERPRETED:
            return self._interpreted(function)  # type: ignore[return-value]
        dispatcher = _jit(function)
        if self.directory:
            from railfab.compiled.kept import keep

            keep(dispatcher, self.directory)
        return dispatcher  # type: ignore[no-any-return]


def inlined(function: _Function) -> _Function:
    """Decorate a function of a kernel whose body is copied into its callers."""
    return function if WHY_INTERPRETED else _jit(function, forceinline=True, **_INNER)


def called(function: _Function) -> _Function:
    """Decorate a function of a kernel that stays a call: not on the hot path."""
    return function if WHY_INTERPRETED else _jit(function, **_INNER)


def _directory(sources: tuple[Path, ...]) -> Path | None:
    """Directory where a compiled kernel is kept; None where it is not, and that cannot be written."""
    import llvmlite.binding
    import numba
    import numpy as np

    ours = Path(__file__).resolve().parent.glob("*.py")
    versions = (numba.__version__, np.__version__, llvmlite.binding.get_host_cpu_name())
    checked = f"NUMBA_BOUNDSCHECK={numba.config.BOUNDSCHECK}"  # which numba's index does not notice
    folders = sorted({str(path.parent) for path in sources})
    return cache_directory(cache_base(), digest_of((*ours, *sources), (*folders, *versions, checked)))
