"""The gNMI client: Capabilities, Get, Set and Subscribe of one target, on an event loop. See `blocking` for threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Any, NamedTuple, Self

import grpc
from google.protobuf.message import DecodeError

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError
from railfab.gnmi import messages
from railfab.gnmi.extensions import commit_extension
from railfab.gnmi.login import login_metadata, login_name
from railfab.gnmi.paths import proto_elements, to_proto, wire_elements
from railfab.gnmi.statuses import Callee, Status
from railfab.gnmi.target import Commit, DataType, Found, YangModel
from railfab.gnmi.tls import address_of
from railfab.gnmi.trust import Trust, trust_of
from railfab.gnmi.values import JSON_IETF, GnmiValueError, decode, encode
from railfab.units import NS_PER_S

DIAL_TIMEOUT_S = 10.0
CALL_TIMEOUT_S = 60.0
"""Deadline of a call that is not a stream [s]. A Set of a whole configuration takes seconds on a switch."""
OPTIONS = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 20_000),
    ("grpc.http2.max_pings_without_data", 0),
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.use_local_subchannel_pool", 1),
    ("grpc.enable_retries", 0),
)
"""Keepalive pings detect a dead peer within 50 s (grpcio pings less often when the peer asks for it). Channels share
nothing, so that a new one connects at once. There are no retries: the caller decides when to try again."""


class GnmiCapabilities(NamedTuple):
    """Version, encodings (by number) and models of a target."""

    version: str
    encodings: tuple[int, ...]
    models: tuple[YangModel, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SetChanges:
    """The operations of one Set: paths to delete, and paths with values, as JSON, to replace and to update.

    union_replace: values whose union replaces the subtrees of their paths in the running configuration; with values of
    a CLI, which have no paths, it replaces the whole (OpenConfig, union_replace gNMI method, sections 5.2.2 and 5.3.2).
    A target takes it alone, if at all.
    """

    delete: tuple[str, ...] = ()
    replace: tuple[tuple[str, Any], ...] = ()
    update: tuple[tuple[str, Any], ...] = ()
    union_replace: tuple[tuple[str, Any], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.delete or self.replace or self.update or self.union_replace)


@dataclass(frozen=True, slots=True, kw_only=True)
class Subscription:
    """Paths to subscribe to in one mode.

    interval_s: of SAMPLE and TARGET_DEFINED [s]; None is ON_CHANGE. encoding: a gNMI encoding (`values.PROTO`,
    `values.JSON_IETF`). target: in the prefix of the request. mode: STREAM, POLL or ONCE of SubscriptionList; the
    latter two have no interval. target_defined: whether the target chooses between SAMPLE and ON_CHANGE.
    heartbeat_s: how often it also sends what has not changed [s]. suppress_redundant: whether samples that have not
    changed are left out. updates_only: whether the stream begins without the present values.
    """

    paths: tuple[str, ...]
    interval_s: float | None
    encoding: int
    target: str = ""
    mode: int = messages.SubscriptionList.STREAM
    target_defined: bool = False
    heartbeat_s: float | None = None
    suppress_redundant: bool = False
    updates_only: bool = False

    def request(self, gnmi_target: str = "") -> messages.SubscribeRequest:
        """The SubscribeRequest. gnmi_target: that of the endpoint, for a subscription without its own."""
        wanted = messages.SubscriptionList(
            subscription=[self._one(path) for path in self.paths],
            mode=self.mode,
            encoding=self.encoding,
            updates_only=self.updates_only,
        )
        if target := self.target or gnmi_target:
            wanted.prefix.target = target
        return messages.SubscribeRequest(subscribe=wanted)

    def _one(self, path: str) -> messages.Subscription:
        if self.mode != messages.SubscriptionList.STREAM:
            return messages.Subscription(path=to_proto(path))
        modes = messages.SubscriptionMode
        sampled = modes.ON_CHANGE if self.interval_s is None else modes.SAMPLE
        return messages.Subscription(
            path=to_proto(path),
            mode=modes.TARGET_DEFINED if self.target_defined else sampled,
            sample_interval=round((self.interval_s or 0) * NS_PER_S),
            heartbeat_interval=round((self.heartbeat_s or 0) * NS_PER_S),
            suppress_redundant=self.suppress_redundant,
        )


class GnmiClient:
    """One connection to one target, over TLS unless its endpoint says plaintext; an async context manager.

    Entering it connects. Raises EndpointError, Unreachable or LoginRefused (and their kinds in `tls`), and
    each call Unreachable, LoginRefused, Refused or DeviceError. Errors and logs never have the password or token.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        credentials: Credentials,
        *,
        dial_timeout_s: float = DIAL_TIMEOUT_S,
        call_timeout_s: float = CALL_TIMEOUT_S,
    ) -> None:
        self._endpoint = endpoint
        self._callee = Callee(endpoint.name, address_of(endpoint), login_name(credentials), call_timeout_s)
        self._metadata = login_metadata(credentials)
        self._dial_timeout_s = dial_timeout_s
        self._call_timeout_s = call_timeout_s
        self._channel: grpc.aio.Channel

    async def __aenter__(self) -> Self:
        trust = await trust_of(self._endpoint, self._dial_timeout_s)
        backoff = ("grpc.min_reconnect_backoff_ms", round(self._dial_timeout_s * 1000))
        self._channel = channel_to(grpc.aio, self._callee.address, trust, [*OPTIONS, backoff])
        await self._connected()
        return self

    async def _connected(self) -> None:
        """Wait until the connection is established or has failed; the first call raises the error."""
        state = self._channel.get_state(try_to_connect=True)
        with suppress(TimeoutError):
            async with asyncio.timeout(self._dial_timeout_s):
                while state in (grpc.ChannelConnectivity.IDLE, grpc.ChannelConnectivity.CONNECTING):
                    await self._channel.wait_for_state_change(state)
                    state = self._channel.get_state(try_to_connect=True)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._channel.close(None)

    async def capabilities(self) -> GnmiCapabilities:
        """The gNMI version, encodings and models of the target."""
        answer = await self._call("Capabilities", messages.CapabilityRequest(), messages.CapabilityResponse)
        models = tuple(YangModel(model.name, model.organization, model.version) for model in answer.supported_models)
        return GnmiCapabilities(answer.gNMI_version, tuple(answer.supported_encodings), models)

    async def get(
        self, paths: Sequence[str], data_type: DataType = DataType.ALL, encoding: int = JSON_IETF
    ) -> list[Found]:
        """The values at these paths, in one request. Raises Absent when there is nothing at one of them."""
        wanted = messages.GetRequest.DataType.Value(data_type.value)
        request = messages.GetRequest(path=map(to_proto, paths), type=wanted, encoding=encoding)
        answer = await self._call("Get", self._addressed(request), messages.GetResponse)
        return self._values(answer.notification)

    async def set(self, changes: SetChanges, commit: Commit | None = None) -> None:
        """Apply all changes or none. commit: gNMI's commit-confirmed extension.

        Raises Refused: Unimplemented when the target lacks the extension, NotNow when another commit is unconfirmed.
        """
        request = messages.SetRequest(delete=map(to_proto, changes.delete))
        for operation in ("replace", "update", "union_replace"):
            for path, value in getattr(changes, operation):
                getattr(request, operation).add(path=to_proto(path), val=encode(value, JSON_IETF))
        if commit is not None:
            request.extension.append(commit_extension(commit))
        await self._call("Set", self._addressed(request), messages.SetResponse)

    async def once(self, paths: Sequence[str], encoding: int = JSON_IETF) -> list[Found]:
        """The values at these paths now (Subscribe, mode ONCE); paths at which there is nothing add nothing."""
        return self._values(await self.snapshot(paths, encoding))

    async def snapshot(
        self, paths: Sequence[str], encoding: int = JSON_IETF, target: str = ""
    ) -> list[messages.Notification]:
        """The same as the target sends it. target: in the prefix of the request, in place of the endpoint's."""
        request = _once(tuple(paths), encoding, target or self._endpoint.gnmi_target or "")
        notifications: list[messages.Notification] = []
        async with aclosing(self._stream(request, self._call_timeout_s)) as stream:
            async for response in stream:
                if response.sync_response:
                    return notifications
                notifications.append(response.update)
        raise self._callee.ended()

    async def subscribe(self, subscription: Subscription) -> AsyncGenerator[messages.SubscribeResponse]:
        """The target's notifications and its sync_response, until the stream ends; without a deadline.

        Raises as every call does, or StreamClosed; it never just returns.
        """
        async with aclosing(self._stream(subscription.request(self._endpoint.gnmi_target), None)) as stream:
            async for response in stream:
                yield response
        raise self._callee.ended()

    def _addressed(self, request: Any) -> Any:
        """The request, to the endpoint's target in its prefix (gNMI specification, 2.2.2.1)."""
        if self._endpoint.gnmi_target:
            request.prefix.target = self._endpoint.gnmi_target
        return request

    async def _call(self, method: str, request: Any, answer: Any) -> Any:
        """Make a unary call."""
        call: Any = self._channel.unary_unary(
            messages.METHODS[method],
            request_serializer=type(request).SerializeToString,
            response_deserializer=None,
        )
        try:
            raw = await call(request, timeout=self._call_timeout_s, metadata=self._metadata)
        except grpc.aio.AioRpcError as error:
            raise self._error(error, method) from None
        return self._parsed(raw, answer)

    def _parsed(self, raw: bytes, answer: Any) -> Any:
        """The message that a target has sent."""
        try:
            return answer.FromString(raw)
        except (DecodeError, UnicodeDecodeError):
            name = answer.DESCRIPTOR.name
            raise self._undecodable(f"sent {len(raw):,} bytes that are no {name} of gNMI") from None

    def _undecodable(self, problem: str) -> DeviceError:
        return DeviceError(self._callee.name, problem, "Check that the port is that of gNMI, and the switch's release")

    def _values(self, notifications: Iterable[messages.Notification]) -> list[Found]:
        """The updates of notifications, with their whole paths."""
        try:
            return [update for notification in notifications for update in _values(notification)]
        except GnmiValueError as error:
            raise self._undecodable(f"sent a gNMI value that cannot be read: {error.problem}") from None

    async def _stream(self, request: messages.SubscribeRequest, timeout_s: float | None) -> AsyncGenerator[Any]:
        """The responses to a Subscribe."""
        call = self._subscribe(self._channel.stream_stream)(metadata=self._metadata, timeout=timeout_s)
        started = False
        try:
            if not await _written(call, request):  # no done_writing: some targets then end the stream
                subscribe = self._subscribe(self._channel.unary_stream)
                call = subscribe(request, metadata=self._metadata, timeout=timeout_s)
            async for response in call:
                started = True
                yield self._parsed(response, messages.SubscribeResponse)
        except grpc.aio.AioRpcError as error:
            raise self._callee.broken(_status(error)) if started else self._error(error, "Subscribe") from None
        finally:
            call.cancel()

    def _subscribe(self, kind: Callable[..., Any]) -> Any:
        """The method Subscribe. kind: of the channel, of methods with a stream of requests or a single request."""
        return kind(
            messages.METHODS["Subscribe"],
            request_serializer=messages.SubscribeRequest.SerializeToString,
            response_deserializer=None,
        )

    def _error(self, error: grpc.aio.AioRpcError, method: str) -> DeviceError:
        return self._callee.refusal(_status(error), method)


@lru_cache(maxsize=64)
def _once(paths: tuple[str, ...], encoding: int, target: str) -> messages.SubscribeRequest:
    """The request of the values at these paths now, the same for every switch."""
    subscriptions = [messages.Subscription(path=to_proto(path)) for path in paths]
    wanted = messages.SubscriptionList(
        subscription=subscriptions, mode=messages.SubscriptionList.ONCE, encoding=encoding
    )
    if target:
        wanted.prefix.target = target
    return messages.SubscribeRequest(subscribe=wanted)


async def _written(call: Any, request: messages.SubscribeRequest) -> bool:
    """Whether the request was written: not where the target had ended the call, whose status grpc.aio then forgets."""
    try:
        await call.write(request)
    except grpc.aio.AioRpcError as error:
        if error.code() is grpc.StatusCode.INTERNAL:
            return False
        raise
    return True


def channel_to(api: Any, address: str, trust: Trust | None, options: list[tuple[str, int | str]]) -> Any:
    """A channel that trusts what was verified; without TLS for None. api: `grpc` or `grpc.aio`."""
    if trust is None:
        return api.insecure_channel(address, options=options)
    if trust.name is not None:
        options = [*options, ("grpc.ssl_target_name_override", trust.name)]
    identity = grpc.ssl_channel_credentials(trust.pem, trust.client_key, trust.client_cert)
    return api.secure_channel(address, identity, options=options)


def _values(notification: messages.Notification) -> list[Found]:
    """The updates of a notification, with their whole paths."""
    prefix = proto_elements(notification.prefix)
    return [
        Found(prefix + wire_elements(update.path.SerializeToString()), decode(update.val))
        for update in notification.update
    ]


def _status(error: grpc.aio.AioRpcError) -> Status:
    return Status(error.code().name, error.details())
