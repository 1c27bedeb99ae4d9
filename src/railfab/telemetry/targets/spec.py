"""One target, compared by its content, and what has changed between two lists of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import NamedTuple

from railfab.endpoints import Endpoint
from railfab.platforms import TelemetryMap


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class TargetSpec:
    """A switch to stream from. Two are equal when all their content is.

    endpoint: None for a switch of the intent that no list has an address of: it is a target that is down, with reason
    `no_endpoint`. telemetry: without rules where railfab does not know the platform. labels: of the target as a whole.
    digest: hash of the content; the secrets are no part of it, since they are read at each dial.
    """

    name: str
    platform: str
    endpoint: Endpoint | None
    telemetry: TelemetryMap
    labels: Mapping[str, str] = field(default_factory=dict)
    digest: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", MappingProxyType(dict(sorted(self.labels.items()))))
        endpoint = None if self.endpoint is None else asdict(self.endpoint)
        content = json.dumps([self.name, self.platform, endpoint, dict(self.labels)]).encode()
        telemetry = _telemetry_digest(_Same(self.telemetry))
        object.__setattr__(self, "digest", hashlib.blake2b(content + telemetry, digest_size=16).digest())

    @property
    def fabric(self) -> str:
        """The fabric of the target; empty where none is known."""
        return self.labels.get("fabric", "")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TargetSpec) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


class Diff(NamedTuple):
    """What to do for a new list of targets; the others stay untouched."""

    added: tuple[TargetSpec, ...]
    changed: tuple[TargetSpec, ...]
    removed: tuple[TargetSpec, ...]


def diff(old: Iterable[TargetSpec], new: Iterable[TargetSpec]) -> Diff:
    """Targets by name: new ones, those whose content changed (as they are now), and those that are gone."""
    before, after = {spec.name: spec for spec in old}, {spec.name: spec for spec in new}
    return Diff(
        added=tuple(spec for name, spec in after.items() if name not in before),
        changed=tuple(spec for name, spec in after.items() if name in before and before[name] != spec),
        removed=tuple(spec for name, spec in before.items() if name not in after),
    )


class _Same:
    """A telemetry map, by identity: all targets of a platform share one, which is hashed once."""

    def __init__(self, telemetry: TelemetryMap) -> None:
        self.telemetry = telemetry

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.telemetry is other.telemetry

    def __hash__(self) -> int:
        return id(self.telemetry)


@lru_cache(maxsize=64)
def _telemetry_digest(same: _Same) -> bytes:
    return hashlib.blake2b(repr(same.telemetry).encode(), digest_size=16).digest()
