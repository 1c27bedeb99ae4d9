"""Keeps a list of targets up to date from a source; a source that fails leaves the last good list."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from railfab.errors import RailfabError
from railfab.repeated_warnings import RepeatedWarnings
from railfab.telemetry.targets.spec import Diff, TargetSpec, diff
from railfab.text.counted import counted

logger = logging.getLogger(__name__)

JITTER = 0.1
"""Part of the interval by which polls vary, so that many collectors do not ask at the same time."""


class LoadFailed(RailfabError):
    """A source gives no list. reason: the label of fabric_collector_discovery_failures_total."""

    reason = "invalid"


class PartlyFailed(LoadFailed):
    """A list with wrong entries beside good ones. specs: of the good ones. left_out: names of the other targets."""

    def __init__(
        self, failures: Sequence[LoadFailed], specs: tuple[TargetSpec, ...], left_out: Collection[str]
    ) -> None:
        first, *more = failures
        also = f" (and {len(more)} more)" if more else ""
        super().__init__(first.where, f"{first.problem}{also}", first.remedy)
        self.specs, self.left_out = specs, left_out


class TargetSource(Protocol):
    """Where a list of targets is. name: file or URL, for logs and labels. interval_s: between two polls [s]."""

    name: str
    interval_s: float

    async def poll(self) -> tuple[TargetSpec, ...] | None:
        """The whole list, or None when it is as before. Raises RailfabError: LoadFailed with a reason, or any other."""
        ...


@dataclass(slots=True)
class LoaderHealth:
    """Counters of one loader. last_success_s: Unix time of the last poll that gave a list, 0 before the first."""

    polls: int = 0
    targets: int = 0
    last_success_s: float = 0.0
    failures: Counter[str] = field(default_factory=Counter)


class Loader:
    """The targets of one source. `specs` is the last good list, empty before the first."""

    def __init__(self, source: TargetSource) -> None:
        self.source = source
        self.health = LoaderHealth()
        self.specs: tuple[TargetSpec, ...] = ()
        self._failing = False
        self._warnings = RepeatedWarnings(logger)

    def load(self) -> None:
        """Read the list for the first time, outside the loop.

        Raises what is wrong with a file; a URL that gives no list now is asked again by `run`.
        """
        try:
            found = asyncio.run(self.source.poll())
        except PartlyFailed as error:
            self._accept_good(error)
        except LoadFailed as error:
            self._count(error)
        else:
            self._accept(found or ())

    def _accept(self, found: tuple[TargetSpec, ...]) -> Diff:
        self.health.last_success_s = time.time()
        changes, self.specs = diff(self.specs, found), found
        self.health.targets = len(found)
        return changes

    def _accept_good(self, error: PartlyFailed) -> Diff:
        """Take the good entries; a target of the last list whose entry is wrong now stays as it was."""
        named = {spec.name for spec in error.specs}
        kept = tuple(spec for spec in self.specs if spec.name in error.left_out and spec.name not in named)
        self._count(error)
        return self._accept((*error.specs, *kept))

    async def refresh(self) -> Diff:
        """Poll once; what has changed, nothing when the source fails."""
        self.health.polls += 1
        try:
            found = await self.source.poll()
        except PartlyFailed as error:
            return self._accept_good(error)
        except RailfabError as error:
            self._count(error)
            return Diff((), (), ())
        if self._failing:
            logger.info("%s: gives a list of targets again", self.source.name)
        self._failing = False
        if found is None:
            self.health.last_success_s = time.time()
            return Diff((), (), ())
        return self._accept(found)

    async def run(self, apply: Callable[[Diff], Awaitable[None]]) -> None:
        """Poll until cancelled, and hand on each change."""
        draw = random.Random()
        while True:
            changes = await self.refresh()
            if any(changes):
                counts = [len(part) for part in changes]
                logger.info("%s: %d targets added, %d changed, %d removed", self.source.name, *counts)
                await apply(changes)
            await asyncio.sleep(self.source.interval_s * draw.uniform(1 - JITTER, 1 + JITTER))

    def _count(self, error: RailfabError) -> None:
        """Count a failure, and log it."""
        self.health.failures[error.reason if isinstance(error, LoadFailed) else LoadFailed.reason] += 1
        if isinstance(error, PartlyFailed):
            used = f"The others are used: {counted(len(error.specs), 'target')}."
        else:
            used = f"The last list is kept: {counted(len(self.specs), 'target')}."
        self._warnings.warning(f"{error} {used}", again=not self._failing)
        self._failing = True
