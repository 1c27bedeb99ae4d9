"""Results of components, kept on disk beside the compiled kernel: a file for each key.

Several processes may read and write at once: a file is written whole under another name and then renamed. A damaged
file counts as missing, and is written again.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path

import numpy as np

from railfab.compiled import cache_base
from railfab.compiled.cache import digest_of
from railfab.simulate.packet_run import PacketOutcome

FOLDER = "packets"
MOST_BYTES = 256_000_000
"""Size of all files from which on those that were used least recently are removed."""
KEPT_SHARE = 0.75
"""Share of MOST_BYTES that is kept then."""
_CHECKSUM = 32
_SOURCES = ("sim", "simulate")


def engine_version() -> str:
    """Digest of the sources on which results depend."""
    package = Path(__file__).resolve().parents[1]
    return digest_of([path for part in _SOURCES for path in (package / part).rglob("*.py")], ())


@dataclass(slots=True, eq=False)
class Memo:
    """Results by key. folder: None keeps them in this process only. hits, misses: of this object."""

    folder: Path | None
    version: str = field(default_factory=engine_version)
    hits: int = 0
    misses: int = 0
    _kept: dict[str, PacketOutcome] = field(default_factory=dict)

    @classmethod
    def beside_kernels(cls) -> Memo:
        """The memo beside the compiled kernels."""
        base = cache_base()
        return cls(None if base is None else base / FOLDER)

    def outcome(self, key: str, compute: Callable[[], PacketOutcome]) -> PacketOutcome:
        """The outcome of a key, kept or computed."""
        outcome = self._kept.get(key) or self._read(key)
        if outcome is None:
            outcome = compute()
            self.misses += 1
            self._write(key, outcome)
        else:
            self.hits += 1
        self._kept[key] = outcome
        return outcome

    def _path(self, key: str) -> Path | None:
        return None if self.folder is None else self.folder / f"{self.version}-{key}"

    def _read(self, key: str) -> PacketOutcome | None:
        path = self._path(key)
        if path is None:
            return None
        try:
            content = path.read_bytes()
            os.utime(path)
        except OSError:
            return None
        return _decoded(content)

    def _write(self, key: str, outcome: PacketOutcome) -> None:
        """Write an entry; a disk that is full or cannot be written is done without."""
        path = self._path(key)
        if path is None:
            return
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=path.parent, prefix=".", delete=False) as file:
                try:
                    file.write(_encoded(outcome))
                    file.close()
                    Path(file.name).replace(path)
                except BaseException:
                    Path(file.name).unlink(missing_ok=True)
                    raise

    def trim(self) -> None:
        """Remove the entries that were used least recently, where all are larger than MOST_BYTES."""
        if self.folder is None or not self.misses:
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


def _encoded(outcome: PacketOutcome) -> bytes:
    head = json.dumps([outcome.marked, outcome.pauses, outcome.dropped]).encode()
    content = head + b"\n" + np.asarray(outcome.ends_ns, "<f8").tobytes()
    return sha256(content).digest() + content


def _decoded(content: bytes) -> PacketOutcome | None:
    """The outcome in a file; None where it is not what was written."""
    if sha256(content[_CHECKSUM:]).digest() != content[:_CHECKSUM]:
        return None
    head, _, ends = content[_CHECKSUM:].partition(b"\n")
    marked, pauses, dropped = json.loads(head)
    return PacketOutcome(ends_ns=np.frombuffer(ends, "<f8"), marked=marked, pauses=pauses, dropped=dropped)
