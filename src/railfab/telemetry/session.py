"""The session with one target: connect, subscribe, store what arrives; after an error, again."""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import AsyncExitStack

import numpy as np
from numpy.typing import NDArray

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError, EndpointError, LoginRefused, RailfabError, UnknownPlatform, Unreachable
from railfab.gnmi import messages
from railfab.gnmi.client import GnmiClient
from railfab.gnmi.statuses import Refused
from railfab.gnmi.tls import CertificateRefused, PlaintextPort
from railfab.metrics import Metric
from railfab.platforms import TelemetryMap, platform_names
from railfab.telemetry.decode import Decoder, Taken
from railfab.telemetry.health import Drop, Health, Reason, State, Stream
from railfab.telemetry.lines import Chunks, Writer
from railfab.telemetry.loop_clock import LoopClock
from railfab.telemetry.mapping import PathMap
from railfab.telemetry.repeated_log import RepeatedLog
from railfab.telemetry.retry import SILENT_INTERVALS, Policy
from railfab.telemetry.store import NO_SPEEDS, Sample, TargetStore
from railfab.telemetry.subscriptions import SUBSCRIBE_MODES, SubscribeRpc, subscribe_rpcs
from railfab.units import NS_PER_S

logger = logging.getLogger(__name__)


class Stalled(DeviceError):
    """The stream is open and silent."""


REASONS = (
    (CertificateRefused, Reason.TLS),
    (PlaintextPort, Reason.TLS),
    (EndpointError, Reason.TLS),
    (LoginRefused, Reason.LOGIN_REFUSED),
    (Refused, Reason.UNIMPLEMENTED),
    (Unreachable, Reason.UNREACHABLE),
    (Stalled, Reason.STALLED),
    (RailfabError, Reason.CLOSED),
)
REFUSALS = frozenset((Reason.TLS, Reason.LOGIN_REFUSED, Reason.UNIMPLEMENTED))


class TargetSession:
    """Streams one target into its store until cancelled."""

    def __init__(
        self,
        endpoint: Endpoint,
        credentials: Credentials,
        telemetry: TelemetryMap,
        *,
        interval_s: float,
        policy: Policy,
        dials: asyncio.Semaphore,
        clock: LoopClock,
        designed_gbps: Mapping[str, float] = NO_SPEEDS,
    ) -> None:
        self.name = endpoint.name
        self.health = Health(tls_verified=not endpoint.skip_verify)
        silence_s = SILENT_INTERVALS * interval_s
        grace_s = silence_s if policy.grace_s is None else policy.grace_s
        self.store = TargetStore(
            endpoint.name,
            self.health,
            expiry_s=silence_s,
            grace_s=grace_s,
            max_series=policy.max_series,
            designed_gbps=designed_gbps,
        )
        self._healthy_s = silence_s if policy.healthy_s is None else policy.healthy_s
        self._log = RepeatedLog(logger)
        self.living = 0
        self._writer = Writer()
        self._endpoint, self._credentials, self._telemetry = endpoint, credentials, telemetry
        self._interval_s, self._silence_s, self._policy, self._dials = interval_s, silence_s, policy, dials
        self._clock = clock
        self._decoder = Decoder(endpoint.name, PathMap(telemetry), self.store)
        self._mode = 0
        self._draw = random.Random()
        self._rpcs: tuple[SubscribeRpc, ...] = ()
        self._pending: set[SubscribeRpc] = set()
        self._began_s = self._last_sample_s = 0.0

    async def run(self) -> None:
        """Keep a session up; an error is counted, logged once, and followed by another attempt."""
        if not self._telemetry.rules:
            await self._wait_refused()
        failures = 0
        while True:
            error = await self._run_once()
            was_healthy = self.health.state is State.UP and self._clock.now_s() - self._began_s > self._healthy_s
            failures = 1 if was_healthy else failures + 1
            if isinstance(error, Refused) and self._next_mode(error):
                self.store.down(self._clock.now_s())
                failures = 0
                continue
            refused = self._end(error)
            await asyncio.sleep(self._policy.delay_s(failures, refused=refused, draw=self._draw))
            self.health.reconnects += 1

    def _end(self, error: RailfabError) -> bool:
        """Count and log the end of a session; whether the target refuses it."""
        reason = next(reason for kind, reason in REASONS if isinstance(error, kind))
        refused = reason in REFUSALS
        self.health.errors[reason] += 1
        self.health.state = State.REFUSED if refused else State.RETRYING
        self.store.down(self._clock.now_s(), grace=reason is not Reason.STALLED)
        self._log.warning(str(error), again=self.health.was_up)
        self.health.was_up = False
        return refused

    async def _wait_refused(self) -> None:
        """Count and log that the platform has no telemetry map, and wait to be cancelled."""
        self.health.state = State.REFUSED
        self.health.errors[Reason.UNIMPLEMENTED] += 1
        known = ", ".join(platform_names())
        problem = f"platform {self._endpoint.platform!r} is not supported, nothing is collected from it"
        logger.warning("%s", UnknownPlatform(self.name, problem, f"Use one of {known}"))
        await asyncio.Event().wait()

    def lines(self) -> Chunks:
        """The lines of every series that is true now, by metric."""
        sample = self._sample()
        return self._writer.write(sample.table, sample.live, sample.values, sample.rates)

    def samples(self, names: Collection[str] | None = None) -> Iterator[tuple[Metric, dict[str, str], float]]:
        """Metric, labels and value of every series that is true now. names: only those metrics."""
        sample = self._sample()
        table = sample.table
        wanted = np.array([names is None or metric.name in names for metric in table.metrics], bool)
        rows = np.flatnonzero(sample.live)
        rows = rows[wanted[table.lines.metric[rows]]] if len(rows) else rows
        for row, value in zip(rows.tolist(), sample.values[rows].tolist(), strict=True):
            metric, labels = table.describe(row)
            yield metric, labels, value

    def _sample(self) -> Sample:
        sample = self.store.sample(self._clock.now_s())
        self.living = sample.count
        return sample

    async def _run_once(self) -> RailfabError:
        """Connect and stream until an error ends it; return the error."""
        self.health.state = State.CONNECTING
        found: list[RailfabError] = []
        try:
            await self._stream()
        except* RailfabError as group:
            found.extend(_flatten(group))
        return min(found, key=_rank)

    async def _stream(self) -> None:
        client = GnmiClient(self._endpoint, self._credentials, dial_timeout_s=self._policy.dial_timeout_s)
        async with AsyncExitStack() as stack:
            async with self._dials:
                await stack.enter_async_context(client)
            tasks = await stack.enter_async_context(asyncio.TaskGroup())
            self._begin()
            for rpc in self._rpcs:
                follow = self._follow_optional if rpc.optional else self._follow
                tasks.create_task(follow(client, rpc), name=f"{self.name} {rpc.stream}")
            tasks.create_task(self._watch(), name=f"{self.name} watch")

    def _begin(self) -> None:
        """Start afresh, in the present mode."""
        self.health.state = State.SYNCING
        self.store.begin()
        self._rpcs = subscribe_rpcs(self._telemetry, self._interval_s, SUBSCRIBE_MODES[self._mode])
        self._pending = set(self._rpcs)
        self._began_s = self._last_sample_s = self._clock.now_s()

    async def _follow_optional(self, client: GnmiClient, rpc: SubscribeRpc) -> None:
        """Follow an RPC that the target may refuse: then the others go on without it."""
        try:
            await self._follow(client, rpc)
        except Refused as error:
            logger.info(
                "%s The target does not serve %s; all other subscriptions continue.",
                error,
                ", ".join(rpc.subscription.paths),
            )
            self._pending.discard(rpc)
            self._sync_when_complete()

    async def _follow(self, client: GnmiClient, rpc: SubscribeRpc) -> None:
        async for response in client.subscribe(rpc.subscription):
            raw = np.frombuffer(response.SerializeToString(), np.uint8)
            self._take(raw, np.array([[0, len(raw)]], np.int64), rpc)

    def _take(self, buffer: NDArray[np.uint8], bounds: NDArray[np.int64], rpc: SubscribeRpc) -> None:
        """Decode a batch into the store, and count it."""
        now_s = self._clock.now_s()
        taken = self._decoder.take(buffer, bounds, now_s, lasts_s=rpc.lasts_s)
        self._count(taken, rpc, now_s)
        if taken.synced:
            self._pending.discard(rpc)
        if self.health.state is State.SYNCING and (taken.synced or len(self.store)):
            self._sync_when_complete()

    def _count(self, taken: Taken, rpc: SubscribeRpc, now_s: float) -> None:
        health, now_ns = self.health, time.time_ns()
        health.updates[rpc.stream] += taken.updates
        health.drops[Drop.UNDECODABLE] += taken.undecodable
        health.count_unmapped(taken.unmapped)
        if rpc.stream is Stream.ON_CHANGE:
            return
        if taken.fresh:
            self._last_sample_s = now_s
            health.last_update_s = now_ns / NS_PER_S
        if taken.device_ns is not None:
            health.ingest_lag_s = (now_ns - taken.device_ns) / NS_PER_S

    def _sync_when_complete(self) -> None:
        """Once every RPC has sent its leaves, and one of them is mapped, the session is up."""
        if self._pending or self.health.state is not State.SYNCING:
            return
        self.store.synced()
        if not len(self.store):
            self._log.warning(f"{self.name}: streams nothing that has a metric. Check its platform, and --map")
            return
        self.health.state = State.UP
        self.health.was_up = True
        logger.info("%s: streaming, %s series", self.name, len(self.store))

    async def _watch(self) -> None:
        """Expire old samples, end a silent session, and do without the sync of a target that sends none.

        Silence is measured with the clock of our own loop, which does not count the time that we are late.
        """
        while True:
            await asyncio.sleep(self._interval_s)
            now_s = self._clock.now_s()
            self.store.expire(now_s)
            if self._is_silent():
                await self._clock.on_time()  # samples that have arrived unread are read meanwhile
                if self._is_silent():
                    raise self._stalled()
            if self._pending and now_s - self._began_s > self._silence_s:
                self._pending.clear()
                self._sync_when_complete()

    def _is_silent(self) -> bool:
        """Whether even the samples that come most often have stopped."""
        most_s = min((rpc.lasts_s for rpc in self._rpcs), default=math.inf)
        return self._clock.now_s() - self._last_sample_s > most_s

    def _stalled(self) -> Stalled:
        silent_s = self._clock.now_s() - self._last_sample_s
        remedy = "It is subscribed again; if that does not help, check the target"
        return Stalled(self.name, f"no sample for {silent_s:.0f} s though the stream is open", remedy)

    def _next_mode(self, error: Refused) -> bool:
        """Choose the next mode; False when all were refused, and the first is next again."""
        self._mode = (self._mode + 1) % len(SUBSCRIBE_MODES)
        if self._mode:
            encoding, on_change = SUBSCRIBE_MODES[self._mode]
            mode = f"{messages.Encoding.Name(encoding)}, {'ON_CHANGE' if on_change else 'SAMPLE only'}"
            logger.info("%s Trying %s.", error, mode)
        return bool(self._mode)


def _flatten(group: BaseExceptionGroup[RailfabError]) -> list[RailfabError]:
    """The errors of a group and of the groups in it."""
    found: list[RailfabError] = []
    for error in group.exceptions:
        found.extend(_flatten(error) if isinstance(error, BaseExceptionGroup) else [error])
    return found


def _rank(error: RailfabError) -> int:
    """The index of an error in REASONS; the first is the most specific."""
    return next(index for index, (kind, _) in enumerate(REASONS) if isinstance(error, kind))
