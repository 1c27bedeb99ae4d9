"""The server's side of Subscribe: what one client gets, and when."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from pygnmi.spec.v080 import gnmi_pb2

from railfab.gnmi.bundles import Bundle, bundles, deletion
from railfab.gnmi.paths import Element, proto_elements
from railfab.gnmi.target import Leaf, Target
from railfab.gnmi.values import ENCODINGS
from railfab.units import NS_PER_S

LEAST_INTERVAL_NS = NS_PER_S // 10
DEFAULT_INTERVAL_NS = NS_PER_S
"""Sample interval where the client leaves it to the target [ns]."""

ON_CHANGE_INTERVAL_NS = NS_PER_S // 5
"""How often changes are looked for [ns]."""
ON_CHANGE_AGE_S = 1.0
"""How old a value may be when changes are looked for [s]."""
SAMPLE_AGE_S = 0.05
"""How old a sample may be: subscriptions that fall together share one [s]."""


class SubscriptionError(Exception):
    """A subscription that cannot be served. unimplemented: for want of a feature, not for a mistake of the client."""

    def __init__(self, text: str, *, unimplemented: bool = False) -> None:
        super().__init__(text)
        self.unimplemented = unimplemented


class Mode(StrEnum):
    SAMPLE = "SAMPLE"
    ON_CHANGE = "ON_CHANGE"
    TARGET_DEFINED = "TARGET_DEFINED"


@dataclass(frozen=True, slots=True)
class Schedule:
    """When the leaves of a subscription are sent. heartbeat_ns: 0 is never; suppress: samples only when changed."""

    mode: Mode
    interval_ns: int
    heartbeat_ns: int
    suppress: bool


@dataclass(frozen=True, slots=True)
class Subscriptions:
    """A SubscriptionList, checked. wanted: pattern and schedule of each subscription."""

    wanted: tuple[tuple[tuple[Element, ...], Schedule], ...]
    encoding: int
    target: str
    updates_only: bool


def subscriptions(wish: gnmi_pb2.SubscriptionList) -> Subscriptions:
    """Read a SubscriptionList. Raises SubscriptionError."""
    if wish.encoding not in ENCODINGS:
        name = gnmi_pb2.Encoding.Name(wish.encoding)
        raise SubscriptionError(f"encoding {name} is not supported, use JSON_IETF, JSON or PROTO", unimplemented=True)
    if wish.use_models:
        raise SubscriptionError("use_models is not supported, leave it out", unimplemented=True)
    if not wish.subscription:
        raise SubscriptionError("no subscription in the list, name at least one path")
    prefix = proto_elements(wish.prefix)
    wanted = tuple((prefix + proto_elements(entry.path), _schedule(entry)) for entry in wish.subscription)
    if any(not step.name for path, _ in wanted for step in path):
        raise SubscriptionError("a path has a step without a name")
    return Subscriptions(wanted, wish.encoding, wish.prefix.target, wish.updates_only)


def _schedule(entry: gnmi_pb2.Subscription) -> Schedule:
    mode = Mode(gnmi_pb2.SubscriptionMode.Name(entry.mode))
    if mode is not Mode.ON_CHANGE and 0 < entry.sample_interval < LEAST_INTERVAL_NS:
        raise SubscriptionError(f"sample_interval {entry.sample_interval} ns is below {LEAST_INTERVAL_NS} ns")
    interval_ns = entry.sample_interval or DEFAULT_INTERVAL_NS
    if 0 < entry.heartbeat_interval < LEAST_INTERVAL_NS:
        raise SubscriptionError(f"heartbeat_interval {entry.heartbeat_interval} ns is below {LEAST_INTERVAL_NS} ns")
    return Schedule(mode, interval_ns, entry.heartbeat_interval, entry.suppress_redundant)


class Group:
    """The leaves of one stream that follow one schedule; `mode` is SAMPLE or ON_CHANGE here."""

    def __init__(self, target: Target, wanted: Subscriptions, schedule: Schedule, start_ns: int) -> None:
        self._target = target
        self._wanted = wanted
        self._schedule = schedule
        self._patterns: list[tuple[tuple[Element, ...], Mode]] = []
        self._leaves: dict[str, Leaf] = {}
        self._bundles: list[Bundle] = []
        self._sent: dict[str, Any] = {}
        self._generation = -1
        sampled = schedule.mode is Mode.SAMPLE
        self._step_ns = schedule.interval_ns if sampled else ON_CHANGE_INTERVAL_NS
        self._age_s = SAMPLE_AGE_S if sampled else ON_CHANGE_AGE_S
        self._heartbeat_ns = start_ns + schedule.heartbeat_ns if schedule.heartbeat_ns else None
        self.due_ns = start_ns + self._step_ns

    def add(self, pattern: tuple[Element, ...], asked: Mode) -> None:
        """Take in a subscription; of a TARGET_DEFINED one, the leaves of this group's mode."""
        self._patterns.append((pattern, asked))

    def everything(self) -> Iterator[gnmi_pb2.SubscribeResponse]:
        """All leaves as they are now."""
        timestamp_ns = self._target.refresh(self._age_s)
        yield from self._reselect(timestamp_ns)
        for bundle in self._bundles:
            yield bundle.whole(timestamp_ns)

    def note(self) -> None:
        """Take the leaves as known to the client without sending them (`updates_only`)."""
        for _ in self.everything():
            pass

    def turn(self, now_ns: int) -> Iterator[gnmi_pb2.SubscribeResponse]:
        """What is due now: samples or changes, and the deletes of leaves that are gone. Moves `due_ns` on."""
        missed = (now_ns - self.due_ns) // self._step_ns
        self.due_ns += self._step_ns * (1 + missed)
        if self._whole_due(now_ns):
            yield from self.everything()
            return
        timestamp_ns = self._target.refresh(self._age_s)
        yield from self._reselect(timestamp_ns)
        for bundle in self._bundles:
            response = bundle.difference(timestamp_ns)
            if response is not None:
                yield response

    def _whole_due(self, now_ns: int) -> bool:
        if self._schedule.mode is Mode.SAMPLE and not self._schedule.suppress:
            return True
        if self._heartbeat_ns is None or now_ns < self._heartbeat_ns:
            return False
        self._heartbeat_ns += self._schedule.heartbeat_ns
        return True

    def _reselect(self, timestamp_ns: int) -> Iterator[gnmi_pb2.SubscribeResponse]:
        """Follow leaves that came or went since the last turn; tells of those that went."""
        if self._target.leaves.generation == self._generation:
            return
        self._generation = self._target.leaves.generation
        before, self._leaves = self._leaves, {leaf.path: leaf for leaf in self._selected()}
        wanted = self._wanted
        self._bundles = bundles(self._leaves.values(), encoding=wanted.encoding, target=wanted.target, sent=self._sent)
        gone = [leaf.steps for path, leaf in before.items() if path not in self._leaves]
        for path in before.keys() - self._leaves.keys():
            self._sent.pop(path, None)
        if gone:
            yield deletion(gone, timestamp_ns, self._wanted.target)

    def _selected(self) -> Iterable[Leaf]:
        for pattern, asked in self._patterns:
            for leaf in self._target.leaves.select(pattern):
                if asked is not Mode.TARGET_DEFINED or leaf.on_change == (self._schedule.mode is Mode.ON_CHANGE):
                    yield leaf


def groups(target: Target, wanted: Subscriptions, start_ns: int) -> list[Group]:
    """The groups of a STREAM: one for each schedule asked for; a TARGET_DEFINED subscription falls into two."""
    made: dict[Schedule, Group] = {}
    for pattern, schedule in wanted.wanted:
        asked = schedule.mode
        modes = (Mode.SAMPLE, Mode.ON_CHANGE) if asked is Mode.TARGET_DEFINED else (asked,)
        for mode in modes:
            own = replace(schedule, mode=mode)
            if own not in made:
                made[own] = Group(target, wanted, own, start_ns)
            made[own].add(pattern, asked)
    return list(made.values())


SYNC = gnmi_pb2.SubscribeResponse(sync_response=True)


def snapshot(target: Target, wanted: Subscriptions) -> Iterator[gnmi_pb2.SubscribeResponse]:
    """The answer to ONCE and to each Poll: all leaves, or none with `updates_only`, then the sync."""
    if not wanted.updates_only:
        group = Group(target, wanted, Schedule(Mode.SAMPLE, DEFAULT_INTERVAL_NS, 0, suppress=False), 0)
        for pattern, _ in wanted.wanted:
            group.add(pattern, Mode.SAMPLE)
        yield from group.everything()
    yield SYNC


async def stream(target: Target, wanted: Subscriptions) -> AsyncIterator[gnmi_pb2.SubscribeResponse]:
    """STREAM: everything, the sync, then each group at its own times; it ends when the client goes."""
    running = groups(target, wanted, time.monotonic_ns())
    for group in running:
        if wanted.updates_only:
            group.note()
        else:
            for response in group.everything():
                yield response
    yield SYNC
    while True:
        group = min(running, key=lambda candidate: candidate.due_ns)
        await asyncio.sleep(max(0, group.due_ns - time.monotonic_ns()) / NS_PER_S)
        for response in group.turn(time.monotonic_ns()):
            yield response
