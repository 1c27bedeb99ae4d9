"""Results of components by key, in this process and on disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from railfab.compiled.cache import digest_of
from railfab.simulate.kept_files import KeptFiles, folder_beside_kernels
from railfab.simulate.packet_run import PacketOutcome

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
        return cls(folder_beside_kernels())

    @property
    def files(self) -> KeptFiles:
        """Those of this version."""
        return KeptFiles(self.folder, self.version)

    def outcome(self, key: str, compute: Callable[[], PacketOutcome]) -> PacketOutcome:
        """The outcome of a key, kept or computed."""
        outcome = self._kept.get(key) or _decoded(self.files.read(key))
        if outcome is None:
            outcome = compute()
            self.misses += 1
            self.files.write(key, _encoded(outcome))
        else:
            self.hits += 1
        self._kept[key] = outcome
        return outcome

    def trim(self) -> None:
        """Remove the entries that were used least recently, where new ones have made all too large."""
        if self.misses:
            self.files.trim()


def _encoded(outcome: PacketOutcome) -> bytes:
    head = json.dumps([outcome.marked, outcome.pauses, outcome.dropped]).encode()
    return head + b"\n" + np.asarray(outcome.ends_ns, "<f8").tobytes()


def _decoded(content: bytes | None) -> PacketOutcome | None:
    if content is None:
        return None
    head, _, ends = content.partition(b"\n")
    marked, pauses, dropped = json.loads(head)
    return PacketOutcome(ends_ns=np.frombuffer(ends, "<f8"), marked=marked, pauses=pauses, dropped=dropped)
