"""Subscribe, server side: which leaves a stream sends and when."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from railfab.gnmi import messages
from railfab.gnmi.bundles import SYNC, Bundle, bundles, deletion
from railfab.gnmi.paths import Element
from railfab.gnmi.reader import ViewReader
from railfab.gnmi.requests import asked_steps, check_encoding, has_aliases
from railfab.gnmi.target import GnmiTarget, Leaf, Selected, TargetView
from railfab.units import NS_PER_S

LEAST_INTERVAL_NS = NS_PER_S // 10
DEFAULT_INTERVAL_NS = NS_PER_S
"""Sample interval when the client does not give one [ns]."""

ON_CHANGE_INTERVAL_NS = NS_PER_S // 5
"""Interval at which a stream checks for changes [ns]."""
ON_CHANGE_AGE_S = 1.0
"""Maximum age of a view in which a stream checks leaves for changes that are not `on_change` [s]."""
SAMPLE_AGE_S = 0.05
"""Maximum age of a view that samples are taken from: streams with the same times share one [s]."""


class SubscriptionError(Exception):
    """A subscription that cannot be served. unimplemented: the server lacks a feature; else the request is wrong."""

    def __init__(self, text: str, *, unimplemented: bool = False) -> None:
        super().__init__(text)
        self.unimplemented = unimplemented


class Mode(StrEnum):
    SAMPLE = "SAMPLE"
    ON_CHANGE = "ON_CHANGE"
    TARGET_DEFINED = "TARGET_DEFINED"


@dataclass(frozen=True, slots=True)
class Schedule:
    """Times at which the leaves of a subscription are sent. heartbeat_ns: 0 is never; suppress: only changed leaves."""

    mode: Mode
    interval_ns: int
    heartbeat_ns: int
    suppress: bool


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """A checked SubscriptionList. wanted: pattern and schedule of each subscription."""

    wanted: tuple[tuple[tuple[Element, ...], Schedule], ...]
    encoding: int
    target: str
    updates_only: bool


def subscriptions(target: GnmiTarget, requested: messages.SubscriptionList) -> Subscriptions:
    """Read a SubscriptionList. Raises SubscriptionError, or what `check_encoding` and `asked_steps` raise."""
    check_encoding(target, requested.encoding)
    if requested.use_models:
        raise SubscriptionError("use_models is not supported, leave it out", unimplemented=True)
    if not requested.subscription:
        raise SubscriptionError("no subscription in the list, name at least one path")
    if has_aliases(requested):
        raise SubscriptionError("use_aliases is not supported, leave it out", unimplemented=True)
    wanted = tuple(
        (asked_steps(target, requested.prefix, entry.path), _schedule(entry)) for entry in requested.subscription
    )
    return Subscriptions(wanted, requested.encoding, requested.prefix.target, requested.updates_only)


def _schedule(entry: messages.Subscription) -> Schedule:
    mode = Mode(messages.SubscriptionMode.Name(entry.mode))
    if mode is not Mode.ON_CHANGE and 0 < entry.sample_interval < LEAST_INTERVAL_NS:
        raise SubscriptionError(f"sample_interval {entry.sample_interval} ns is below {LEAST_INTERVAL_NS} ns")
    interval_ns = entry.sample_interval or DEFAULT_INTERVAL_NS
    if 0 < entry.heartbeat_interval < LEAST_INTERVAL_NS:
        raise SubscriptionError(f"heartbeat_interval {entry.heartbeat_interval} ns is below {LEAST_INTERVAL_NS} ns")
    return Schedule(mode, interval_ns, entry.heartbeat_interval, entry.suppress_redundant)


class Group:
    """The leaves of one stream that follow one schedule; its mode is SAMPLE or ON_CHANGE.

    It reads views, which never change, and belongs to one stream, so it needs no lock.
    """

    def __init__(self, reader: ViewReader, wanted: Subscriptions, schedule: Schedule, start_ns: int) -> None:
        self._reader = reader
        self._wanted = wanted
        self._schedule = schedule
        self._patterns: list[tuple[tuple[Element, ...], Mode]] = []
        self._layout: object = None
        self._leaves: frozenset[tuple[Element, ...]] = frozenset()
        self._bundles: list[Bundle] = []
        self._seen: TargetView | None = None
        sampled = schedule.mode is Mode.SAMPLE
        self._step_ns = schedule.interval_ns if sampled else ON_CHANGE_INTERVAL_NS
        self._age_s = SAMPLE_AGE_S if sampled else min(ON_CHANGE_AGE_S, reader.change_age_s)
        self._heartbeat_ns = start_ns + schedule.heartbeat_ns if schedule.heartbeat_ns else None
        self._sample_ns = start_ns + self._step_ns

    @property
    def due_ns(self) -> int:
        """Time when there may be something to send next."""
        return self._sample_ns if self._heartbeat_ns is None else min(self._sample_ns, self._heartbeat_ns)

    def add(self, pattern: tuple[Element, ...], asked: Mode) -> None:
        """Add a subscription; of a TARGET_DEFINED one, the leaves of this group's mode."""
        self._patterns.append((pattern, asked))

    async def everything(self) -> AsyncIterator[bytes]:
        """All leaves with their present values."""
        async for response in self._responses(whole=True):
            yield response

    async def note(self) -> None:
        """Record the present values as sent, without sending them (`updates_only`)."""
        view = await self._reader.view(self._age_s)
        await self._follow(view)
        for bundle in self._bundles:
            bundle.note(view.values)

    async def turn(self, now_ns: int) -> AsyncIterator[bytes]:
        """Send what is due now: samples or changes, and the deletes of removed leaves."""
        sampled = now_ns >= self._sample_ns
        if sampled:
            self._sample_ns = _next(self._sample_ns, self._step_ns, now_ns)
        async for response in self._responses(whole=self._whole_due(now_ns, sampled=sampled)):
            yield response

    async def _responses(self, *, whole: bool) -> AsyncIterator[bytes]:
        view = await self._reader.view(self._age_s)
        if view is self._seen and not whole:
            return
        self._seen = view
        removed = await self._follow(view)
        if removed:
            yield deletion(removed, view.timestamp_ns, self._wanted.target)
        for bundle in self._bundles:
            form = bundle.whole if whole else bundle.difference
            response = form(view.values, view.timestamp_ns)
            if response is not None:
                yield response

    def _whole_due(self, now_ns: int, *, sampled: bool) -> bool:
        """Whether all leaves are sent, changed or not: at each sample unless it is suppressed, and each heartbeat."""
        beats = self._heartbeat_ns is not None and now_ns >= self._heartbeat_ns
        if self._heartbeat_ns is not None and beats:
            self._heartbeat_ns = _next(self._heartbeat_ns, self._schedule.heartbeat_ns, now_ns)
        return beats or (sampled and self._schedule.mode is Mode.SAMPLE and not self._schedule.suppress)

    async def _follow(self, view: TargetView) -> frozenset[tuple[Element, ...]]:
        """Select the leaves again if any were added or removed; the paths of those that were removed."""
        if view.layout is self._layout:
            return frozenset()
        self._layout, before = view.layout, self._leaves
        await self._reader.work(lambda: self._select(view))
        return before - self._leaves

    def _select(self, view: TargetView) -> None:
        """Find the leaves of this group and bundle them; takes milliseconds, in a worker thread."""
        leaves = {leaf.leaf.path: leaf for leaf in self._matching(view)}
        sent = {path: value for bundle in self._bundles for path, value in bundle.sent().items()}
        wanted = self._wanted
        self._leaves = frozenset(leaves)
        self._bundles = bundles(leaves.values(), encoding=wanted.encoding, target=wanted.target, sent=sent)
        if self._schedule.mode is Mode.ON_CHANGE:
            announced = all(leaf.leaf.on_change for leaf in leaves.values())
            self._age_s = self._reader.change_age_s if announced else ON_CHANGE_AGE_S

    def _matching(self, view: TargetView) -> Iterator[Selected]:
        for pattern, asked in self._patterns:
            for leaf in view.select(pattern):
                if asked is not Mode.TARGET_DEFINED or self._takes(leaf.leaf):
                    yield leaf

    def _takes(self, leaf: Leaf) -> bool:
        """Whether a leaf of a TARGET_DEFINED subscription belongs to this group."""
        return leaf.on_change == (self._schedule.mode is Mode.ON_CHANGE)


def _next(due_ns: int, step_ns: int, now_ns: int) -> int:
    """The first moment after now; those that were missed are left out."""
    return due_ns + step_ns * (1 + (now_ns - due_ns) // step_ns)


def groups(reader: ViewReader, wanted: Subscriptions, start_ns: int) -> list[Group]:
    """The groups of a STREAM: one for each schedule; a TARGET_DEFINED subscription is split into two."""
    made: dict[Schedule, Group] = {}
    for pattern, schedule in wanted.wanted:
        asked = schedule.mode
        modes = (Mode.SAMPLE, Mode.ON_CHANGE) if asked is Mode.TARGET_DEFINED else (asked,)
        for mode in modes:
            of_mode = replace(schedule, mode=mode)
            if of_mode not in made:
                made[of_mode] = Group(reader, wanted, of_mode, start_ns)
            made[of_mode].add(pattern, asked)
    return list(made.values())


async def snapshot(reader: ViewReader, wanted: Subscriptions) -> AsyncIterator[bytes]:
    """The answer to ONCE and to each Poll: all leaves, or none with `updates_only`, then the sync."""
    if not wanted.updates_only:
        group = Group(reader, wanted, Schedule(Mode.SAMPLE, DEFAULT_INTERVAL_NS, 0, suppress=False), 0)
        for pattern, _ in wanted.wanted:
            group.add(pattern, Mode.SAMPLE)
        async for response in group.everything():
            yield response
    yield SYNC


async def stream(reader: ViewReader, wanted: Subscriptions, ended: asyncio.Future[None]) -> AsyncIterator[bytes]:
    """The responses of a STREAM: all leaves, the sync, then each group when it is due, until the client cancels.

    ended: ends the stream when it is done.
    """
    running = groups(reader, wanted, time.monotonic_ns())
    for group in running:
        if wanted.updates_only:
            await group.note()
        else:
            async for response in group.everything():
                yield response
    yield SYNC
    while not ended.done():
        group = min(running, key=lambda candidate: candidate.due_ns)
        await asyncio.wait((ended,), timeout=max(0, group.due_ns - time.monotonic_ns()) / NS_PER_S)
        if ended.done():
            return
        async for response in group.turn(time.monotonic_ns()):
            yield response
