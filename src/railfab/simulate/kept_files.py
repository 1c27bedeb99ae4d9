"""Results on disk beside the compiled kernel: a file for each key.

Several processes may read and write at once: a file is written whole under another name and then renamed. A damaged
file counts as missing, and is written again.
"""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from railfab.compiled.cache import cache_base

FOLDER = "packets"
MOST_BYTES = 256_000_000
"""Size of all files from which on those that were used least recently are removed."""
KEPT_SHARE = 0.75
"""Share of MOST_BYTES that is kept then."""
_CHECKSUM = 32


def folder_beside_kernels() -> Path | None:
    """Where results are kept between processes; None without a home."""
    base = cache_base()
    return None if base is None else base / FOLDER


@dataclass(frozen=True, slots=True)
class KeptFiles:
    """Files by key. folder: None keeps nothing. version: of what computes them, the beginning of their names."""

    folder: Path | None
    version: str

    def _path(self, key: str) -> Path | None:
        return None if self.folder is None else self.folder / f"{self.version}-{key}"

    def read(self, key: str) -> bytes | None:
        """What was written under a key; None where nothing was, or something else is there now."""
        path = self._path(key)
        if path is None:
            return None
        try:
            content = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        whole = sha256(content[_CHECKSUM:]).digest() == content[:_CHECKSUM]
        return content[_CHECKSUM:] if whole else None

    def write(self, key: str, content: bytes) -> None:
        """Write a file; a disk that is full or cannot be written is done without."""
        path = self._path(key)
        if path is None:
            return
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
                try:
                    file.write(sha256(content).digest() + content)
                    file.close()
                    Path(file.name).replace(path)
                except BaseException:
                    Path(file.name).unlink(missing_ok=True)
                    raise

    def trim(self) -> None:
        """Remove the files that were used least recently, where all are larger than MOST_BYTES."""
        if self.folder is None:
            return
        entries = []
        with suppress(OSError):
            for entry in os.scandir(self.folder):
                with suppress(OSError):
                    status = entry.stat()
                    entries.append((status.st_mtime, status.st_size, entry.path))
        size = sum(octets for _, octets, _ in entries)
        if size <= MOST_BYTES:
            return
        for _, octets, path in sorted(entries):
            if size <= KEPT_SHARE * MOST_BYTES:
                return
            Path(path).unlink(missing_ok=True)
            size -= octets
