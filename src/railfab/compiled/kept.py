"""Compiled functions that are kept on disk. Needs numba.

Numba's public setting (`cache=True`, NUMBA_CACHE_DIR) has one directory for all functions of a process, needs it to be
writable, fails on a damaged file, and registers all functions of numba before it loads one, which takes longer than a
short replay. It has no public interface for another way, so that its classes are derived from here.
"""

from __future__ import annotations

import logging
import pickle
from hashlib import sha256
from pathlib import Path
from typing import Any

from numba import config
from numba.core.caching import CompileResultCacheImpl, FunctionCache, UserProvidedCacheLocator
from numba.core.serialize import dumps
from numba.core.sigutils import normalize_signature

logger = logging.getLogger(__name__)

_DAMAGED = (
    pickle.UnpicklingError,
    ArithmeticError,
    AttributeError,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""Errors of unpickling damaged content."""


class _DamagedCode(ValueError):
    """Content is not what was written, or not what was asked for."""


class _Locator(UserProvidedCacheLocator):  # type: ignore[misc]
    """A directory that need not be writable once it is there."""

    def ensure_cache_path(self) -> None:
        if not Path(self.get_cache_path()).is_dir():
            super().ensure_cache_path()


class _KeptCode(CompileResultCacheImpl):  # type: ignore[misc]
    """Code kept of a compilation, with a checksum: a disk that was full or lost power leaves code that crashes."""

    _locator_classes = (_Locator,)

    def reduce(self, compiled: Any) -> tuple[bytes, bytes]:
        content = dumps(super().reduce(compiled))
        return sha256(content).digest(), content

    def rebuild(self, target_context: Any, kept: tuple[bytes, bytes]) -> Any:
        checksum, content = kept
        if sha256(content).digest() != checksum:
            raise _DamagedCode("the checksum is another")
        return super().rebuild(target_context, pickle.loads(content))


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache, where a damaged file means compiling again, and a full or read-only disk doing without."""

    _impl_class = _KeptCode

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load without what super() does first: registering all of numba's functions, which only compiling needs."""
        try:
            return self._loaded(sig, target_context)
        except OSError as error:
            logger.info("%s: not read (%s)", self.cache_path, error)
        except _DAMAGED as error:
            logger.info("%s: damaged (%r), compiled again", self.cache_path, error)
        return None

    def _loaded(self, sig: Any, target_context: Any) -> Any:
        """Code that is kept for these types of arguments.

        Numba writes its index before the code that it names: two processes at once, or one that is killed in between,
        leave the code of other types there, which would read the arguments as something else.
        """
        code = self._load_overload(sig, target_context)
        if code is not None and code.signature.args != normalize_signature(sig)[0]:
            raise _DamagedCode(f"for {code.signature.args}")
        return code

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            try:
                super().save_overload(sig, data)
            except _DAMAGED as error:
                logger.info("%s: damaged (%r), written again", self.cache_path, error)
                self.flush()
                super().save_overload(sig, data)
        except OSError as error:
            logger.info("%s: not written (%s)", self.cache_path, error)


def keep(dispatcher: Any, directory: Path) -> None:
    """Keep what this function is compiled to in a directory; numba's own setting stays as the user has it."""
    users = config.CACHE_DIR
    config.CACHE_DIR = str(directory)
    try:
        dispatcher._cache = _KernelCache(dispatcher.py_func)
    finally:
        config.CACHE_DIR = users
