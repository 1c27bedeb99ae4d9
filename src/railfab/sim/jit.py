"""Compile the kernel with numba where it is installed; without it the same functions run interpreted."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

_Function = TypeVar("_Function", bound=Callable[..., Any])

INTERPRETED_FACTOR = 400
"""How many times slower the interpreted kernel is; measured in benchmarks/simulator.md."""


def _sources_digest() -> str:
    """Digest of the kernel's sources: numba's own cache does not notice a change of a called function."""
    digest = hashlib.sha256()
    for path in (Path(__file__), *sorted((Path(__file__).parent / "kernel").glob("*.py"))):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _cache_dir() -> Path | None:
    """Directory for compiled code, or None where none can be written."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    path = Path(os.environ.get("NUMBA_CACHE_DIR") or Path(base) / "railfab") / f"kernel-{_sources_digest()}"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError:
        return None
    return path if os.access(path, os.W_OK) else None


def _compiler() -> tuple[Callable[..., Any] | None, bool]:
    """Numba's decorator, and whether compiled code is kept for the next process."""
    if os.environ.get("RAILFAB_INTERPRETED"):
        return None, False
    try:
        import numba
    except ImportError:
        return None, False
    directory = _cache_dir()
    if directory is not None:
        numba.config.CACHE_DIR = str(directory)  # type: ignore[attr-defined]
    return numba.njit, directory is not None


_NJIT, CACHED = _compiler()
COMPILED = _NJIT is not None
"""Whether the kernel is compiled."""


def compiled(function: _Function) -> _Function:
    """Decorate an entry point of the kernel."""
    return _NJIT(cache=CACHED, nogil=True, error_model="numpy", _nrt=False)(function) if _NJIT else function  # type: ignore[no-any-return]


def inlined(function: _Function) -> _Function:
    """Decorate a function of the kernel whose body is copied into its callers."""
    return _NJIT(forceinline=True, nogil=True, error_model="numpy", _nrt=False)(function) if _NJIT else function  # type: ignore[no-any-return]


def called(function: _Function) -> _Function:
    """Decorate a function of the kernel that stays a call: not on the path of every packet."""
    return _NJIT(nogil=True, error_model="numpy", _nrt=False)(function) if _NJIT else function  # type: ignore[no-any-return]
