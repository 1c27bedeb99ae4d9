"""What targets answer, asked once: whether they can be reached, log us in and have the subscribed paths."""

from __future__ import annotations

import asyncio
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from cryptography import x509

from railfab.endpoints import Endpoint
from railfab.errors import EndpointError, LoginRefused, RailfabError
from railfab.gnmi import messages
from railfab.gnmi.client import GnmiClient
from railfab.gnmi.first_contact import first_contact
from railfab.gnmi.statuses import CallFailed, Refused, StreamClosed, Unimplemented
from railfab.gnmi.tls import CertificateRefused, ClientCertificateRefused, address_of, context_of
from railfab.gnmi.values import JSON, JSON_IETF, PROTO
from railfab.platforms import TelemetrySubscription
from railfab.telemetry.mapping import path_map
from railfab.telemetry.notification import NotificationDecoder, normalised_ns
from railfab.telemetry.subscriptions import encoding_number, of_target
from railfab.telemetry.targets import TargetSpec, newest_credentials
from railfab.units import NS_PER_S

DIAL_TIMEOUT_S, CALL_TIMEOUT_S = 10.0, 30.0
DIALS = 32
"""Targets that are checked at one time."""
ENCODINGS = (PROTO, JSON_IETF, JSON)
"""Tried in turn where the target does not tell its encodings."""


@dataclass(frozen=True, slots=True)
class PathCheck:
    """What one subscribed path gives. leaves: that arrived; unmapped: of them, without a rule. error: a refusal.

    encoding: the number of the one that is not refused; None where all are. needed: whether the target should have data
    there; an optional path is never needed.
    """

    subscription: TelemetrySubscription
    leaves: int = 0
    unmapped: int = 0
    error: str = ""
    encoding: int | None = None
    needed: bool = True

    @property
    def is_counted(self) -> bool:
        """Whether it has data or could have: not where the intent uses nothing of it."""
        return bool(self.leaves or self.error) or self.needed or self.subscription.optional


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetCheck:
    """What one target answers.

    reachable: whether it speaks gNMI at its address. logged_in: None where it was not asked. expires: of its
    certificate, None without TLS or where it was not shown. encodings: by number, None where it answers no
    Capabilities. skew_s: its newest time stamp minus our time [s]; None where it sent none. error: what ended the
    check.
    """

    target: TargetSpec
    reachable: bool = False
    logged_in: bool | None = None
    expires: datetime | None = None
    version: str = ""
    encodings: tuple[int, ...] | None = None
    paths: tuple[PathCheck, ...] = ()
    skew_s: float | None = None
    error: RailfabError | None = None


Needed = Callable[[TargetSpec, TelemetrySubscription], bool]
"""Whether a target should have data at a path that is not optional."""


def all_needed(_: TargetSpec, __: TelemetrySubscription) -> bool:
    """Expect data at every path: of targets without an intent."""
    return True


async def check_targets(
    targets: Sequence[TargetSpec], needed: Needed = all_needed, checked: Callable[[], object] = lambda: None
) -> list[TargetCheck]:
    """Check all targets, several at a time, in their order. checked: called after each."""
    dials = asyncio.Semaphore(DIALS)

    async def one(target: TargetSpec) -> TargetCheck:
        async with dials:
            found = await _checked(target, needed)
        checked()
        return found

    return list(await asyncio.gather(*map(one, targets)))


async def _checked(target: TargetSpec, needed: Needed) -> TargetCheck:
    endpoint = target.endpoint
    if endpoint is None:
        error = EndpointError(target.name, "has no address", "Add it to the list of targets")
        return TargetCheck(target=target, error=error)
    check = _Check(target, endpoint, needed)
    try:
        credentials = await newest_credentials(endpoint)
        check.found = replace(check.found, expires=await _expiry(endpoint))
        async with GnmiClient(
            endpoint, credentials, dial_timeout_s=DIAL_TIMEOUT_S, call_timeout_s=CALL_TIMEOUT_S
        ) as client:
            check.found = replace(check.found, reachable=True)
            await check.ask(client)
    except RailfabError as error:
        reachable = check.found.reachable or isinstance(error, CertificateRefused | ClientCertificateRefused)
        refused = False if isinstance(error, LoginRefused) and check.found.reachable else check.found.logged_in
        return replace(check.found, error=error, reachable=reachable, logged_in=refused)
    return check.found


async def _expiry(endpoint: Endpoint) -> datetime | None:
    """When the certificate of a target expires, whether or not it is trusted. Nothing secret is sent."""
    if endpoint.plaintext:
        return None
    context = await asyncio.to_thread(context_of, endpoint)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    shown = await first_contact(endpoint, address_of(endpoint), context, DIAL_TIMEOUT_S)
    return x509.load_der_x509_certificate(shown).not_valid_after_utc if shown else None


@dataclass(slots=True)
class _Check:
    """The calls to one target, and what they have found. stated: the encoding that the endpoint states."""

    target: TargetSpec
    endpoint: Endpoint
    needed: Needed
    found: TargetCheck = field(init=False)
    decoder: NotificationDecoder = field(init=False)
    stated: int | None = field(init=False)

    def __post_init__(self) -> None:
        self.found = TargetCheck(target=self.target)
        self.stated = encoding_number(self.endpoint.gnmi_encoding) if self.endpoint.gnmi_encoding else None
        self.decoder = NotificationDecoder(path_map(self.target.telemetry))

    async def ask(self, client: GnmiClient) -> None:
        await self._capabilities(client)
        encodings = [one for one in ENCODINGS if self.found.encodings is None or one in self.found.encodings]
        first = [] if self.stated is None else [self.stated]
        for subscription in of_target(self.target.telemetry, self.endpoint):
            own = [encoding_number(subscription.encoding)] if subscription.encoding else encodings or [JSON_IETF]
            path = await self._path(client, subscription, [*first, *own])
            path = replace(path, needed=not subscription.optional and self.needed(self.target, subscription))
            self.found = replace(self.found, paths=(*self.found.paths, path))

    async def _capabilities(self, client: GnmiClient) -> None:
        """Some targets do not implement them, or not for every user: the paths show what matters."""
        try:
            answer = await client.capabilities()
        except CallFailed:
            return
        self.found = replace(self.found, version=answer.version, encodings=answer.encodings, logged_in=True)

    async def _path(
        self, client: GnmiClient, subscription: TelemetrySubscription, encodings: Sequence[int]
    ) -> PathCheck:
        """Ask for a path in the first of these encodings that is not refused."""
        path = f"{subscription.origin}:{subscription.path}" if subscription.origin else subscription.path
        refused = ""
        for encoding in encodings:
            try:
                found = await client.snapshot([path], encoding, subscription.target)
                return replace(self._read(subscription, found), encoding=encoding)
            except Unimplemented as error:  # of the encoding, perhaps
                refused = error.details or error.problem
            except (CallFailed, StreamClosed) as error:
                if type(error) is Refused and encoding == self.stated and encoding != encodings[-1]:  # likewise
                    continue
                self.found = replace(self.found, logged_in=True)
                return PathCheck(subscription, error=getattr(error, "details", "") or error.problem)
        return PathCheck(subscription, error=refused)

    def _read(self, subscription: TelemetrySubscription, notifications: Sequence[messages.Notification]) -> PathCheck:
        now_ns = time.time_ns()
        leaves = unmapped = 0
        for notification in notifications:
            decoded = self.decoder.decode(notification)
            leaves += decoded.updates
            unmapped += sum(decoded.unmapped.values())
        stamps = [stamp for one in notifications if (stamp := normalised_ns(one.timestamp)) is not None]
        skews = [(stamp - now_ns) / NS_PER_S for stamp in stamps]
        known = [self.found.skew_s] if self.found.skew_s is not None else []
        self.found = replace(self.found, logged_in=True, skew_s=max((*skews, *known), default=None))
        return PathCheck(subscription, leaves, unmapped)
