"""One target: connect, subscribe, feed the store; and again, whatever happens."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from collections.abc import Iterable
from contextlib import AsyncExitStack
from typing import NamedTuple

from pygnmi.spec.v080 import gnmi_pb2

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError, EndpointError, LoginRefused, RailfabError, Unreachable
from railfab.gnmi.client import CertificateRefused, GnmiClient, Subscription, Unimplemented
from railfab.platforms import TelemetryMap
from railfab.telemetry.decode import Decoded, Decoder
from railfab.telemetry.health import Drop, Health, Reason, State, Stream
from railfab.telemetry.mapping import PathMap
from railfab.telemetry.retry import SILENT_INTERVALS, Policy
from railfab.telemetry.store import TargetStore
from railfab.units import NS_PER_S

logger = logging.getLogger(__name__)


class Stalled(DeviceError):
    """The stream is open and silent."""


class Dialect(NamedTuple):
    """How to ask. on_change: whether leaves worth it are asked for ON_CHANGE, or sampled like the others."""

    encoding: int
    on_change: bool


DIALECTS = (
    Dialect(gnmi_pb2.PROTO, True),
    Dialect(gnmi_pb2.JSON_IETF, True),
    Dialect(gnmi_pb2.JSON_IETF, False),
    Dialect(gnmi_pb2.PROTO, False),
    Dialect(gnmi_pb2.JSON, False),
)
"""Tried in turn while a target refuses: typed leaves cost least to decode, JSON_IETF is what nearly all speak."""

REASONS = (
    (CertificateRefused, Reason.TLS),
    (EndpointError, Reason.TLS),
    (LoginRefused, Reason.LOGIN_REFUSED),
    (Unimplemented, Reason.UNIMPLEMENTED),
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
    ) -> None:
        self.name = endpoint.name
        self.health = Health(tls_verified=not endpoint.skip_verify)
        silence_s = SILENT_INTERVALS * interval_s
        grace_s = silence_s if policy.grace_s is None else policy.grace_s
        self.store = TargetStore(self.health, expiry_s=silence_s, grace_s=grace_s, max_series=policy.max_series)
        self._endpoint, self._credentials, self._telemetry = endpoint, credentials, telemetry
        self._interval_s, self._silence_s, self._policy, self._dials = interval_s, silence_s, policy, dials
        self._decoder = Decoder(PathMap(telemetry))
        self._dialect = 0
        self._draw = random.Random()
        self._pending: set[Stream] = set()
        self._begun_s = self._heard_s = 0.0

    async def run(self) -> None:
        """Keep a session; what goes wrong is counted, said once in the log, and tried again."""
        failures, said = 0, ""
        while True:
            error = await self._session()
            lived = self.health.state is State.UP and time.monotonic() - self._begun_s > self._policy.healthy_s
            failures = 1 if lived else failures + 1
            self.store.down(time.monotonic())
            if isinstance(error, Unimplemented) and self._next_dialect(error):
                failures = 0
                continue
            reason = next(reason for kind, reason in REASONS if isinstance(error, kind))
            refused = reason in REFUSALS
            self.health.errors[reason] += 1
            self.health.state = State.REFUSED if refused else State.RETRYING
            logger.log(logging.DEBUG if str(error) == said and not lived else logging.WARNING, "%s", error)
            said = str(error)
            await asyncio.sleep(self._policy.delay_s(failures, refused=refused, draw=self._draw))
            self.health.reconnects += 1

    async def _session(self) -> RailfabError:
        """One connection from its beginning to its end, which is always an error."""
        self.health.state = State.CONNECTING
        found: list[RailfabError] = []
        try:
            await self._converse()
        except* RailfabError as group:
            found.extend(_flat(group))
        return min(found, key=_rank)

    async def _converse(self) -> None:
        client = GnmiClient(self._endpoint, self._credentials, dial_timeout_s=self._policy.dial_timeout_s)
        async with AsyncExitStack() as stack:
            async with self._dials:
                await stack.enter_async_context(client)
            tasks = await stack.enter_async_context(asyncio.TaskGroup())
            subscriptions = self._subscriptions()
            self._begin(subscriptions)
            for stream, subscription in subscriptions.items():
                tasks.create_task(self._follow(client, stream, subscription))
            tasks.create_task(self._watch())

    def _begin(self, streams: Iterable[Stream]) -> None:
        self.health.state = State.SYNCING
        self.store.begin()
        self._pending = set(streams)
        self._begun_s = self._heard_s = time.monotonic()

    def _subscriptions(self) -> dict[Stream, Subscription]:
        """What to ask for, by stream, in the present dialect."""
        encoding, on_change = DIALECTS[self._dialect]
        sampled, changing = self._telemetry.sample_paths, self._telemetry.on_change_paths
        if not on_change:
            sampled, changing = (*sampled, *changing), ()
        asked = {Stream.SAMPLE: (sampled, self._interval_s), Stream.ON_CHANGE: (changing, None)}
        return {
            stream: Subscription(paths=paths, interval_s=interval_s, encoding=encoding)
            for stream, (paths, interval_s) in asked.items()
            if paths
        }

    async def _follow(self, client: GnmiClient, stream: Stream, subscription: Subscription) -> None:
        async for response in client.subscribe(subscription):
            if response.HasField("update"):
                self._take(self._decoder.decode(response.update), stream)
            elif response.sync_response:
                self._pending.discard(stream)
                self._sync_when_complete()

    def _take(self, decoded: Decoded, stream: Stream) -> None:
        """Store what a notification says, and count it."""
        now_s, now_ns = time.monotonic(), time.time_ns()
        health = self.health
        health.updates[stream] += decoded.updates
        health.drops[Drop.UNDECODABLE] += decoded.undecodable
        health.count_unmapped(decoded.unmapped)
        fresh = self.store.apply(decoded, stream, now_s)
        if stream is Stream.ON_CHANGE:
            return
        if fresh:
            self._heard_s = now_s
            health.last_update_s = now_ns / NS_PER_S
        if decoded.device_ns is not None:
            health.ingest_lag_s = (now_ns - decoded.device_ns) / NS_PER_S

    def _sync_when_complete(self) -> None:
        if not self._pending and self.health.state is State.SYNCING:
            self.health.state = State.UP
            self.store.synced()
            logger.info("%s: streaming, %s series", self.name, len(self.store))

    async def _watch(self) -> None:
        """Forget what is old, take a target that never says sync as synced, and end a session that fell silent."""
        while True:
            await asyncio.sleep(self._interval_s)
            now_s = time.monotonic()
            self.store.expire(now_s)
            if self._telemetry.sample_paths and now_s - self._heard_s > self._silence_s:
                problem = f"no sample for {now_s - self._heard_s:.0f} s though the stream is open"
                raise Stalled(self.name, problem, "It is subscribed again; if that does not help, look at the target")
            if self._pending and now_s - self._begun_s > self._silence_s:
                self._pending.clear()
                self._sync_when_complete()

    def _next_dialect(self, error: Unimplemented) -> bool:
        """Go on to another way of asking; False when all were refused, and the first is next again."""
        self._dialect = (self._dialect + 1) % len(DIALECTS)
        if self._dialect:
            encoding, on_change = DIALECTS[self._dialect]
            way = f"{gnmi_pb2.Encoding.Name(encoding)}, {'ON_CHANGE' if on_change else 'SAMPLE only'}"
            logger.info("%s Trying %s.", error, way)
        return bool(self._dialect)


def _flat(group: BaseExceptionGroup[RailfabError]) -> list[RailfabError]:
    """The errors of a group and of the groups in it."""
    found: list[RailfabError] = []
    for error in group.exceptions:
        found.extend(_flat(error) if isinstance(error, BaseExceptionGroup) else [error])
    return found


def _rank(error: RailfabError) -> int:
    """The place of an error in REASONS: what is first says most."""
    return next(place for place, (kind, _) in enumerate(REASONS) if isinstance(error, kind))
