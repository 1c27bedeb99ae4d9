"""The session with one target: connect, subscribe, store what arrives; after an error, again."""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections.abc import AsyncGenerator, Collection, Iterable, Iterator, Mapping
from contextlib import AsyncExitStack, aclosing, nullcontext, suppress
from typing import Any

import numpy as np

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError, EndpointError, LoginRefused, RailfabError, UnknownPlatform, Unreachable
from railfab.gnmi import messages
from railfab.gnmi.listening import listening_timeout
from railfab.gnmi.paths import elements
from railfab.gnmi.statuses import Busy, ConnectionLost, Refused, StreamClosed
from railfab.gnmi.tls import CertificateRefused, OtherProtocol
from railfab.metrics import Metric
from railfab.platforms import SIMULATED_TIME, has_simulated_time, of_twin, platform_names
from railfab.repeated_warnings import AGAIN_AFTER_S, RepeatedWarnings
from railfab.telemetry.budget import SeriesBudget
from railfab.telemetry.decode import Decoder, Taken
from railfab.telemetry.dials import Dials
from railfab.telemetry.health import Drop, Health, Reason, SessionState, Stream
from railfab.telemetry.lines import SampleLines, Writer
from railfab.telemetry.loop_clock import LoopClock
from railfab.telemetry.mapping import path_map
from railfab.telemetry.polling import Polls
from railfab.telemetry.receive.contract import Batch, Receiver, RpcEnded
from railfab.telemetry.retry import SILENT_INTERVALS, RetryPolicy
from railfab.telemetry.silence import SilentRpcs
from railfab.telemetry.store import NO_SPEEDS, RPC_BITS, Sample, TargetStore
from railfab.telemetry.subscriptions import SubscribeRpc, modes_of, of_target, subscribe_rpcs, time_question
from railfab.telemetry.targets.login import newest_credentials
from railfab.telemetry.targets.spec import TargetSpec
from railfab.telemetry.tasks import end_task
from railfab.telemetry.whole_samples import WholeSamples
from railfab.text.counted import counted
from railfab.units import NS_PER_S

logger = logging.getLogger(__name__)


ADD_IT = "Add its address, or leave it out with --limit"


class Stalled(DeviceError):
    """The stream is open and silent."""


class Lagging(DeviceError):
    """The samples of a target arrive ever later."""


class NoEndpoint(DeviceError):
    """A switch of the intent that no list of targets has."""


class NoCredentials(DeviceError):
    """The credentials that the endpoint refers to are not there."""


class HasSimulatedTime(DeviceError):
    """A target that was not known to be a virtual switch is one: it is subscribed to again, with its simulated time."""


class Defect(DeviceError):
    """An error of the collector itself in a session, which ends that session alone; its cause has the traceback."""


REASONS = (
    (CertificateRefused, Reason.TLS),
    (OtherProtocol, Reason.PROTOCOL),
    (EndpointError, Reason.TLS),
    (NoCredentials, Reason.LOGIN_REFUSED),
    (LoginRefused, Reason.LOGIN_REFUSED),
    (Refused, Reason.UNIMPLEMENTED),
    (Unreachable, Reason.UNREACHABLE),
    (Stalled, Reason.STALLED),
    (Lagging, Reason.LAGGING),
    (Defect, Reason.DEFECT),
    (RailfabError, Reason.CLOSED),
)
NO_LOGIN = Credentials("", "")
LATE_INTERVALS, LATE_S = 5, 10.0
"""A target is lagging whose samples arrive so many intervals and seconds later than at best."""
MOST_PATIENCE = 4
"""Number of times SILENT_INTERVALS for which a target that was silent before is given time to send its first event."""
REFUSALS = frozenset((Reason.TLS, Reason.PROTOCOL, Reason.LOGIN_REFUSED, Reason.UNIMPLEMENTED))


class TargetSession:
    """Streams one target into its store until cancelled. interval_s: of samples, unless its endpoint states another."""

    def __init__(
        self,
        spec: TargetSpec,
        receiver: Receiver,
        *,
        interval_s: float,
        policy: RetryPolicy,
        clock: LoopClock,
        dials: Dials,
        budget: SeriesBudget | None = None,
        designed_gbps: Mapping[str, float] = NO_SPEEDS,
    ) -> None:
        self.name, self.labels = spec.name, spec.labels
        self.target_labels = {"device": spec.name, **({"fabric": spec.fabric} if spec.fabric else {})}
        self.health = Health(tls_verified=spec.endpoint is not None and spec.endpoint.tls_verified)
        if spec.endpoint is not None and spec.endpoint.gnmi_interval_s is not None:
            interval_s = float(spec.endpoint.gnmi_interval_s)
        self.interval_s = interval_s
        silence_s = SILENT_INTERVALS * interval_s
        grace_s = silence_s if policy.grace_s is None else policy.grace_s
        self.store = TargetStore(
            spec.name,
            self.health,
            fabric=spec.fabric,
            expiry_s=silence_s,
            grace_s=grace_s,
            max_series=policy.max_series_per_target,
            budget=budget,
            skew_s=policy.skew_s,
            designed_gbps=designed_gbps,
        )
        self._whole = WholeSamples(self.store)
        self._healthy_s = silence_s if policy.healthy_s is None else policy.healthy_s
        self._warnings = RepeatedWarnings(logger, spec.name)
        self.living, self._writer = 0, Writer()
        self._spec, self._receiver = spec, receiver
        self._silence_s, self._policy = silence_s, policy
        self._clock, self._dials = clock, dials
        self._telemetry = spec.telemetry
        self._asks_time = not has_simulated_time(spec.telemetry)
        self._decoder = Decoder(spec.name, path_map(of_twin(spec.telemetry)), self.store)
        self._modes, self._mode = modes_of(spec.endpoint), 0
        self._draw = random.Random()
        self._rpcs = self._wanted_rpcs()
        self._numbers: dict[tuple[str, ...], int] = {}
        self._polls = Polls((), interval_s)
        self._pending: set[SubscribeRpc] = set()
        self._silence, self._silent_firsts, self._lagging = SilentRpcs(), 0, False
        self._ended_for_silence_s = self._ended_for_lag_s = -math.inf
        self._began_s = self._last_sample_s = 0.0

    @property
    def endpoint(self) -> Endpoint | None:
        """Where the target is; None for a switch that no list has."""
        return self._spec.endpoint

    @property
    def platform(self) -> str:
        """The platform of the target."""
        return self._spec.platform

    @property
    def encodings(self) -> tuple[str, ...]:
        """The names of the encodings in which the target is asked now."""
        numbers = dict.fromkeys(rpc.subscription.encoding for rpc in self._rpcs)
        return tuple(messages.Encoding.Name(number) for number in numbers)

    @property
    def collector_is_overloaded(self) -> bool:
        """Whether the collector reads its targets later than they send. Any thread."""
        return self._clock.is_overloaded

    @property
    def is_up(self) -> bool:
        """Whether all subscriptions stream and are in sync, and there are series where they bring any at once.

        A session without a series in a scrape is not up, also where it begins or ends while the scrape is written.
        """
        return self.health.state is SessionState.UP and (self.living > 0 or self._may_be_empty)

    @property
    def subscriptions(self) -> dict[Stream, bool]:
        """Whether all RPCs of each kind of subscription that the target has stream and are in sync. Any thread."""
        rpcs, pending = self._rpcs, (*self._pending, *self._silence.rpcs)
        is_open = self.health.state in (SessionState.SYNCING, SessionState.UP)
        return {
            stream: is_open
            and not any(rpc.stream is stream for rpc in pending)
            and not (stream is Stream.SAMPLE and self._lagging)
            for stream in Stream
            if any(rpc.stream is stream for rpc in rpcs)
        }

    @property
    def sample_interval_s(self) -> float | None:
        """Time in which a sampled update is due; None where none is. Any thread."""
        lasts_s = min((rpc.lasts_s for rpc in self._rpcs if rpc.stream is Stream.SAMPLE), default=math.inf)
        return None if math.isinf(lasts_s) else lasts_s / SILENT_INTERVALS

    @property
    def _may_be_empty(self) -> bool:
        return all(rpc.subscription.updates_only for rpc in self._rpcs)

    @property
    def receiver(self) -> str:
        """The name of the receiver of the target; `none` without an endpoint."""
        return "none" if self.endpoint is None else self._receiver.name_of(self.endpoint)

    async def run(self) -> None:
        """Keep a session up; an error is counted, logged once, and followed by another attempt."""
        if (endpoint := self._spec.endpoint) is None:
            await self._wait_refused(Reason.NO_ENDPOINT, NoEndpoint(self.name, "no list of targets has it", ADD_IT))
            return
        if not self._spec.telemetry.rules:
            await self._wait_refused(Reason.UNIMPLEMENTED, _unknown(self._spec))
            return
        failures, refused_before = 0, False
        while True:
            error = await self._run_once(endpoint)
            was_healthy = self.health.state is SessionState.UP and self._clock.now_s() - self._began_s > self._healthy_s
            failures = 1 if was_healthy else failures + 1
            if isinstance(error, HasSimulatedTime) or (isinstance(error, Refused) and self._next_mode(error)):
                self.store.down(self._clock.now_s())
                self.health.state = SessionState.CONNECTING
                failures = 0
                continue
            refused = self._end(error)
            if refused is not refused_before:
                failures, refused_before = 1, refused
            await asyncio.sleep(self._policy.delay_s(failures, refused=refused, draw=self._draw))
            self.health.reconnects += 1

    def _end(self, error: RailfabError) -> bool:
        """Count and log the end of a session; whether the target refuses it."""
        reason = next(reason for kind, reason in REASONS if isinstance(error, kind))
        if isinstance(error, (StreamClosed, ConnectionLost)) and self._clock.explains_end():
            reason = Reason.UNREAD
        refused = reason in REFUSALS
        self.health.errors[reason] += 1
        self.health.last_error = str(error)
        self.health.state = SessionState.REFUSED if refused else SessionState.RETRYING
        self.store.down(self._clock.now_s(), grace=reason is not Reason.STALLED)
        cause = error.__cause__ if reason is Reason.DEFECT else None
        if reason is not Reason.UNREAD:
            self._warnings.warning(str(error), again=self.health.was_up, cause=cause)
        self.health.was_up = False
        return refused

    async def _wait_refused(self, reason: Reason, error: RailfabError) -> None:
        """Count and log why nothing is collected, and wait to be cancelled."""
        self.health.state = SessionState.REFUSED
        self.health.errors[reason] += 1
        self.health.last_error = str(error)
        self._warnings.warning(str(error))
        await asyncio.Event().wait()

    def page(self) -> SampleLines:
        """The lines of every series that is true now."""
        return self._writer.page(self.sample())

    def samples(self, names: Collection[str] | None = None) -> Iterator[tuple[Metric, dict[str, str], float]]:
        """Metric, labels and value of every series that is true now. names: only those metrics."""
        sample = self.sample()
        table = sample.table
        wanted = np.array([names is None or metric.name in names for metric in table.metrics], bool)
        rows = np.flatnonzero(sample.live)
        rows = rows[wanted[table.lines.metric[rows]]] if len(rows) else rows
        for row, value in zip(rows.tolist(), sample.values[rows].tolist(), strict=True):
            metric, labels = table.describe(row)
            yield metric, labels, value

    def now_s(self) -> float:
        """The time of the loop's clock, in which arrivals are."""
        return self._clock.now_s()

    def sample(self) -> Sample:
        """What is true now."""
        sample = self._whole.sample(self._clock.now_s())
        self.living = sample.count
        return sample

    async def _run_once(self, endpoint: Endpoint) -> RailfabError:
        """Wait for a dial, connect and stream until an error ends it; return the error."""
        self._rpcs = self._wanted_rpcs()
        self._polls = Polls(self._rpcs, self.interval_s)
        found: list[RailfabError] = []
        try:
            async with AsyncExitStack() as ends:
                async with self._dials:
                    self.health.state = SessionState.CONNECTING
                    stream = await ends.enter_async_context(aclosing(await self._stream(endpoint)))
                    ends.enter_context(self._polls)
                    first = asyncio.ensure_future(anext(stream))
                    ends.push_async_callback(end_task, first)
                    await self._connected(first)
                event = await self._first(first)
                self._begin()
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self._watch(), name=f"{self.name} watch")
                    tasks.create_task(self._follow(stream, event), name=f"{self.name} stream")
        except* RailfabError as group:
            found.extend(error for error in _leaves(group) if isinstance(error, RailfabError))
        except* Exception as group:  # noqa: BLE001 what one target uncovers must not end the sessions of all others
            found.append(_defect(self.name, next(_leaves(group))))
        finally:
            self._whole.end()
        return min(found, key=_rank)

    def _wanted_rpcs(self) -> tuple[SubscribeRpc, ...]:
        """The RPCs of the target in the present mode."""
        endpoint, telemetry = self._spec.endpoint, self._telemetry
        wanted = telemetry.subscriptions if endpoint is None else of_target(telemetry, endpoint)
        return subscribe_rpcs(wanted, self.interval_s, self._modes[self._mode])

    async def _stream(self, endpoint: Endpoint) -> AsyncGenerator[Batch | RpcEnded]:
        """The stream of the target, with its credentials as they are now; it connects once it is asked for an event."""
        credentials = await _login(endpoint) if self._receiver.needs_login else NO_LOGIN
        wanted = [rpc.subscription for rpc in self._rpcs]
        if self._asks_time:
            wanted.append(time_question(self._modes[self._mode]))
        requests = [subscription.request(endpoint.gnmi_target) for subscription in wanted]
        return self._receiver.stream(endpoint, credentials, requests, self._polls.begin)

    async def _connected(self, first: asyncio.Future[Batch | RpcEnded]) -> None:
        """Wait until the target is connected, or the first event of its stream shows why it is not."""
        connected = asyncio.ensure_future(self._polls.connected.wait())
        waiting: set[asyncio.Future[Any]] = {first, connected}
        try:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            connected.cancel()

    async def _first(self, first: asyncio.Future[Batch | RpcEnded]) -> Batch | RpcEnded:
        """What the target sends first.

        Raises Stalled when one that is connected sends nothing for 3 intervals, the next time for twice as long, and
        then for MOST_PATIENCE times: what reads its leaves more slowly would else begin to read them for ever.
        """
        patience_s = self._silence_s * min(1 << self._silent_firsts, MOST_PATIENCE)
        with suppress(TimeoutError):
            async with listening_timeout(patience_s):
                await asyncio.wait({first})
        if not first.done():
            self._silent_firsts += 1
            raise self._stalled(patience_s)
        self._silent_firsts = 0
        return first.result()

    def _begin(self) -> None:
        """Start afresh, in the present mode."""
        self.health.state = SessionState.SYNCING
        self._whole.begin(self._clock.now_s())
        self.store.begin(self._number(rpc) for rpc in self._rpcs if rpc.subscription.updates_only)
        self._pending = set(self._rpcs)
        self._silence = SilentRpcs()
        self.health.backlogs = {}
        self._began_s = self._last_sample_s = self._clock.now_s()

    async def _follow(self, stream: AsyncGenerator[Batch | RpcEnded], event: Batch | RpcEnded) -> None:
        """Take in what the target sends, until an error ends it."""
        while True:
            if event.rpc == len(self._rpcs):
                self._take_answer(event)
            elif isinstance(event, Batch):
                self._take(event)
            elif event.error:
                self._failed(event.rpc, event.error)
            else:
                self._ended(event.rpc)
            event = await anext(stream)

    def _take_answer(self, event: Batch | RpcEnded) -> None:
        """Take the answer to whether the target has a simulated time; a replay cannot be subscribed to again.

        Raises HasSimulatedTime where it has.
        """
        if isinstance(event, RpcEnded) and isinstance(event.error, Busy):
            self._polls.refused_for_now(event.rpc)
            return
        self._asks_time = False
        if isinstance(event, Batch) and self._receiver.needs_login and _has_time(event):
            self._telemetry = of_twin(self._telemetry)
            found = HasSimulatedTime(self.name, "is a virtual switch", "Its simulated time is subscribed to as well")
            self._warnings.info("%s", found)
            raise found

    def _failed(self, place: int, error: DeviceError) -> None:
        """Have an RPC for which the target was too busy made again, or do without one that it may refuse.

        Raises the error of any other.
        """
        rpc = self._rpcs[place]
        if isinstance(error, Busy):
            self.health.last_error = str(error)
            self._warnings.warning(str(error))
            self._polls.refused_for_now(place)
            if rpc.optional:
                self._pending.discard(rpc)
                self._sync_when_complete()
            return
        if not (rpc.optional and isinstance(error, Refused)):
            raise error
        paths = ", ".join(rpc.subscription.paths)
        self._warnings.info("%s The target does not serve %s; all other subscriptions continue.", error, paths)
        self._pending.discard(rpc)
        self._sync_when_complete()

    def _take(self, batch: Batch) -> None:
        """Decode a batch into the store, and count it."""
        rpc, now_s = self._rpcs[batch.rpc], self._clock.now_s()
        self.health.held_back_s += batch.waited_s
        self._polls.arrived(batch.rpc, now_s)
        with self._whole.arriving(now_s) if rpc.is_timed else nullcontext():
            taken = self._decoder.take(batch.buffer, batch.bounds, now_s, lasts_s=rpc.lasts_s, rpc=self._number(rpc))
        self._count(taken, rpc, now_s)
        if taken.synced:
            self._synced(batch.rpc)
        if self.health.state is SessionState.SYNCING and (taken.synced or len(self.store)):
            self._sync_when_complete()

    def _synced(self, place: int) -> None:
        """An RPC has sent all its leaves. Those of one that is asked are all that it has now."""
        rpc = self._rpcs[place]
        self._pending.discard(rpc)
        if (began_s := self._polls.answered(place)) is not None:
            self.store.answered(self._number(rpc), began_s)
        if rpc.subscription.mode == messages.SubscriptionList.POLL:
            self._polls.ask_later(place)

    def _ended(self, place: int) -> None:
        """An RPC of mode ONCE has ended, on some targets without a sync_response."""
        self._synced(place)
        self._polls.ask_later(place)
        self._sync_when_complete()

    def _number(self, rpc: SubscribeRpc) -> int:
        """The number of an RPC for the store, the same in each session."""
        return self._numbers.setdefault(rpc.subscription.paths, len(self._numbers) % (1 << RPC_BITS))

    def _count(self, taken: Taken, rpc: SubscribeRpc, now_s: float) -> None:
        health, now_ns = self.health, time.time_ns()
        health.updates[rpc.stream] += taken.updates
        if taken.undecodable:
            health.drops[Drop.UNDECODABLE] += taken.undecodable
        if taken.unmapped:
            health.count_unmapped(taken.unmapped)
        regular = not math.isinf(rpc.lasts_s)
        if taken.updates and regular:
            self._silence.arrived(rpc, now_s)
        if taken.fresh and regular:
            self._last_sample_s = now_s
        if rpc.stream is Stream.ON_CHANGE:
            return
        if taken.fresh and regular:
            health.last_update_s = now_ns / NS_PER_S
        if taken.device_ns is not None:
            health.delayed(taken.device_ns, (now_ns - taken.device_ns) / NS_PER_S, now_s, self._number(rpc))

    def _sync_when_complete(self) -> None:
        """Once every RPC has sent its leaves, and one of them is mapped, the session is up."""
        if self._pending or self.health.state is not SessionState.SYNCING:
            return
        self.store.synced()
        self._whole.synced()
        if not len(self.store) and not self._may_be_empty:
            self._warnings.warning(f"{self.name}: streams nothing that has a metric. Check its platform, and --map")
            return
        self.health.state = SessionState.UP
        self.health.was_up = True
        self.health.last_error = ""
        self._warnings.info("%s: streaming, %s series", self.name, len(self.store))
        if self.endpoint and self.endpoint.gnmi_encoding and not self._modes[self._mode].all_paths:
            given, taken = self.endpoint.gnmi_encoding.upper(), ", ".join(self.encodings)
            self._warnings.warning(
                f"{self.name}: refuses {given}, which gnmi_encoding states; it is received in {taken}"
            )

    async def _watch(self) -> None:
        """Expire old samples, end a silent session, and do without the sync of a target that sends none.

        Silence is measured with the clock of our own loop, which does not count the time that we are late.
        """
        while True:
            await asyncio.sleep(self.interval_s)
            now_s = self._clock.now_s()
            self.store.expire(now_s)
            if self._is_silent() or self._silence.has_changed(now_s):
                await self._clock.on_time()  # samples that have arrived unread are read meanwhile
                if self._is_silent():
                    raise self._stalled(self._clock.now_s() - self._last_sample_s)
                self._watch_rpcs()
            self._watch_backlog(now_s)
            if self._pending and now_s - self._began_s > self._silence_s:
                self._pending.clear()
                self._sync_when_complete()

    def _is_silent(self) -> bool:
        """Whether even the samples that come most often have stopped."""
        most_s = min((rpc.lasts_s for rpc in self._rpcs), default=math.inf)
        return self._clock.now_s() - self._last_sample_s > most_s

    def _watch_rpcs(self) -> None:
        """Log and count the RPCs that have become silent.

        Raises Stalled to have them made again, but once in AGAIN_AFTER_S: a target that stops the same RPC each time
        keeps its other series.
        """
        now_s, before = self._clock.now_s(), self._silence.rpcs
        begun = self._silence.look(now_s)
        if begun and now_s - self._ended_for_silence_s > AGAIN_AFTER_S:
            self._ended_for_silence_s = now_s
            raise self._stalled(max(self._silence.age_s(rpc, now_s) for rpc in begun), begun)
        if begun:
            self.health.errors[Reason.STALLED] += 1
            self._warnings.warning(f"{self.name}: no sample of {_paths(begun)}, all other subscriptions continue")
        elif before and not self._silence.rpcs:
            self._warnings.info("%s: samples of all subscriptions arrive again", self.name)

    def _watch_backlog(self, now_s: float) -> None:
        """Log and count a target whose samples are late.

        Raises Lagging to have it subscribed again, which drops what waits to be sent, but once in AGAIN_AFTER_S.
        """
        before, self._lagging = self._lagging, self.health.backlog_s > LATE_INTERVALS * self.interval_s + LATE_S
        if before or not self._lagging or self._clock.is_overloaded:
            return
        late_s = self.health.backlog_s
        if now_s - self._ended_for_lag_s > AGAIN_AFTER_S:
            self._ended_for_lag_s = now_s
            remedy = "It is subscribed again; if that does not help, sample less often (gnmi_interval_s)"
            problem = f"its samples arrive {late_s:.0f} s late, and ever later: it sends more slowly than it samples"
            raise Lagging(self.name, problem, remedy)
        self.health.errors[Reason.LAGGING] += 1
        self._warnings.warning(
            f"{self.name}: its samples arrive {late_s:.0f} s late. Sample less often (gnmi_interval_s)"
        )

    def _stalled(self, silent_s: float, rpcs: Collection[SubscribeRpc] = ()) -> Stalled:
        remedy = "It is subscribed again; if that does not help, check the target"
        of = f" of {_paths(rpcs)}" if rpcs else ""
        return Stalled(self.name, f"no sample{of} for {silent_s:.0f} s though the stream is open", remedy)

    def _next_mode(self, error: Refused) -> bool:
        """Choose the next mode; False when all were refused, and the first is next again."""
        self._mode = (self._mode + 1) % len(self._modes)
        if self._mode:
            self._warnings.info("%s Trying %s.", error, self._modes[self._mode])
        return bool(self._mode)


def _has_time(answer: Batch) -> bool:
    """Whether a message has the leaf of the simulated time; one without a value has no update."""
    leaf = elements(SIMULATED_TIME)[-1].name.encode()
    return any(leaf in answer.buffer[start:end].tobytes() for start, end in answer.bounds.tolist())


def _paths(rpcs: Iterable[SubscribeRpc]) -> str:
    """The first path of some RPCs, and how many more there are."""
    first, *more = sorted(path for rpc in rpcs for path in rpc.subscription.paths)
    return f"{first} and {counted(len(more), 'other path')}" if more else first


async def _login(endpoint: Endpoint) -> Credentials:
    """The credentials as they are now. Raises NoCredentials."""
    try:
        return await newest_credentials(endpoint)
    except EndpointError as error:
        raise NoCredentials(error.where, error.problem, error.remedy) from None


def _unknown(spec: TargetSpec) -> UnknownPlatform:
    problem = f"platform {spec.platform!r} is not supported, nothing is collected from it"
    return UnknownPlatform(spec.name, problem, f"Use one of {', '.join(platform_names())}")


def _defect(name: str, cause: BaseException) -> Defect:
    problem = f"an error of the collector itself ended the session ({type(cause).__name__})"
    defect = Defect(name, problem, "Report it with the traceback in the log; the session is opened again")
    defect.__cause__ = cause
    return defect


def _leaves(error: BaseException) -> Iterator[BaseException]:
    """The errors of a group and of the groups in it; an error that is none itself."""
    if not isinstance(error, BaseExceptionGroup):
        yield error
        return
    for inner in error.exceptions:
        yield from _leaves(inner)


def _rank(error: RailfabError) -> int:
    """The index of an error in REASONS; the first is the most specific."""
    return next(index for index, (kind, _) in enumerate(REASONS) if isinstance(error, kind))
