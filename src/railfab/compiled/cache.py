"""Place of compiled code between processes: one directory for each state of the sources."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

KEEP_DAYS = 30
"""A directory of other sources, which no process has used for so long, is removed."""

_PREFIX = "kernel-"


def cache_base() -> Path | None:
    """The directory of all compiled code: in $NUMBA_CACHE_DIR, $XDG_CACHE_HOME or ~/.cache; None without a home."""
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(chosen) / "railfab"
    if shared := os.environ.get("XDG_CACHE_HOME"):
        return Path(shared) / "railfab"
    try:
        return Path.home() / ".cache" / "railfab"
    except RuntimeError:
        return None


def digest_of(sources: Iterable[Path], others: Iterable[str]) -> str:
    """Digest of all that compiled code depends on, of which numba's own index does not notice all: a changed callee."""
    digest = hashlib.sha256(repr((sys.implementation.cache_tag, *others)).encode())
    for path in sorted(sources):
        digest.update(path.name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def cache_directory(base: Path | None, digest: str) -> Path | None:
    """The directory for this digest, made and marked as used now. One that cannot be written serves if it is filled, as
    in the image of a container; else None."""
    if base is None:
        return None
    path = base / f"{_PREFIX}{digest}"
    try:
        fresh = not path.is_dir()
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
        os.utime(path)
    except OSError:
        return path if is_filled(path) else None
    if fresh:
        _remove_unused(base)
    return path


def is_filled(path: Path) -> bool:
    """Whether a directory has compiled code."""
    return any(path.glob("*/*.nbi"))


def _remove_unused(base: Path) -> None:
    """Remove what no process has used for `KEEP_DAYS`; another process may be removing the same."""
    oldest = time.time() - KEEP_DAYS * 86_400
    with suppress(OSError):
        for path in base.glob(f"{_PREFIX}*"):
            with suppress(OSError):
                if path.stat().st_mtime < oldest:
                    shutil.rmtree(path)
