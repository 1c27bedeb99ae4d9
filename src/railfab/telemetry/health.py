"""State and counters of the collector's work for one target, exposed for every target, also for one that is down."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum

from railfab.telemetry.resets import Reset
from railfab.units import NS_PER_S

MOST_ROOTS = 64
OTHER_ROOTS = "/..."
SKEW_WINDOW_S = 30.0
"""The clock of a target is judged by the sample with the least delay of the last one to two windows."""


STEP_S = 2.0
"""A time stamp that is so much later than the time since the last one explains is a clock that was set, or another
source of time stamps, and no backlog [s]."""
DRIFT = 1e-3
"""Growth of the delay that is taken for the drift of a clock (crystals: up to 1e-4)."""


class Stream(StrEnum):
    """The subscriptions of a target; the label `subscription`."""

    SAMPLE = "sample"
    ON_CHANGE = "on_change"


class SessionState(IntEnum):
    """The state of a target's session; the value of fabric_collector_session_state. IDLE: not dialed yet."""

    IDLE = 0
    CONNECTING = 1
    SYNCING = 2
    UP = 3
    RETRYING = 4
    REFUSED = 5


class Reason(StrEnum):
    """Why a session ended, or a subscription is silent; the label `reason` of fabric_collector_errors_total."""

    NO_ENDPOINT = "no_endpoint"
    UNREACHABLE = "unreachable"
    LOGIN_REFUSED = "login_refused"
    TLS = "tls"
    PROTOCOL = "protocol"
    UNIMPLEMENTED = "unimplemented"
    STALLED = "stalled"
    LAGGING = "lagging"
    CLOSED = "closed"
    UNREAD = "unread"
    DEFECT = "defect"


class Drop(StrEnum):
    """Reason why an update was not stored; the label `reason` of fabric_collector_dropped_updates_total."""

    UNDECODABLE = "undecodable"
    OUT_OF_ORDER = "out_of_order"
    SERIES_LIMIT = "series_limit"


@dataclass(slots=True)
class Backlog:
    """How much later than at best the samples of an RPC arrive, by the growth of their delay alone: the clocks of both
    ends need not agree. late_s: now [s].

    A target that sends more slowly than it samples has time stamps that advance more slowly than our clock. A clock
    that was set, and a loop that was late, change the delay at once; a stamp that does not advance says nothing.
    """

    late_s: float = 0.0
    _last: tuple[int, float, float] | None = None

    def arrived(self, stamp_ns: int, lag_s: float, now_s: float) -> None:
        """A sample with this time stamp arrived so long after it. now_s: of the clock that stands while we are late."""
        last_ns, before_s, seen_s = self._last or (stamp_ns, lag_s, now_s)
        if last_ns - STEP_S * NS_PER_S <= stamp_ns <= last_ns and self._last:
            return
        self._last = stamp_ns, lag_s, now_s
        grown_s, passed_s = lag_s - before_s, now_s - seen_s
        if stamp_ns > last_ns and grown_s <= passed_s + STEP_S:
            self.late_s = max(0.0, self.late_s + grown_s - DRIFT * passed_s)


@dataclass(slots=True)
class Health:
    """Counters of one target. last_update_s: Unix time of the last sampled update, 0 before the first. was_up: whether
    the session was up since it last ended. last_error: why it ended the last time. clock_skew_s: how far the clock of
    the target is ahead of ours. skewed: notifications whose time stamp was not used. resets: counters that went back.
    held_back_s: how long the target may have waited to be read [s]. backlogs: by RPC, of the present session.
    """

    tls_verified: bool
    state: SessionState = SessionState.IDLE
    was_up: bool = False
    last_error: str = ""
    last_update_s: float = 0.0
    ingest_lag_s: float = 0.0
    clock_skew_s: float = 0.0
    skewed: int = 0
    held_back_s: float = 0.0
    backlogs: dict[int, Backlog] = field(default_factory=dict)
    reconnects: int = 0
    updates: Counter[Stream] = field(default_factory=lambda: Counter(dict.fromkeys(Stream, 0)))
    errors: Counter[Reason] = field(default_factory=lambda: Counter(dict.fromkeys(Reason, 0)))
    drops: Counter[Drop] = field(default_factory=lambda: Counter(dict.fromkeys(Drop, 0)))
    unmapped: Counter[str] = field(default_factory=Counter)
    resets: Counter[Reset] = field(default_factory=lambda: Counter(dict.fromkeys(Reset, 0)))
    _skews: tuple[float, float, float] = (-1.0, 0.0, 0.0)

    @property
    def backlog_s(self) -> float:
        """How late the samples of its latest RPC are. Any thread."""
        return max((one.late_s for one in tuple(self.backlogs.values())), default=0.0)

    def delayed(self, stamp_ns: int, lag_s: float, now_s: float, rpc: int = 0) -> None:
        """A sample arrived so long after its time stamp; before it, where that is negative."""
        self.backlogs.setdefault(rpc, Backlog()).arrived(stamp_ns, lag_s, now_s)
        window, least_s, before_s = self._skews
        number = now_s // SKEW_WINDOW_S
        if number != window:
            before_s, least_s = least_s if number == window + 1 else lag_s, lag_s
        least_s = min(least_s, lag_s)
        self._skews = number, least_s, before_s
        self.ingest_lag_s, self.clock_skew_s = lag_s, -min(least_s, before_s)

    def count_unmapped(self, roots: Counter[str]) -> None:
        """Count leaves without a rule by path root; beyond MOST_ROOTS roots of a target they share one label."""
        for root, count in roots.items():
            known = root in self.unmapped or len(self.unmapped) < MOST_ROOTS
            self.unmapped[root if known else OTHER_ROOTS] += count
